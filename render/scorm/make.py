"""From an order whose videos are there to its SCORM package."""

from __future__ import annotations

from pathlib import Path

from render.order import Order
from render.publish.aside import folder_aside
from render.publish.pieces import item
from render.publish.wanted import Wanted
from render.scorm import package
from render.sidefiles import SideFiles


def make(wanted: Wanted, order: Order, target: Path, title: str) -> Path:
    """Write the page of an order, then pack it. Raises LectureError where that cannot be."""
    from render.page.command import of_order

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
