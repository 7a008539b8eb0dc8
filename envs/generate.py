"""Write environment.yaml (conda) from requirements.txt (pip), the one pinned list."""

from pathlib import Path

HEADER = """\
# For conda, generated from requirements.txt by generate.py: do not edit.
name: cdspp
channels:
  - conda-forge
dependencies:
  - python=3.11
  - pip
  - pip:
"""


def environment(requirements: str) -> str:
    """Return the text of environment.yaml for the text of requirements.txt."""
    lines = (line.split("#")[0].strip() for line in requirements.splitlines())
    return HEADER + "".join(f"      - {line}\n" for line in lines if line)


if __name__ == "__main__":
    folder = Path(__file__).parent
    text = environment((folder / "requirements.txt").read_text())
    (folder / "environment.yaml").write_text(text)
