"""From an order whose videos are there to its SCORM package."""

from __future__ import annotations

from pathlib import Path

from render.base.files import staging_folder
from render.build.order import Order
from render.build.wanted import Wanted
from render.documents.scorm import package
from render.media.sidecars import SideFiles
from render.platforms.folder import item_name


def make(wanted: Wanted, order: Order, target: Path, title: str) -> Path:
    """Write the page of an order, then pack it. Raises LectureError where that cannot be."""
    from render.cli.page import of_order

    film = SideFiles(order.out / order.film_name)
    named = title or film.read_about()[order.language]["title"]
    with staging_folder(order.out / "publish" / "page") as folder:  # where videos take no room
        page = of_order(order, wanted.wish).write(folder / "page")
        return package.write(
            page,
            target,
            item=item_name(
                order.settings.track, order.language, [*filter(None, [wanted.own(order)])]
            ),
            title=named,
            scenes=sum(scene.number > 0 for scene in order.everything),
        )
