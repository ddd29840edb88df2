"""Where the project and its data lie."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ASSETS = ROOT / "assets"


def font_file() -> Path:
    """The lecture's font, as ``scenes/fonts.py`` has it, without importing what reads fonts."""
    spec = importlib.util.find_spec("manimgx_fonts_cjk")
    folder = Path(spec.origin).parent if spec and spec.origin else Path("/none")
    return folder / "NotoSansCJK-VF.otf.ttc"
