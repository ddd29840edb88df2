"""Why something could not be made, in one line."""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from engine.errors import FULL, LectureError, from_os_error, one_line
from render.base.process import share_out

Job = TypeVar("Job")
Done = TypeVar("Done")


@dataclass(frozen=True, slots=True)
class Failure:
    """Why something was not made: one line; ``mistake``: in the input, not in the code;
    ``details``: more lines."""

    line: str
    mistake: bool
    details: tuple[str, ...] = ()

    @classmethod
    def of(cls, error: BaseException, about: str = "") -> Failure:
        """An exception in one line that begins with what it is ``about``. What is not the user's
        mistake gets the line of code it comes from."""
        begun = f"{about}: " if about else ""
        if isinstance(error, OSError) and error.errno in FULL:
            error = from_os_error(error, error.filename or "the disk")
        if isinstance(error, LectureError):
            details = tuple(getattr(error, "details", ()))
            return cls(f"{begun}{error}", mistake=True, details=details)
        line = f"{begun}{type(error).__name__}: {error}"
        frames = traceback.extract_tb(error.__traceback__)
        if frames:
            line += f" ({frames[-1].filename}:{frames[-1].lineno})"
        return cls(one_line(line), mistake=False)


def attempt(work: Callable[[Job], Done], job: Job) -> Done | Failure:
    """``work`` on a job; a failure is returned, so that others continue."""
    try:
        return work(job)
    except Exception as error:
        return Failure.of(error)


def attempts(
    work: Callable[[Job], Done], jobs: Sequence[Job], processes: int
) -> Iterator[tuple[Job, Done | Failure]]:
    """The same on each job, ``processes`` at a time; in order, with the jobs."""
    return zip(jobs, share_out(partial(attempt, work), jobs, processes), strict=True)


def need(module: str, extra: str, wanted_by: str) -> Any:
    """The module ``module`` of the extra ``extra`` (``pyproject.toml``), which the option or
    command ``wanted_by`` needs. Raises LectureError with the command that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise LectureError(
            where=wanted_by,
            expected=f"more packages (type: ./render.sh install {extra})",
            found=f"no {error.name or module}",
        ) from error
