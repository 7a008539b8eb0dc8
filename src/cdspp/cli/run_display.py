"""The output of a run of a study: its plan, progress, failures, and its result.

The events of Snakemake are read in its own process, by the logger plug-in, or in that
of `cdspp run`.
"""

import os
import re
import shlex
import shutil
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import TextWrapper, wrap
from typing import Any

from cdspp.core.errors import OFFLINE, DataError, writing_fault
from cdspp.core.screen import PrintableStream, printable_stream
from cdspp.core.snakemake_internals import FOLDER
from cdspp.core.wording import counted, duration, shortened
from cdspp.study.time_left import TimeLeft, wall_seconds

WIDTH = 100  # columns of a line
IDLE = "Nothing to be done"
PAUSE = 0.2  # seconds between updates of the line
FIRST_LEFT = 10.0  # seconds before the line shows the time left
# Without a terminal, a line after so many percent and seconds, or after longer.
PLAIN_STEP, PLAIN_PAUSE, LONGEST_PAUSE = 10, 15.0, 600.0
MOST_LINES = 30  # lines that explain a failure
FIXED = "\N{NO-BREAK SPACE}"
LAST_LINES = 5  # of the log of a failed job
# Rules of one kind are counted together, as fit_digits_cdspp and fit_digits_svm_t.
KINDS = ("fit", "predictions", "tables_and_figures")
CONTENT = re.compile(r"[A-Z][a-z ]+ of ")  # what opens the messages of these
REASONS = {"Forced execution": "outdated"}  # in the words of the sentences above
TRACEBACK = '  File "'  # a location in the workflow, named in the first line
OWN_ERROR = re.compile(r"WorkflowError( in .*)?:$")  # our message follows
NOISE = ("Assuming unrestricted", "Building DAG")  # of Snakemake, before it starts
STOPPING = ("Terminating processes on user request", "Will exit after finishing")
BUSY = "Wait until it ends (cdspp status shows its progress), or use another folder."


