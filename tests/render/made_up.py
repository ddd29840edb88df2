"""A lecture that is up to date although nobody has drawn it: records and files made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from render.base.files import write_state
from render.base.project import font_file
from render.base.reads import Made, Reads, Stamp
from render.build.job import BuildOptions, jobs_of
from render.build.product import Product, content_of, key_of
from render.build.run import Run
from scenes import texts


def made_up(out: Path, track: str = "full") -> int:
    """Records and files as if everything had just been made; how many products there are."""
    (job,) = jobs_of(BuildOptions(out=out, quality="draft", track=track))
    plan = Run([job]).plan
    while steps := plan.ready():
        for step in steps:
            plan.begin(step)
            plan.done(step, record(step.product, plan.now.before(step.product) or ()))
    return len(plan.steps)


def record(product: Product, before: tuple[Any, ...]) -> Made:
    paths = {**product.carriers, **product.targets}
    for role, path in paths.items():
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(role)
    reads = Reads(product.settings)
    if product.kind == "pictures" and product.scene:
        names = [*reads.passes.trace("training")]
        for name in names[product.scene.number * 5 :][:15]:
            reads.value("training", name)
        for key in texts.load("zh").get(product.scene.slug, {}):
            reads.text("zh", product.scene.slug, key)
        reads.uses(font_file())
    files = {role: Stamp.of(path) for role, path in paths.items()}
    facts = {"frames": 700, "fps": 15, "beats": [], "cues": []}
    inputs = (*before, *reads.inputs())
    content = content_of(facts, files, product.aside)
    named = {role: str(path) for role, path in paths.items()}
    made = Made(key_of(product.kind, inputs), inputs, files, content, facts, named)
    product.record.parent.mkdir(parents=True, exist_ok=True)
    write_state(product.record, made.to_json())
    return made
