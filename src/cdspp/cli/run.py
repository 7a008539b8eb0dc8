"""The command `cdspp run`: a study from its file to its report, by Snakemake."""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from cdspp.cli import command
from cdspp.cli.study import read_layers
from cdspp.core.faults import writing_fault
from cdspp.core.run_lock import KEEP_FITS
from cdspp.core.wording import duration
from cdspp.study.files import found_file, workflow_folder

HELP = """\
Calls Snakemake, which writes data, results and logs here. Without a study file it runs
the embedded study. After an interruption the same command resumes it; after a change it
repeats only the jobs that the change affects, fits for a change of code alone only with
--remake. Words after -- go to Snakemake.

examples:
  cdspp run mine.yaml --cores 8
  cdspp run mine.yaml -- --dry-run
  cdspp run mine.yaml -- --config trials=2 --workflow-profile my-cluster
"""
# pip dates files by the installation, and digests of the code are among the parameters,
# so that the age of a script does not matter.
TRIGGERS = ("mtime", "params", "input", "software-env")
# Lines of Snakemake about itself, before those about the study.
CHATTER = ("Using workflow specific profile", "Config file ", "Assuming unrestricted")
OPENED = "Building DAG of jobs..."
IDLE = "Nothing to be done"
STEPS = re.compile(r"(\d+) of (\d+) steps \(")
TOTAL = re.compile(r"total +(\d+)$")
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
FAULT = re.compile(r"^\w*(?:Error|Exception)\b", re.M)
FAILED_LOG = re.compile(r"^ +log: (\S+) \(check log file", re.M)
FRAME = '  File "'  # a place in the workflow, which the first line names
ENOUGH = 3  # jobs after which the line has the time left
PAUSE, APART = 0.2, 60.0  # seconds between looks at the log, and between plain lines
SHOWN = 15  # lines that explain a failure


class Meter:
    """The progress of a run, in one line on a terminal, else in a line now and then."""

    def __init__(self) -> None:
        self.done = self.total = 0
        self.began = self.shown = time.monotonic()
        self.opening, self.interrupted = True, False
        self.in_place = sys.stderr.isatty()

    def read(self, line: str) -> None:
        """Read a line of the log; print it if it is a note on the study."""
        if found := STEPS.match(line):
            self.done, self.total = map(int, found.groups())
        elif found := TOTAL.match(line):
            self.total, self.began = int(found[1]), time.monotonic()
        elif line == OPENED or FAULT.match(line):
            self.opening = False
        elif self.opening and line and not line.startswith(CHATTER):
            self.clear()
            sys.stderr.write(f"{line}\n")

    def __str__(self) -> str:
        """Write counts, seconds and what is left, as if all jobs were alike."""
        passed = time.monotonic() - self.began
        jobs = f"{self.done} of {self.total} jobs"
        what = jobs if self.total else "reading the study"
        left = (self.total - self.done) * passed / max(self.done, 1)
        ending = f", about {duration(left)} left" * (ENOUGH <= self.done < self.total)
        return f"{what}, {duration(passed)}{ending}"

    def show(self) -> None:
        """Print the line; once in a while where it cannot be replaced."""
        if self.in_place:
            sys.stderr.write(f"\r{self}\x1b[K")
        elif time.monotonic() - self.shown >= APART:
            self.shown = time.monotonic()
            sys.stderr.write(f"{self}\n")
        sys.stderr.flush()

    def clear(self) -> None:
        """Remove the line, so that others can be printed."""
        if self.in_place:
            sys.stderr.write("\r\x1b[K")


