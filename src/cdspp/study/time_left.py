"""The wall time of a run, and what is left of it, from the duration of its jobs."""

from collections.abc import Collection, Mapping


def wall_seconds(jobs: Collection[float], cores: int) -> float:
    """Return the least wall time of jobs of some seconds, each on one core."""
    return max([sum(jobs) / cores, *jobs])


class TimeLeft:
    """The time left of a run, if it goes on at its speed so far.

    `jobs` maps each job to its expected seconds. A running job counts by its time, at
    most the expected one. On a cluster (not `local`), waiting jobs cannot be told from
    running ones, so only finished jobs count.
    """

    def __init__(self, jobs: Mapping[str, float], *, local: bool = True) -> None:
        self._jobs, self._local = jobs, local
        self._starts: dict[str, float] = {}
        self._finished: set[str] = set()

    def start(self, job: str, now: float) -> None:
        """Record the start of a job, possibly a second one."""
        self._starts[job] = now

    def end(self, job: str, *, failed: bool = False) -> None:
        """Record the end of a job; a failed one may start again."""
        self._starts.pop(job, None)
        if not failed:
            self._finished.add(job)

    def share(self, now: float) -> float | None:
        """Return the share of the expected seconds that is done, None if unknown."""
        expected = sum(self._jobs.values())
        return self._seconds_done(now) / expected if expected else None

    def seconds(self, passed: float, now: float) -> float | None:
        """Return the seconds left after those that passed, None if unknown."""
        done = self._seconds_done(now)
        left = sum(self._jobs.values()) - done
        return passed * left / done if done else None

    def _seconds_done(self, now: float) -> float:
        done = sum(self._jobs.get(job, 0.0) for job in self._finished)
        for job, start in self._starts.items() if self._local else ():
            done += min(self._jobs.get(job, 0.0), now - start)
        return done