class RunDisplay:
    """The output of a run: one line on a terminal, else an occasional line."""

    def __init__(self) -> None:
        self.done = self.total = 0
        self.time_left = TimeLeft({})
        self.began = self.shown = time.monotonic()
        self.shown_percent = 0.0
        self.started = self.dry = self.interrupted = self.working = False
        self.study = self.log = self.lock_note = ""
        self.files: list[str] = []  # of the study
        self.stats: dict[str, int] = {}  # jobs by rule, and their total
        self.reasons: dict[str, Counter[str]] = defaultdict(Counter)
        self.messages: dict[str, str] = {}
        self.failed_logs: dict[str, list[str]] = {}
        self.group_logs: list[str] = []  # of a cluster, for the jobs of a group
        self.errors: list[str] = []
        is_dumb = os.environ.get("TERM") == "dumb"
        self.in_place = self.screen.isatty() and not is_dumb

    @property
    def screen(self) -> PrintableStream:
        """The stream for progress and failures."""
        return printable_stream(sys.stderr)

    def read(self, event: Mapping[str, Any]) -> None:
        """Read an event of Snakemake; print what the user needs to know of it."""
        match event.get("event"), event["level"]:
            case "study", _:
                self.study, self.files = event["study"], event.get("files", [])
            case "run_lock", _:  # printed once it is known whether the run stops there
                self.lock_note = event["message"]
            case "workflow_started", _:
                self.started, self.dry = True, event["dryrun"]
            case "run_info", _:
                self._print_lock_note()
                self.began = self.shown = time.monotonic()
                self.stats, self.total = event["stats"], event["stats"]["total"]
            case "forecast", _:
                seconds = {str(job): each for job, each in event["jobs"].items()}
                self.time_left = TimeLeft(seconds, local=event["local"])
                self.print("\n".join(self._plan(seconds.values(), event.get("cores"))))
            case "progress", _:
                self.done = event["done"]  # its total has jobs that --until excludes
                if self.done == self.total:  # failed jobs succeeded on a retry
                    self.errors.clear()
            case "job_info", _:
                rule, message = event["rule_name"], event["rule_msg"] or ""
                # Files and parameters follow a colon, and further reasons follow them.
                reason = event["reason"].partition(":")[0]
                self.reasons[rule].update([REASONS.get(reason, reason)])
                self.messages[rule] = message.partition(":")[0]
            case (("job_started" | "job_finished" | "job_error"), _):
                self._read_job(event)
            case "group_error", _:
                self.group_logs = [*event["aux_logs"]]
            case _, "ERROR":
                self._read_error(event)
            case None, _:
                self._read_message(event["level"], event["message"])

    def _read_job(self, event: Mapping[str, Any]) -> None:
        self.working = True
        match event["event"]:
            case "job_started":
                for job in event["jobs"]:
                    self.time_left.start(str(job), time.monotonic())
            case "job_finished":
                self.time_left.end(str(event["job_id"]))
            case _:
                self.time_left.end(str(event["jobid"]), failed=True)
                if event["log"]:
                    of_group = self.group_logs if event.get("indent") else []
                    self.failed_logs[event["log"][0]] = [*event["log"], *of_group]
                if not self.interrupted:
                    self.print(_failure(event))

    def _read_error(self, event: Mapping[str, Any]) -> None:
        note = self.lock_note
        if event.get("exception") == "LockException" and note:
            # The note of a run on another machine says what to do.
            self.errors = [note if "--unlock" in note else f"{note} {BUSY}"]
            self.lock_note = ""
            return
        for line in event["message"].splitlines():
            if line and TRACEBACK not in line and not OWN_ERROR.match(line):
                self.errors.append(line)

    def _read_message(self, level: str, message: str) -> None:
        if message.startswith(STOPPING):
            if not self.interrupted:
                self.print(message)
            self.interrupted = True
        elif message.startswith("Trying to restart"):
            self.print("The failed job is repeated.")
        elif message.startswith("Complete log"):
            self.log = os.path.relpath(message.partition(": ")[2])
        elif level == "WARNING":
            if not self.working:
                self.print(message)
        elif level == "INFO" and not self.started and not message.startswith(NOISE):
            self.print(message)

    def __str__(self) -> str:
        """Return the share of the forecast that is done, counts, and the time left."""
        now = time.monotonic()
        seconds = now - self.began
        if not self.total:
            return f"reading the study, {duration(seconds)}"
        text = f"{self.done} of {self.total} jobs, {duration(seconds)}"
        if self.done == self.total:
            return text
        share = self.time_left.share(now)
        if share is not None:
            text = f"{100 * share:.0f} % of the forecast, {text}"
        left = self.time_left.seconds(seconds, now) if seconds >= FIRST_LEFT else None
        return text if left is None else f"{text}, about {duration(left)} left"

    def show(self) -> None:
        """Print the line; without a terminal, only once in a while."""
        if self.in_place and not (self.dry and self.total):
            columns = shutil.get_terminal_size().columns
            self.screen.redraw(str(self)[: columns - 1])
        elif self._is_due() and not self.dry:
            self.screen.write(f"{self}\n")
        self.screen.flush()

    def _is_due(self) -> bool:
        """Return whether a line is due without a terminal, and note that it was."""
        now = time.monotonic()
        passed, step = now - self.shown, 0.0
        if self.total:
            share = self.time_left.share(now)
            step = 100 * (self.done / self.total if share is None else share)
            step -= self.shown_percent
        due = passed >= LONGEST_PAUSE or (passed >= PLAIN_PAUSE and step >= PLAIN_STEP)
        if due:
            self.shown, self.shown_percent = now, self.shown_percent + step
        return due

    def print(self, text: str) -> None:
        """Print a text in place of the line."""
        if text:
            self.clear()
            self.screen.write(f"{folded(text)}\n")
            self.screen.flush()

    def clear(self) -> None:
        """Remove the line, so that others can be printed."""
        if self.in_place:
            self.screen.redraw("")

    def _print_lock_note(self) -> None:
        self.print(self.lock_note)
        self.lock_note = ""

    def _plan(self, seconds: Iterable[float], cores: int | None) -> Iterator[str]:
        """Yield the number of jobs, their forecast, and the jobs of each kind."""
        jobs = [*seconds]
        text = f"{counted(self.total, 'job')}, forecast {duration(sum(jobs))}"
        if cores and cores > 1:
            wall = duration(wall_seconds(jobs, cores))
            text += f" of processor time, about {wall} on {cores} cores"
        yield f"{self.study}: {text}" if self.study else text
        counts = Counter[str]()
        for rule, number in self.stats.items():
            counts[_kind(rule)] += number if rule not in ("all", "total") else 0
        kinds = (f"{kind}{FIXED}{n}" for kind, n in counts.items() if n)
        yield folded(f"  {', '.join(kinds)}").replace(FIXED, " ")

    def end(self) -> None:
        """Print how the run ended, as its events tell: on failure to stderr."""
        self.clear()
        self._print_lock_note()
        if self.errors or (self.interrupted and self.done < self.total):
            self.screen.write(f"{self.failure()}\n")
            self.screen.flush()
        elif text := self.result():
            output = printable_stream(sys.stdout)
            output.write(f"{text}\n")
            output.flush()

    def result(self) -> str:
        """Return what a run has made, or a dry run would; empty if there was no run."""
        if not self.started:
            return ""
        where = f" Whole log: {self.log}" if self.log else ""
        if self.dry:
            table = [*self._job_table(), ""] if self.total else [f"{IDLE}."]
            return "\n".join([*table, f"Nothing was run.{where}"])
        text = f"{self if self.total else IDLE}.{where}"
        folder = Path("results", self.study)
        if self.study and (folder / "report/index.html").is_file():
            from cdspp.report.page.headline import headline

            try:
                return f"{folded(text)}\n\n{folded(headline(folder))}"
            except DataError as fault:  # tables were removed
                return folded(f"{text}\n{fault}")
        failed = self.failed_fits()
        return folded(f"{failed} {text}" if failed else text)

    def failed_fits(self) -> str:
        """Return a sentence on the failed fits of the study; empty if none failed."""
        from cdspp.analysis.fit_records import failures_of_scores

        scores = Path("results", self.study, "scores").glob("[!.]*.parquet")
        return failures_of_scores(scores) if self.study else ""

    def failure(self, text: str = "") -> str:
        """Return why a run stopped; without events, by the end of Snakemake's text."""
        where = [f"Whole log: {self.log}"] if self.log else []
        after = f"after {self.done} of {self.total} jobs"
        if self.interrupted:
            lines = [f"Interrupted {after}. The same command resumes it."]
        elif self.total and not self.dry:
            lines = [f"Stopped {after}:", *(f"  {r}" for r in self._reasons(text))]
        else:
            first, *others = [*self._reasons(text), ""]
            lines = [f"error: {first}", *filter(None, others)]
        return folded("\n".join([*lines, *where]))

    def _reasons(self, text: str) -> Iterator[str]:
        """Yield the errors of the jobs of a failed run, or else those of Snakemake."""
        from cdspp.study.progress import DONE, read_log

        folders = filter(os.path.isdir, ("logs", FOLDER))
        disk_fault = next(filter(None, map(writing_fault, folders)), "")
        jobs = {read_log(path): logs for path, logs in self.failed_logs.items()}
        failed = {job: logs for job, logs in jobs.items() if job.state != DONE}
        if offline := [job for job in failed if OFFLINE in job.reason]:
            yield self._offline([job.path for job in offline])
        for job, logs in failed.items():  # other failed jobs succeeded on a retry
            if job in offline:
                continue
            reason = job.reason or disk_fault or "stopped before the end"
            yield f"{reason} ({', '.join(logs)})"
        if not failed:
            lines = self.errors or [n for n in text.splitlines() if TRACEBACK not in n]
            yield from filter(None, [*lines[-MOST_LINES:], disk_fault])

    def _offline(self, logs: Sequence[str]) -> str:
        """Say once how to go on without a network, in place of each download."""
        names = ["/".join(Path(log).with_suffix("").parts[-2:]) for log in logs]
        what = f"{counted(len(logs), 'download')} ({shortened(names)})"
        listing = shlex.join(["cdspp", "fetch", "--list", *(self.files or ["STUDY"])])
        return f"{OFFLINE} for {what}. What to put where: {listing}"

    def _job_table(self) -> Iterator[str]:
        """Yield a table of the jobs that a run would execute, by kind, with reasons."""
        kinds: dict[str, list[str]] = defaultdict(list)
        for rule in self.stats:
            kinds[_kind(rule)].append(rule)
        width = max(map(len, kinds))
        yield f"{'rule':{width}}{'jobs':>7}  reason"
        for kind, rules in kinds.items():
            number = sum(self.stats[rule] for rule in rules)
            reasons = sum((self.reasons[rule] for rule in rules), Counter[str]())
            causes = (f"{r} ({n})" if n < number else r for r, n in reasons.items())
            yield folded(f"{kind:{width}}{number:7}  {', '.join(causes)}".rstrip())
            if kind != "fit":  # of which the reasons name the methods
                yield from _contents([self.messages.get(rule, "") for rule in rules])


