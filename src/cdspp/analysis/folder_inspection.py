"""Beliefs on a folder of images or texts, before anything is fitted."""

from __future__ import annotations

import base64
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cdspp.analysis.inspection import BaseInspection, cut, doubt_lines, wrapped
from cdspp.core.errors import refusals
from cdspp.core.labels import class_table
from cdspp.core.wording import counted, listed, shortened
from cdspp.datasets import FolderDataset
from cdspp.datasets.base import unshared_classes
from cdspp.datasets.pixels import check_images, read_header, value_range

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["FolderInspection", "domain_text", "inspect_folder", "pictures"]

TOKENS, READ = 10, 100  # tokens of a domain, and texts that are read for them
MOST_LETTERS = 60  # of these tokens on a line
PICTURES, PIXELS = 6, 160  # images of a domain on a page, and their longer side there


@dataclass(frozen=True, eq=False, repr=False)
class FolderInspection(BaseInspection):
    """Beliefs on a folder; `data` reads it."""

    data: FolderDataset

    def lines(self) -> Iterator[str]:
        """Yield files by kind, classes, and what is refused or doubtful."""
        of = self.beliefs
        files = listed([f"{n} {kind}" for kind, n in of["files"].items()])
        domains = counted(len(self.data.domains), "domain")
        yield from wrapped(f"{of['path']}: {of['kind']}, {domains} ({files})")
        sizes = self.data.contents()
        for domain in self.data.domains:
            yield f"  {domain_text(self.data, domain)}"
        classes = {domain: Counter(of) for domain, of in sizes.items()}
        for counts in classes.values():
            counts.pop("", None)
        yield f"  classes{class_table(classes)}"
        yield from doubt_lines(self.refused, self.doubtful)

    def grid(self) -> list[list[str]]:
        """Return a table of modes and values of images, or of tokens of texts."""
        domains = self.beliefs["domains"]
        if self.data.kind == "texts":
            heads = ["domain", "tokens per text", "most frequent tokens"]
            return [heads, *map(_text_cells, domains)]
        grid = [["domain", "formats", "modes", "values", "frames"]]
        for of in domains:
            parts = (_counts(of[name]) for name in ("formats", "modes"))
            low, high = of["range"] or (0, 255)
            values = f"{low:.6g} to {high:.6g}" if of["readable"] else "unknown"
            grid.append([of["name"], *parts, values, _counts(of["frames"])])
        return grid


def domain_text(data: FolderDataset, domain: str) -> str:
    """Describe the files of a domain in one line."""
    sizes = {**data.contents()[domain]}
    n_unlabelled, numbers = sizes.pop("", 0), sizes.values()
    per_class = " to ".join(map(str, dict.fromkeys([min(numbers), max(numbers)])))
    text = f"{domain}: {sum(numbers)} {data.kind}, {per_class} per class"
    return f"{text}, and {n_unlabelled} unlabelled" if n_unlabelled else text


def inspect_folder(
    folder: str | Path, keep_labels: Sequence[str] = ()
) -> FolderInspection:
    """Return what is believed of ``<domain>/<class>/<file>``; DataError: no study."""
    data = FolderDataset("folder", folder, keep_labels=keep_labels)
    sizes, refused = data.contents(), list[str]()
    describe = _of_images if data.kind == "images" else _of_texts
    domains = []
    for domain in data.domains:
        beliefs, faults = describe(data.paths_of(domain))
        domains.append({"name": domain, "classes": sizes[domain], **beliefs})
        refused += faults
    others = Counter(path.suffix.lower() or "no suffix" for path in data.skipped)
    n_files = sum(len(data.paths_of(domain)) for domain in data.domains)
    beliefs = {
        "path": str(folder),
        "kind": data.kind,
        "files": {data.kind: n_files, **others},
        "domains": domains,
    }
    tables = unshared_classes(str(folder), sizes)
    doubtful = tuple(note for note in data.notes() if note not in tables)
    return FolderInspection(
        data, beliefs=beliefs, refused=(*refused,), doubtful=doubtful
    )


def _of_images(paths: Sequence[Path]) -> tuple[dict[str, Any], list[str]]:
    headers = [header for header in map(read_header, paths) if header]
    faults = [*refusals(lambda: check_images({"": paths}))]
    common = None if faults else value_range(paths)
    return {
        "formats": dict(Counter(header.format for header in headers)),
        "modes": dict(Counter(header.mode for header in headers)),
        "frames": dict(Counter(str(header.frames) for header in headers)),
        "range": common and [common.low, common.high],
        "readable": not faults,
    }, faults


def _of_texts(paths: Sequence[Path]) -> tuple[dict[str, Any], list[str]]:
    from cdspp.features.text import Text

    extractor, counts, lengths = Text(), Counter[str](), list[int]()

    def read(path: Path) -> None:
        terms = extractor.terms(path)
        counts.update(terms)
        lengths.append(len(terms))

    # Texts of all classes, which are in turn.
    sample = paths[:: -(-len(paths) // READ)]
    faults = [*refusals(*(lambda path=path: read(path) for path in sample))]
    if len(faults) > 1:
        faults = [f"{faults[0]} ({len(faults)} of {len(sample)} texts in all)"]
    tokens = [token for token, _ in counts.most_common(TOKENS)]
    ends = [min(lengths, default=0), max(lengths, default=0)]
    return {"tokens": tokens, "lengths": ends, "read": len(lengths)}, faults


def _text_cells(of: Mapping[str, Any]) -> list[str]:
    lengths = " to ".join(map(str, dict.fromkeys(of["lengths"])))
    return [of["name"], lengths, cut(" ".join(of["tokens"]), MOST_LETTERS)]


def _counts(numbers: Mapping[str, int]) -> str:
    if len(numbers) == 1:
        return next(iter(numbers))
    return shortened([f"{n} {name}" for name, n in numbers.items()])


def pictures(data: FolderDataset) -> Iterator[tuple[str, list[str]]]:
    """Yield a title, and images as an extractor sees them as addresses, by domain."""
    from cdspp.features.cnn import Cnn
    from cdspp.features.visual_words import VisualWords

    views: dict[str, Any] = {"the extractor cnn": Cnn(), "visual-words": VisualWords()}
    for domain in data.domains:
        paths = data.paths_of(domain)
        chosen = paths[:: -(-len(paths) // PICTURES)]
        # All images of the domain decide which values become 0 and 255.
        files = [*dict.fromkeys([*chosen, *paths])]
        for view, extractor in views.items():
            images = islice(extractor.prepared(files), len(chosen))
            yield f"{domain}, as {view} sees it", [*map(_address, images)]


def _address(image: Image) -> str:
    image.thumbnail((PIXELS, PIXELS))
    with io.BytesIO() as stream:
        image.save(stream, "PNG")
        content = base64.b64encode(stream.getvalue())
    return f"data:image/png;base64,{content.decode()}"
