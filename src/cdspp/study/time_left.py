"""The time left of a run, from the expected duration of its jobs."""

from collections import defaultdict
from collections.abc import Mapping


class TimeLeft:
    """The time left of a run, by the kind and the expected seconds of its jobs.

    If jobs of a kind, fits or tables, took longer than expected, the other jobs of that
    kind are expected to take longer, too. On a cluster (not `local`), waiting jobs
    cannot be told from running ones, so only finished jobs count.
    """

    def __init__(
        self, jobs: Mapping[str, tuple[str, float]], *, local: bool = True
    ) -> None:
        self._jobs, self._local = jobs, local
        self._began: dict[str, float] = {}
        self._took: dict[str, float] = {}

    def start(self, job: str, now: float) -> None:
        """Record the start of a job, possibly a second one."""
        self._began[job] = now

    def end(self, job: str, now: float, *, failed: bool = False) -> None:
        """Record the end of a job; a failed one may start again."""
        began = self._began.pop(job, now)
        if job in self._jobs and not failed:
            self._took[job] = now - began

    def seconds(self, passed: float, now: float) -> float | None:
        """Return the seconds left after those that passed, None if unknown."""
        running = {
            job: now - began
            for job, began in self._began.items()
            if self._local and job in self._jobs
        }
        busy = {**self._took, **running}
        taken, expected = defaultdict[str, float](float), defaultdict[str, float](float)
        for job, seconds in busy.items():
            kind, whole = self._jobs[job]
            taken[kind] += seconds
            expected[kind] += whole if job in self._took else min(whole, seconds)
        left = 0.0
        for job in self._jobs.keys() - self._took.keys():
            kind, whole = self._jobs[job]
            slowdown = taken[kind] / expected[kind] if expected[kind] else 1.0
            left += max(slowdown * whole - running.get(job, 0.0), 0.0)
        # Assumes as many concurrent jobs as so far.
        return passed * left / total if (total := sum(busy.values())) else None
