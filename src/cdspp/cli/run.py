"""A study from its file to its report: its forecast, and its run by Snakemake."""

import json
import os
import select
import signal
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import DEVNULL, Popen
from tempfile import TemporaryFile
from typing import Any

from cdspp.cli import command
from cdspp.cli.run_display import PAUSE, RunDisplay, folded
from cdspp.cli.study import files_to_remake, read_study
from cdspp.core.errors import ConfigError, write_errors
from cdspp.core.run_lock import KEEP_FITS, require_posix
from cdspp.study.files import study_file_path, workflow_folder

# Without the age of scripts: pip gives files the date of installation, and digests of
# the code are among the parameters.
TRIGGERS = ("mtime", "params", "input", "software-env")
EVENTS = "SNAKEMAKE_LOGGER_CDSPP_EVENTS"  # the file to which the logger writes
FORWARDED = ("SIGINT", "SIGTERM", "SIGHUP")
# Options of Snakemake that change the study or its folder, or forbid writing.
NOT_ACCEPTING = frozenset(
    ("--config", "-C", "--configfile", "--configfiles", "--directory", "-d")
    + ("--dry-run", "--dryrun", "-n")
)


def _plan(arguments: Namespace) -> str:
    from cdspp.study.fit_jobs import (
        check_own_files,
        forecast,
        forecast_text,
        missing_packages,
        wall_times,
    )

    study = read_study(arguments.file)
    check_own_files(study)
    package_notes = missing_packages(study)
    (methods, total), (ahead, notes) = forecast(study), files_to_remake(study)
    walls = wall_times(study)
    if arguments.json:
        content = {"study": study.name, "methods": [m._asdict() for m in methods]}
        totals = {k: v for k, v in total._asdict().items() if k != "method"}
        wall = [{"cores": n, "seconds": walls[n]} for n in walls]
        more = {"wall_time": wall, "missing_packages": package_notes}
        return command.json_text({**content, "total": totals, **ahead, **more})
    table = forecast_text([*methods, total], walls)
    return "\n".join([table, "", *notes, *package_notes])


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
        _follow_to_end([*_command(arguments), "--", *files], "inputs")
    sys.stderr.write(f"{folded(accept(study, before))}\n")


def _run(arguments: Namespace) -> str:
    require_posix()
    command.need_package("snakemake", "cdspp run", command.STUDY_EXTRA)
    if arguments.accept:
        _accept(arguments)
    call = _command(arguments)
    display, output = _follow_to_end(call, "run", remake=arguments.remake)
    # Snakemake may have been asked for something other than a run.
    text = display.result() or output.rstrip() or f"Whole log: {display.log}"
    failed = arguments.strict and not display.dry and display.failed_fits()
    return command.exit_if_failed(text, failed=failed)


def _follow_to_end(
    call: Sequence[str], name: str, *, remake: bool = False
) -> tuple[RunDisplay, str]:
    """Run a command with a log of some name; exit if it fails."""
    # With the process number, because two studies may start in the same second.
    log = Path("logs", time.strftime(f"{name}-%Y%m%d-%H%M%S-{os.getpid()}.log"))
    with write_errors(log):
        log.parent.mkdir(exist_ok=True)
        log.touch()
    display = RunDisplay()
    code, output = _follow(call, log, display, remake=remake)
    display.clear()
    display.log = str(log)
    if code:
        text = log.read_text(encoding="utf-8", errors="replace")
        sys.stderr.write(f"{display.failure(text)}\n")
        sys.exit(code)
    return display, output


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
    call: Sequence[str], log: Path, display: RunDisplay, *, remake: bool = False
) -> tuple[int, str]:
    """Run a command, forward signals to its jobs, and return exit code and output."""

    def forward(number: int, _: object) -> None:
        display.interrupted = True
        received.append(number)
        if sys.platform != "win32":  # which cannot run studies
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)

    # Names are UTF-8 whatever LC_ALL says, and no module of this folder replaces one
    # that Snakemake imports, here or in a job on a cluster.
    environment = {**os.environ, "PYTHONUTF8": "1", "PYTHONSAFEPATH": "1"}
    environment |= {} if remake else {KEEP_FITS: "1"}
    received: list[int] = []
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
        with _signals_to(forward):
            _read_events(process, read_end, display)
        output.seek(0)
        stream.write(text := output.read())
    code = process.returncode
    if code and (number := max(received, default=-min(code, 0))):
        code = 128 + number  # as a shell tells of a signal
    return code, text.decode(errors="replace")


@contextmanager
def _signals_to(handle: Callable[[int, Any], None]) -> Iterator[None]:
    """Call a function for signals inside the block, but for those that are ignored."""
    numbers = [getattr(signal, name) for name in FORWARDED]
    handlers = {number: signal.getsignal(number) for number in numbers}
    for number, handler in handlers.items():
        if handler is not signal.SIG_IGN:  # as set by nohup
            signal.signal(number, handle)
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


def _read_events(process: Popen[bytes], read_end: int, display: RunDisplay) -> None:
    """Pass the events of a process to its display until it ends."""
    remainder, ended = b"", False
    with open(read_end, "rb", buffering=0) as events:
        if sys.platform != "win32":
            os.set_blocking(read_end, False)
        while not ended:
            ended = process.poll() is not None  # then read the rest of its output
            *lines, remainder = (remainder + (events.read() or b"")).split(b"\n")
            for line in lines:
                display.read(json.loads(line))
            display.show()
            if not ended:
                select.select([events], [], [], PAUSE)


def _cores(text: str) -> str:
    return text if text == "all" else str(command.positive_integer(text))


def add_commands(commands: Any) -> None:
    """Add the commands on a study that may not have started."""
    command.add_command(commands, "plan", _plan, command.STUDY_EXTRA)
    command.add_command(commands, "run", _run, command.STUDY_EXTRA, cores=_cores)
