"""A study from its file to its report: its forecast, and its run by Snakemake."""

import json
import os
import select
import signal
import sys
import time
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL, Popen
from tempfile import TemporaryFile
from typing import Any

from cdspp.cli import command
from cdspp.cli.study import files_to_remake, read_config, read_study
from cdspp.core.errors import ConfigError, write_errors, writing_fault
from cdspp.core.run_lock import FOLDER, KEEP_FITS, require_posix
from cdspp.core.wording import duration
from cdspp.study.files import study_file_path, workflow_folder
from cdspp.study.time_left import TimeLeft

# Without the age of scripts: pip gives files the date of installation, and digests of
# the code are among the parameters.
TRIGGERS = ("mtime", "params", "input", "software-env")
EVENTS = "SNAKEMAKE_LOGGER_CDSPP_EVENTS"  # the file to which the logger writes
IDLE = "Nothing to be done"
FORWARDED = ("SIGINT", "SIGTERM", "SIGHUP")
TRACEBACK = '  File "'  # a location in the workflow, named in the first line
FIRST_LEFT = 10.0  # seconds before the line shows the time left
# Options of Snakemake that change the study or its folder, or forbid writing.
NOT_ACCEPTING = frozenset(
    ("--config", "-C", "--configfile", "--configfiles", "--directory", "-d")
    + ("--dry-run", "--dryrun", "-n")
)
PAUSE = 0.2  # seconds between updates of the line
PLAIN_PAUSE = 60.0  # seconds between lines without a terminal
MOST_LINES = 15  # lines that explain a failure


class ProgressLine:
    """The progress of a run: one line on a terminal, else an occasional line."""

    def __init__(self) -> None:
        self.done = self.total = 0
        self.time_left = TimeLeft({})
        self.began = self.shown = time.monotonic()
        self.started = self.dry = self.interrupted = False
        self.stats: dict[str, int] = {}  # jobs by rule, and their total
        self.reasons: dict[str, Counter[str]] = defaultdict(Counter)
        self.messages: dict[str, str] = {}
        self.failed_logs: dict[str, list[str]] = {}
        self.errors: list[str] = []
        self.in_place = sys.stderr.isatty()

    def read(self, event: Mapping[str, Any]) -> None:
        """Read an event of Snakemake; print it if it is a note on the study."""
        match event.get("event"), event["level"]:
            case "workflow_started", _:
                self.started, self.dry = True, event["dryrun"]
            case "run_info", _:
                self.stats, self.began = event["stats"], time.monotonic()
                self.total = self.stats["total"]
            case "forecast", _:
                self.time_left = TimeLeft(event["jobs"], local=event["local"])
            case "job_started", _:
                for job in event["jobs"]:
                    self.time_left.start(str(job), time.monotonic())
            case "job_finished", _:
                self.time_left.end(str(event["job_id"]))
            case "progress", _:
                self.done, self.total = event["done"], event["total"]
            case "job_info", _:
                rule, message = event["rule_name"], event["rule_msg"] or ""
                # Files and parameters follow a colon, and further reasons follow them.
                self.reasons[rule].update([event["reason"].partition(":")[0]])
                self.messages[rule] = message.partition(":")[0]
            case "job_error", _:
                self.time_left.end(str(event["jobid"]), failed=True)
                if event["log"]:
                    self.failed_logs[event["log"][0]] = event["log"]
            case _, "ERROR":
                self.errors += event["message"].splitlines()
            case None, "WARNING" if not self.total:
                self.clear()
                sys.stderr.write(f"{event['message']}\n")

    def __str__(self) -> str:
        """Return the counts, seconds and time left."""
        now = time.monotonic()
        seconds = now - self.began
        if not self.total:
            return f"reading the study, {duration(seconds)}"
        text = f"{self.done} of {self.total} jobs, {duration(seconds)}"
        if seconds < FIRST_LEFT or self.done == self.total:
            return text
        left = self.time_left.seconds(seconds, now)
        return text if left is None else f"{text}, about {duration(left)} left"

    def show(self) -> None:
        """Print the line; without a terminal, only once in a while."""
        if self.in_place:
            sys.stderr.write(f"\r{self}\x1b[K")
        elif time.monotonic() - self.shown >= PLAIN_PAUSE:
            self.shown = time.monotonic()
            sys.stderr.write(f"{self}\n")
        sys.stderr.flush()

    def clear(self) -> None:
        """Remove the line, so that others can be printed."""
        if self.in_place:
            sys.stderr.write("\r\x1b[K")


