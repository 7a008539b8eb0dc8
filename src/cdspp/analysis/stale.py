"""Which files of a study are not what its study file asks for now, and why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from cdspp.analysis.references import configuration_as_run
from cdspp.core.errors import DataError
from cdspp.study.files import REPORT
from cdspp.study.model import Study
from cdspp.study.renewal import file_recipe, foreign_files, outdated_fits

__all__ = ["stale_files"]


def stale_files(study: Study) -> Iterator[tuple[str, str]]:
    """Yield files that a run would make again, and why; those that follow are left out.

    What the study asks for is compared with the configuration of its report and with
    the records of files and fits: the user's own files and code count, too. Snakemake's
    records are not needed.
    """
    report = Path(REPORT.format(study=study.name))
    with suppress(DataError):  # no report yet
        shown = configuration_as_run(report.parents[1])
        asked = json.loads(json.dumps(study.run_description().config))
        keys = sorted(k for k in asked | shown if asked.get(k) != shown.get(k))
        if keys:
            yield str(report), f"it is of a study with other {', '.join(keys)}"
    yield from foreign_files(study, partial(file_recipe, study))
    yield from outdated_fits(study)
