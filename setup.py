"""What pyproject.toml cannot say: the study, links and addresses go into a wheel.

The study lies on top of the repository. Links of README are relative; on the page of a
package they need the address of the files of a release, CDSPP_FILES_URL. Without it a
link is its text, and a picture is left out. CDSPP_PROJECT_URLS adds addresses of the
project, as `Source=https://... Issues=https://...`.
"""

import os
import re
from pathlib import Path
from shutil import copy2, copytree, ignore_patterns, rmtree

from setuptools import setup
from setuptools.command.build_py import build_py

# As cdspp.study.files looks for it; MANIFEST.in brings them into an sdist.
PLACE = "cdspp/_study"
PAPER = "Paper=https://doi.org/10.1016/j.patcog.2021.108362"
STUDY = ("Snakefile", "config.yaml", "envs", "profiles", "resources", "workflow")


class BuildWithStudy(build_py):
    """Copies the study beside the modules; an editable install finds it on top."""

    def run(self):
        """Build the package, then copy the files of the study."""
        super().run()
        if self.editable_mode:
            return
        place = Path(self.build_lib, PLACE)
        rmtree(place, ignore_errors=True)  # what an earlier build has left
        place.mkdir()
        for path in map(Path, STUDY):
            if path.is_dir():
                copytree(path, place / path, ignore=ignore_patterns("__pycache__"))
            else:
                copy2(path, place)


def readme(address):
    """Return README with absolute links, or without links to files."""
    text = Path("README.md").read_text(encoding="utf-8")
    link = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:)([^)]+)\)")
    if address:
        return link.sub(rf"\1[\2]({address.rstrip('/')}/\3)", text)
    return link.sub(lambda match: "" if match[1] else match[2], text)


def project_urls(given):
    """Return the addresses of the project by their names, the paper's first."""
    named = [text.partition("=") for text in (PAPER, *given.split())]
    if wrong := [name for name, _, address in named if "://" not in address]:
        raise SystemExit(f"CDSPP_PROJECT_URLS: expected NAME=ADDRESS, got {wrong[0]!r}")
    return {name: address for name, _, address in named}


setup(
    project_urls=project_urls(os.environ.get("CDSPP_PROJECT_URLS", "")),
    long_description=readme(os.environ.get("CDSPP_FILES_URL", "")),
    long_description_content_type="text/markdown",
    cmdclass={"build_py": BuildWithStudy},
)