def _plan(arguments: Namespace) -> str:
    from cdspp.study.fit_jobs import forecast, forecast_text, missing_packages

    study = read_study(arguments.file)
    package_notes = missing_packages(study)
    (methods, total), (ahead, notes) = forecast(study), files_to_remake(study)
    if arguments.json:
        content = {"study": study.name, "methods": [m._asdict() for m in methods]}
        totals = {k: v for k, v in total._asdict().items() if k != "method"}
        packages = {"missing_packages": package_notes}
        return command.json_text({**content, "total": totals, **ahead, **packages})
    return "\n".join([forecast_text([*methods, total]), "", *notes, *package_notes])


def _accept(arguments: Namespace) -> None:
    """Accept fits of other code or versions on a sample; print what was accepted."""
    words = (word.partition("=")[0] for word in arguments.snakemake)
    for word in words:
        if word in NOT_ACCEPTING or word.startswith(("data/", "results/")):
            fault = f"--accept takes the whole study from its file, without {word}"
            remedy = "Put values into the study file, or leave --accept out"
            raise ConfigError(f"{fault}. {remedy}.")
    if arguments.remake:
        raise ConfigError("expected --accept or --remake, got both. Leave one out.")
    from cdspp.study.accept import NOTHING, accept, affected_fits, inputs_to_remake

    study = read_study(arguments.file)
    before = [fit.file for fit in affected_fits(study)]
    if not before:
        raise ConfigError(NOTHING)
    if files := inputs_to_remake(study):
        _follow_run([*_command(arguments), "--", *files], _new_log("inputs"))
    sys.stderr.write(f"{accept(study, before)}\n")


def _new_log(name: str) -> Path:
    # With the process number, because two studies may start in the same second.
    log = Path("logs", time.strftime(f"{name}-%Y%m%d-%H%M%S-{os.getpid()}.log"))
    with write_errors(log):
        log.parent.mkdir(exist_ok=True)
        log.touch()
    return log


def _follow_run(
    call: Sequence[str], log: Path, *, remake: bool = False
) -> tuple[ProgressLine, str]:
    """Follow a run to its end, and return its output; exit if it stops before."""
    progress = ProgressLine()
    code, output = _follow(call, log, progress, remake=remake)
    progress.clear()
    if code:
        jobs_done = f"after {progress.done} of {progress.total} jobs"
        lines = [f"Interrupted {jobs_done}. The same command resumes it."]
        if not progress.interrupted:
            lines = [f"Stopped {jobs_done}:", *_reasons(progress, log)]
        sys.stderr.write("\n".join([*lines, f"Whole log: {log}"]) + "\n")
        sys.exit(code)
    return progress, output


def _run(arguments: Namespace) -> str:
    require_posix()
    command.need_package("snakemake", "cdspp run", command.STUDY_EXTRA)
    if arguments.accept:
        _accept(arguments)
    pairs = [word for word in arguments.snakemake if word.startswith("study=")]
    study = pairs[-1].removeprefix("study=") if pairs else ""  # Snakemake's --config
    study = study or str(read_config(arguments.file)[0].get("study"))
    folder = Path("results", study)
    log, call = _new_log("run"), _command(arguments)
    progress, output = _follow_run(call, log, remake=arguments.remake)
    log_line = f"Whole log: {log}"
    if not progress.started:  # Snakemake was asked for something other than a run
        return output.rstrip() or log_line
    if progress.dry and progress.total:
        return "\n".join([*_job_table(progress), "", f"Nothing was run. {log_line}"])
    text = f"{progress if progress.total else IDLE}. {log_line}"
    from cdspp.analysis.fit_records import failures_of_scores

    failed = failures_of_scores(folder.glob("scores/[!.]*.parquet"))
    if (folder / "report/index.html").is_file():
        from cdspp.report.page.headline import headline

        text = f"{headline(folder)}\n\n{text}"
    elif failed:
        text = f"{failed} {text}"
    return command.exit_if_failed(text, failed=arguments.strict and failed)


def _job_table(progress: ProgressLine) -> Iterator[str]:
    """Yield a table of the jobs that a run would execute, by rule, with reasons."""
    width = max(map(len, progress.stats))
    yield f"{'rule':{width}}{'jobs':>7}  reason"
    for rule, number in progress.stats.items():
        reasons = progress.reasons[rule].items()
        causes = [f"{reason} ({n})" if n < number else reason for reason, n in reasons]
        yield f"{rule:{width}}{number:7}  {', '.join(causes)}".rstrip()
        if content := progress.messages.get(rule):  # methods, tables or figures
            yield f"  {content}"


