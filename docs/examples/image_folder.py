"""A folder of images and a study of it: <folder>/<domain>/<class>/<file>.

The images are digits of scikit-learn, half of them bright on black (`screen`), half of
them dark on a noisy ground (`paper`), no digit in both. Writes them and a study file
into a folder, checks the file, and says what the study will cost:

    python docs/examples/image_folder.py my-digits
    cdspp run my-digits/study.yaml --cores 2
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits

ROOT = Path(__file__).parents[2]
PER_CLASS = 30  # images of each digit in each domain
# What a study leaves out is that of the preset.
STUDY = """\
study: my-digits
preset: quick
datasets:
  - {id: my-digits, folder: FOLDER}
views:
  - id: sift-words
    extractor: visual-words
    options: {n_words: 100, codebook_domain: screen}
  - id: alexnet
    extractor: cnn
    options: {network: alexnet, layer: fc6, weights: random}
    scale: pca
benchmarks:
  - id: my-digits
    title: My digits
    dataset: my-digits
    source_view: sift-words
    target_view: alexnet
    tasks: [screen_paper]
    labels: {source: 20, target: 3}
"""


def write_images(folder: Path) -> None:
    """Write <domain>/<class>/<number>.png, as a data set of your own would lie."""
    digits = load_digits()
    rng = np.random.default_rng(0)
    for digit in range(10):
        rows = np.flatnonzero(digits.target == digit)[: 2 * PER_CLASS]
        for number, row in enumerate(rows):
            domain = ("screen", "paper")[number % 2]
            grey = np.kron(digits.images[row] / 16, np.ones((8, 8)))
            if domain == "paper":
                grey = 0.9 - 0.7 * grey + 0.05 * rng.standard_normal(grey.shape)
            path = folder / domain / str(digit) / f"{row:04d}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            pixels = np.rint(255 * np.clip(grey, 0, 1)).astype(np.uint8)
            Image.fromarray(pixels).save(path)


def main(folder: Path) -> None:
    """Write images and study, check the study, and say what it costs."""
    images, file = folder / "images", folder / "study.yaml"
    write_images(images)
    file.write_text(STUDY.replace("FOLDER", json.dumps(str(images.absolute()))))
    print(f"$ cdspp plan {file}")
    planned = [sys.executable, "-m", "cdspp", "plan", str(file.absolute())]
    done = subprocess.run(
        planned, cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE
    )
    print(done.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "my-digits"))
