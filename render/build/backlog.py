"""Jobs that wait, the longest first; of jobs that may turn out to be the same, one goes ahead."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass

from render.build.task import Task


@dataclass(frozen=True)
class Job:
    """A task, how many frames it is thought to have, and how long each takes beside others.

    ``kind``: jobs of a kind differ only in their weights, so that they may yield the same video.
    """

    task: Task
    expected_frames: int
    weight: float = 1.0
    kind: str = ""

    @property
    def work(self) -> float:
        return self.expected_frames * self.weight


class Backlog:
    """While the first job of a kind is being done, jobs of other kinds are preferred: what it
    yields may do for the others, too."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        self._waiting: dict[str, deque[Job]] = defaultdict(deque)
        for job in sorted(jobs, key=lambda job: -job.work):
            self._waiting[job.kind or job.task.folder].append(job)
        self._begun: set[str] = set()  # kinds of which a job was taken, and
        self._known: set[str] = set()  # of which one has ended

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def take(self) -> Job:
        """The next job. Raises LookupError where there is none."""
        if not self._waiting:
            raise LookupError("no job is waiting")
        kind = max(self._waiting, key=self._urgency)
        self._begun.add(kind)
        job = self._waiting[kind].popleft()
        if not self._waiting[kind]:
            del self._waiting[kind]
        return job

    def ended(self, job: Job) -> None:
        """A job that was taken is over."""
        self._known.add(job.kind or job.task.folder)

    def put_back(self, job: Job) -> None:
        """A job that was taken is to be done again, before others of its kind."""
        self._waiting[job.kind or job.task.folder].appendleft(job)

    def _urgency(self, kind: str) -> tuple[bool, float]:
        ahead = kind in self._begun and kind not in self._known
        return not ahead, self._waiting[kind][0].work
