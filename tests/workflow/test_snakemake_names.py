"""What rules use of Snakemake beyond its documentation is in the installed one."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

# Attributes of the object `workflow`, which a release of Snakemake may rename: used
# while rule files are read, and once the graph of jobs is there.
EARLY = {
    "config_settings.configfiles",
    "config_settings.config",
    "current_basedir",
    "default_target",
    "is_main_process",
    "modifier.skip_configfile",
    "storage_settings.default_storage_provider",
    "workflow_settings",  # and persistence_backend, which older releases lack
}
LATE = {
    "configfiles",
    "cores",
    "dag.forcefiles.update",
    "dag.needrun_jobs",
    "local_exec",
}
SNAKEFILE = f"""\
from operator import attrgetter

from snakemake.logging import logger
from snakemake.utils import min_version

attrgetter{tuple(sorted(EARLY))}(workflow)

def look(wildcards):
    attrgetter{tuple(sorted(LATE))}(workflow)
    return []

rule all:
    input: look
"""


def test_every_attribute_of_the_workflow_that_rules_use_is_listed(
    repository: Path,
) -> None:
    files = [repository / "Snakefile", *(repository / "workflow").rglob("*.smk")]
    files += [repository / "workflow/Snakefile"]
    used = {
        name
        for file in files
        for name in re.findall(r"(?<![\w/])workflow\.(?!rst)([\w.]+)", file.read_text())
    }
    assert used
    assert used <= EARLY | LATE


def test_snakemake_has_every_attribute(tmp_path: Path) -> None:
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
