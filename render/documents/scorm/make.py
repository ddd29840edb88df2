"""From an order whose videos are there to its SCORM package."""

from __future__ import annotations

from pathlib import Path

from render.base.aside import folder_aside
from render.build.order import Order
from render.build.wanted import Wanted
from render.documents.scorm import package
from render.media.sidefiles import SideFiles
from render.platforms.pieces import item


def make(wanted: Wanted, order: Order, target: Path, title: str) -> Path:
    """Write the page of an order, then pack it. Raises LectureError where that cannot be."""
    from render.cli.page import of_order

    film = SideFiles(order.out / order.film_name)
    named = title or film.read_about()[order.language]["title"]
    with folder_aside(order.out / "publish" / "page") as folder:  # where videos take no room
        page = of_order(order, wanted.wish).write(folder / "page")
        return package.write(
            page,
            target,
            item=item(order, wanted.own(order)),
            title=named,
            scenes=sum(scene.number > 0 for scene in order.everything),
        )
