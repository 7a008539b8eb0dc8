"""Share of a fit's time in products and factors of matrices, sampled by perf."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import methods
from benchmarks.measure import Rows, Work
from cdspp.methods.cost import Size

__all__ = ["prepare", "products_share", "sample_process"]

# Libraries of BLAS and LAPACK, code generated at run time, and the functions of BLAS
# and LAPACK that PyTorch includes.
LIBRARY = re.compile(r"openblas|libmkl|lapack|perf-\d+\.map|\[JIT\]")
FUNCTION = re.compile(r"gemm|syrk|mkl_|dnnl|lapack", re.IGNORECASE)
IDLE_FUNCTION = "blas_thread_server"
LINE = re.compile(r"\s*[0-9a-f]+ (?P<function>.*) \((?P<library>.*)\)$")
# Seconds until perf has attached, least seconds of fits, fewest samples for a share.
ATTACH_SECONDS, MIN_SECONDS, MIN_SAMPLES = 0.5, 1.0, 100


def prepare(name: str, size: Size, rows: Rows, rows_in_use: Sequence[int]) -> Work:
    """Return the fit of the method `name`, which returns its share of products."""
    fit = methods.prepare(name, size, rows, rows_in_use)

    def work() -> Mapping[str, Any]:
        with sample_process() as lines:
            end = time.monotonic() + MIN_SECONDS
            fit()
            while time.monotonic() < end:
                fit()
        return {"products": products_share(lines)}

    return work


@contextmanager
def sample_process() -> Iterator[list[str]]:
    """Sample this process; the list gets a line per sample, or none without perf."""
    lines: list[str] = []
    with TemporaryDirectory() as folder:
        path = Path(folder, "samples")
        options = ["--quiet", "--freq=999", f"--pid={os.getpid()}", f"--output={path}"]
        try:
            perf = subprocess.Popen(
                ["perf", "record", *options], stdout=subprocess.DEVNULL
            )
        except OSError:
            yield lines
            return
        time.sleep(ATTACH_SECONDS)
        yield lines
        perf.send_signal(signal.SIGINT)
        perf.wait()
        fields = ["--fields=ip,sym,dso", f"--input={path}"]
        script = subprocess.run(
            ["perf", "script", *fields], stdout=subprocess.PIPE, text=True
        )
        lines += script.stdout.splitlines()


def products_share(lines: Iterable[str]) -> float | None:
    """Return the share of samples in products; None with too few samples."""
    samples = [match for line in lines if (match := LINE.match(line))]
    in_products = [
        bool(LIBRARY.search(sample["library"]) or FUNCTION.search(sample["function"]))
        for sample in samples
        if IDLE_FUNCTION not in sample["function"]
    ]
    return (
        sum(in_products) / len(in_products) if len(in_products) >= MIN_SAMPLES else None
    )
