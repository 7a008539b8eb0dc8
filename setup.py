"""What pyproject.toml cannot say: a wheel takes the study along, which lies on top."""

from pathlib import Path
from shutil import copy2, copytree, ignore_patterns, rmtree

from setuptools import setup
from setuptools.command.build_py import build_py

# As cdspp.study.files looks for it; MANIFEST.in brings them into an sdist.
PLACE = "cdspp/_study"
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


setup(cmdclass={"build_py": BuildWithStudy})