def folded(text: str) -> str:
    """Return a text with its sentences in lines of at most `WIDTH` columns.

    Wide rows of tables and long words, such as paths, stay whole.
    """
    lines = []
    for line in text.splitlines():
        content = line.lstrip()
        indent = " " * (len(line) - len(content) + 2)
        is_row = len(re.findall(r"\S {2,}", content)) > 1
        row, _, remark = line.rstrip().rpartition("  ")
        if len(line) <= WIDTH or (is_row and len(row) > WIDTH):
            lines.append(line)
        elif is_row:  # its last cell moves to the next line
            lines += [row.rstrip(), f"{indent}  {remark}"]
        else:
            lines += TextWrapper(
                WIDTH,
                subsequent_indent=indent,
                break_long_words=False,
                break_on_hyphens=False,
            ).wrap(line)
    return "\n".join(lines)


def _kind(rule: str) -> str:
    return next((kind for kind in KINDS if rule.startswith(f"{kind}_")), rule)


def _contents(messages: Iterable[str]) -> list[str]:
    """Return the methods or benchmarks of a kind of jobs in a few lines."""
    names, head = dict[str, None](), ""
    for message in messages:
        if found := CONTENT.match(message):
            head = found[0]
        names |= dict.fromkeys(filter(None, message.removeprefix(head).split(", ")))
    text = f"  {head}{', '.join(names)}".rstrip()
    return wrap(
        text,
        WIDTH,
        subsequent_indent="  ",
        break_on_hyphens=False,
        max_lines=3,
        placeholder=" ...",
    )


def _failure(event: Mapping[str, Any]) -> str:
    """Return what is known of a job that failed, with the end of its log."""
    from cdspp.study.progress import DONE, FAILED, MISSING, read_log

    rule, path = event["rule_name"], event["log"][0] if event["log"] else ""
    log = read_log(path) if path else None
    # A failed group reports all its jobs.
    in_group = event.get("indent") and log is not None and log.state == MISSING
    is_interrupted = log is not None and log.reason == KeyboardInterrupt.__name__
    if in_group or is_interrupted or (log is not None and log.state == DONE):
        return ""
    if log is None or log.state == MISSING:
        return f"Failed: {rule}, without a log."
    if log.state == FAILED and OFFLINE in log.reason:
        return ""  # told at the end, once for all
    if log.state == FAILED:
        return f"Failed: {rule}: {log.reason} ({path})"
    text = Path(path).read_text(encoding="utf-8", errors="replace")
    last = [f"  {line[: WIDTH - 2]}" for line in text.splitlines()[-LAST_LINES:]]
    head = f"The end of {path}:" if last else f"{path} is empty."
    return "\n".join([f"Failed: {rule}. {head}", *last])
