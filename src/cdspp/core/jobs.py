"""The frame of a workflow job: inputs, log, errors and processor time."""

import gc
import logging
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from cdspp.core.errors import (
    INTERRUPTED,
    USER_ERRORS,
    machine_fault_text,
    unexpected_error_text,
    write_errors,
)
from cdspp.core.names import PathLike
from cdspp.core.records import (
    Specification,
    record_error,
    record_mismatch,
    record_path,
    write_record,
)
from cdspp.core.run_lock import guard_inputs, guard_job
from cdspp.core.screen import printable_stream, screen_in

log = logging.getLogger(__name__)

READY = re.compile(r"ready after ([0-9.]+) s of processor time")
FINISHED = re.compile(r"finished after ([0-9.]+) s of processor time")


@contextmanager
def job(
    log_file: PathLike,
    inputs: Iterable[PathLike] = (),
    *,
    own: Iterable[PathLike] = (),
    echo: bool = False,
) -> Iterator[dict[str, str]]:
    """Log to a file; turn each error into one line for the user.

    The file also takes what the process prints, so that imports belong into the block;
    with `echo` the terminal shows the log, too. Inputs must match the records next to
    them, and must not change meanwhile; the user's `own` files have no record. Yields
    the digests of both by path.
    """
    stream = _opened(log_file)
    with screen_in(stream) as terminal:
        _log_to(stream, *([terminal] if echo else []))
        log_ready()
        try:
            with _guarded(inputs, own) as digests:
                yield digests
        except USER_ERRORS as error:
            log.error("%s", error)
            sys.exit(f"{type(error).__name__}: {error}")
        except BaseException as error:
            log.exception("failed")
            if isinstance(error, KeyboardInterrupt):
                sys.exit(INTERRUPTED)
            if not isinstance(error, Exception):  # as one of `sys.exit`
                raise
            line = machine_fault_text(error, log_file)
            sys.exit(line or f"{unexpected_error_text(error)}. Traceback: {log_file}")
        log.info("finished after %.3f s of processor time", time.process_time())
    gc.freeze()  # else Python searches all imports at exit: a third of a second


@contextmanager
def file_job(
    log_file: PathLike,
    output: PathLike,
    specification: Mapping[str, Any],
    inputs: Mapping[str, PathLike] = {},
) -> Iterator[dict[str, Any]]:
    """Run a job that writes one file; yield its arguments, and write the record.

    `specification` has the parts of a `Specification` without its inputs, which are
    those of the job by name.
    """
    made_of = Specification(**specification)
    files = {name: os.fspath(path) for name, path in inputs.items()}
    own = filter(os.path.isfile, made_of.own_files)  # a folder changes too often
    with job(log_file, files.values(), own=own) as digests:
        yield made_of.arguments
        write_record(output, made_of._replace(inputs=files), digests)


@contextmanager
def _guarded(
    inputs: Iterable[PathLike], own: Iterable[PathLike]
) -> Iterator[dict[str, str]]:
    guard_job()
    input_paths = [*map(str, inputs)]
    with guard_inputs([*input_paths, *own]) as digests:
        for path in input_paths:
            has_record = record_path(path).is_file()
            if has_record and (problem := record_mismatch(path, cache=digests)):
                raise record_error(path, problem)
        yield digests


def _opened(log_file: PathLike) -> TextIO:
    try:
        with write_errors(log_file):
            return open(log_file, "w", encoding="utf-8")
    except USER_ERRORS as error:
        sys.exit(f"{type(error).__name__}: {error}")


def _log_to(stream: TextIO, *terminals: TextIO) -> None:
    handler = logging.StreamHandler(printable_stream(stream))
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(message)s"))
    root = logging.getLogger("cdspp")
    root.setLevel(logging.INFO)
    root.addHandler(handler)
    for terminal in terminals:
        screen = logging.StreamHandler(printable_stream(terminal))
        # Errors are shown by the process that ends the job.
        screen.addFilter(lambda record: record.levelno < logging.ERROR)
        root.addHandler(screen)
    logging.captureWarnings(True)
    logging.raiseExceptions = False  # the job itself reports a full disk, once
    logging.getLogger("py.warnings").addHandler(handler)


def log_ready() -> None:
    """Log that imports are done and work begins; only the last such line counts."""
    log.info("ready after %.3f s of processor time", time.process_time())


def processor_time(logs: Iterable[PathLike]) -> tuple[float, float]:
    """Return processor seconds of finished jobs: until they were ready, and total."""
    start_up = total = 0.0
    for path in map(Path, logs):
        for file in [path] if path.is_file() else sorted(path.rglob("*.log")):
            text = file.read_text(encoding="utf-8", errors="replace")
            ready, finished = READY.findall(text), FINISHED.findall(text)
            if ready and finished:
                start_up += float(ready[-1])
                total += float(finished[-1])
    return start_up, total
