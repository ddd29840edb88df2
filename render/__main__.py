"""``python -m render``: what ``render.sh`` runs once the environment stands."""

from render.cli.app import main

if __name__ == "__main__":
    main()