def split_rest(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the words of a command line for `cdspp`, and those for Snakemake."""
    words = list(words)
    if words[:1] != ["run"] or "--" not in words:
        return words, []
    place = words.index("--")
    return words[:place], words[place + 1 :]


def _run(arguments: argparse.Namespace) -> str:
    command.need_package("snakemake", "cdspp run", command.STUDY_EXTRA)
    folder = Path("results", _study_name(arguments))
    # Two studies may begin in the same second.
    log = Path("logs", time.strftime(f"run-%Y%m%d-%H%M%S-{os.getpid()}.log"))
    log.parent.mkdir(exist_ok=True)
    meter = Meter()
    code = _follow(_command(arguments), log, meter, remake=arguments.remake)
    meter.clear()
    text = log.read_text(encoding="utf-8", errors="replace")
    where = f"Whole log: {log}"
    if code:
        done = f"after {meter.done} of {meter.total} jobs"
        if meter.interrupted:
            lines = [f"Interrupted {done}. The same command resumes it.", where]
        else:
            lines = [f"Stopped {done}:", *_reasons(text), where]
        sys.stderr.write("\n".join(lines) + "\n")
        sys.exit(code)
    if not meter.done and IDLE not in text:  # asked for something else than a run
        return text.partition(f"{OPENED}\n")[2].rstrip() or where
    said = f"{meter if meter.done else IDLE}. {where}"
    from cdspp.analysis.fit_records import failures_of_scores

    failed = failures_of_scores(folder.glob("scores/[!.]*.parquet"))
    if (folder / "report/index.html").is_file():
        from cdspp.report.page.headline import headline

        said = f"{headline(folder)}\n\n{said}"
    elif failed:
        said = f"{failed} {said}"
    return command.answer(said, failed=arguments.strict and failed)


def _study_name(arguments: argparse.Namespace) -> str:
    """Return the name of the study; one for Snakemake's --config wins."""
    key = "study="
    given = [word for word in arguments.snakemake if word.startswith(key)]
    named = given[-1].removeprefix(key) if given else None
    return named or str(read_layers(arguments.file).config.get("study"))


def _command(arguments: argparse.Namespace) -> list[str]:
    """Return the call of Snakemake; words of the user come last, so that they hold."""
    place = workflow_folder()
    profile, snakefile = place / "workflow/profiles/local", place / "Snakefile"
    call = [sys.executable, "-m", "snakemake", "--quiet", "host"]
    if arguments.file:
        call += ["--configfile", *(str(found_file(file)) for file in arguments.file)]
    call += ["--rerun-triggers", *TRIGGERS, "--workflow-profile", str(profile)]
    call += ["--snakefile", str(snakefile)]
    call += ["--cores", arguments.cores] if arguments.cores else []
    return [*call, *arguments.snakemake]


def _follow(
    call: Sequence[str], log: Path, meter: Meter, *, remake: bool = False
) -> int:
    """Run a command, forward signals to its jobs, and return its exit code."""

    def forward(number: int, _: object) -> None:
        meter.interrupted = True
        with suppress(ProcessLookupError):
            os.killpg(running.pid, number)

    # Names are UTF-8 whatever LC_ALL makes of them; and no module of this folder stands
    # in for one that Snakemake imports, here or in a job on a cluster.
    settings = {**os.environ, "PYTHONUTF8": "1", "PYTHONSAFEPATH": "1"}
    settings |= {} if remake else {KEEP_FITS: "1"}
    with log.open("wb") as stream:
        running = subprocess.Popen(
            call,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            env=settings,
            process_group=0,
        )
    before = {number: signal.getsignal(number) for number in FORWARDED}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # as nohup asks
            signal.signal(number, forward)
    with log.open(encoding="utf-8", errors="replace") as written:
        rest, ended = "", False
        while not ended:
            ended = running.poll() is not None  # what it wrote before is read then
            *lines, rest = (rest + written.read()).split("\n")
            for line in lines:
                meter.read(line)
            meter.show()
            time.sleep(0 if ended else PAUSE)
    for number, handler in before.items():
        signal.signal(number, handler)
    code = running.returncode
    return code if code >= 0 else 128 - code


def _reasons(text: str) -> Iterator[str]:
    """Yield the errors of the jobs of a failed run, else its last lines."""
    from cdspp.study.progress import read_log

    full = writing_fault("logs")
    if logs := dict.fromkeys(FAILED_LOG.findall(text)):
        for log in logs:
            reason = read_log(log).reason or full or "stopped before the end"
            yield f"  {reason} ({log})"
        return
    found = FAULT.search(text)
    lines = [*text[found.start() if found else 0 :].splitlines(), full]
    yield from (f"  {line}" for line in lines[-SHOWN:] if line and FRAME not in line)


def _cores(text: str) -> str:
    return text if text == "all" else str(command.positive_integer(text))


def add_run(commands: Any) -> None:
    """Add ``cdspp run`` to the commands."""
    text = "run a study, from its file to the report"
    run = command.add_study_command(commands, "run", _run, text, HELP)
    words = "[-h] [--cores N] [--remake] [--strict] [STUDY_FILE ...] [-- SNAKEMAKE ...]"
    run.usage = f"cdspp run {words}"
    note = "jobs at a time (all cores)"
    run.add_argument("--cores", type=_cores, metavar="N", help=note)
    note = "replace fits for changes of code alone, too"
    run.add_argument("--remake", action="store_true", help=note)
    command.add_strict(run)