def _command(arguments: Namespace) -> list[str]:
    """Return the call of Snakemake; arguments of the user come last and override."""
    place = workflow_folder()
    profile, snakefile = place / "workflow/profiles/local", place / "Snakefile"
    call = [sys.executable, "-m", "snakemake", "--quiet", "host", "--logger", "cdspp"]
    if arguments.file:
        call += ["--configfile", *(str(study_file_path(f)) for f in arguments.file)]
    call += ["--rerun-triggers", *TRIGGERS, "--workflow-profile", str(profile)]
    call += ["--snakefile", str(snakefile)]
    call += ["--cores", arguments.cores] if arguments.cores else []
    return [*call, *arguments.snakemake]


def _follow(
    call: Sequence[str], log: Path, progress: ProgressLine, *, remake: bool = False
) -> tuple[int, str]:
    """Run a command, forward signals to its jobs, and return exit code and output."""

    def forward(number: int, _: object) -> None:
        progress.interrupted = True
        if sys.platform != "win32":  # which cannot run studies
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)

    # Names are UTF-8 whatever LC_ALL says, and no module of this folder replaces one
    # that Snakemake imports, here or in a job on a cluster.
    environment = {**os.environ, "PYTHONUTF8": "1", "PYTHONSAFEPATH": "1"}
    environment |= {} if remake else {KEEP_FITS: "1"}
    read_end, write_end = os.pipe()
    environment[EVENTS] = f"/dev/fd/{write_end}"
    with log.open("wb") as stream, TemporaryFile("w+b", dir=log.parent) as output:
        process = Popen(
            call,
            stdin=DEVNULL,
            stdout=output,
            stderr=stream,
            env=environment,
            process_group=0,
            pass_fds=[write_end],
        )
        os.close(write_end)
        numbers = [getattr(signal, name) for name in FORWARDED]
        handlers = {number: signal.getsignal(number) for number in numbers}
        for number, handler in handlers.items():
            if handler is not signal.SIG_IGN:  # as set by nohup
                signal.signal(number, forward)
        _read_events(process, read_end, progress)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        output.seek(0)
        stream.write(text := output.read())
    code = process.returncode
    return code if code >= 0 else 128 - code, text.decode(errors="replace")


def _read_events(process: Popen[bytes], read_end: int, progress: ProgressLine) -> None:
    """Pass the events of a process to its progress line until it ends."""
    remainder, ended = b"", False
    with open(read_end, "rb", buffering=0) as events:
        if sys.platform != "win32":
            os.set_blocking(read_end, False)
        while not ended:
            ended = process.poll() is not None  # then read the rest of its output
            *lines, remainder = (remainder + (events.read() or b"")).split(b"\n")
            for line in lines:
                progress.read(json.loads(line))
            progress.show()
            if not ended:
                select.select([events], [], [], PAUSE)


def _reasons(progress: ProgressLine, log: Path) -> Iterator[str]:
    """Yield the errors of the jobs of a failed run, or else those of Snakemake."""
    from cdspp.study.progress import DONE, read_log

    folders = filter(os.path.isdir, ("logs", FOLDER))
    disk_fault = next(filter(None, map(writing_fault, folders)), "")
    jobs = {read_log(path): logs for path, logs in progress.failed_logs.items()}
    failed = {job: logs for job, logs in jobs.items() if job.state != DONE}
    for job, logs in failed.items():  # other failed jobs succeeded on a retry
        reason = job.reason or disk_fault or "stopped before the end"
        yield f"  {reason} ({', '.join(logs)})"
    if not failed:
        text = log.read_text(encoding="utf-8", errors="replace")
        for line in [*(progress.errors or text.splitlines()), disk_fault][-MOST_LINES:]:
            if line and TRACEBACK not in line:
                yield f"  {line}"


def _cores(text: str) -> str:
    return text if text == "all" else str(command.positive_integer(text))


def add_commands(commands: Any) -> None:
    """Add the commands on a study that may not have started."""
    command.add_command(commands, "plan", _plan, command.STUDY_EXTRA)
    command.add_command(commands, "run", _run, command.STUDY_EXTRA, cores=_cores)
