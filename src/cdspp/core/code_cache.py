"""The code that digests cover, kept in the folder of a run from one start to the next.

Parsing a module takes longer than reading its file. What a digest covers depends only
on the content of the file and on the code that takes digests, so both are the key.
"""

import hashlib
import json
import re
import sys
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from cdspp.core.errors import USER_ERRORS
from cdspp.core.files import content_digest
from cdspp.core.outputs import atomic
from cdspp.core.snakemake_internals import FOLDER

CACHE = "cdspp-code.json"  # in Snakemake's folder
MAX_MODULES, MAX_BYTES = 1000, 4_000_000
# The imports of a module, and a digest of its code.
Covered = tuple[tuple[str, ...], str]
Known = MutableMapping[str, Covered]


@contextmanager
def known_modules() -> Iterator[Known]:
    """Yield what is known of modules, by key, and keep what the block adds.

    It is empty where no run was, and if the file is damaged or of other code.
    """
    file = Path(FOLDER, CACHE)
    try:
        known = dict(_read(file.absolute(), file.stat().st_mtime_ns))
    except OSError:
        known = {}
    before = {*known}
    yield known
    if known.keys() - before and file.parent.is_dir():
        newest = dict([*known.items()][-MAX_MODULES:])
        content = {"code": _own_code(), "modules": newest}
        text = json.dumps({**content, "digest": content_digest(content)})
        with suppress(OSError, *USER_ERRORS), atomic(file) as temporary:
            temporary.write_text(text, encoding="utf-8")


def module_key(source: bytes, parent: str, *, texts: bool) -> str:
    """Return the key of a module's source in the package `parent`."""
    words = f"{parent}\n{texts}\n".encode()
    return hashlib.sha256(words + source).hexdigest()


@lru_cache(maxsize=1)
def _read(file: Path, _modified_ns: int) -> Known:
    """Return the content of a file, empty unless each part of it is as written."""
    with suppress(OSError, ValueError, TypeError, LookupError, RecursionError):
        if file.stat().st_size > MAX_BYTES:
            return {}
        content = json.loads(file.read_bytes())
        digest = content.pop("digest")
        if content["code"] == _own_code() and content_digest(content) == digest:
            return {key: _covered(*each) for key, each in content["modules"].items()}
    return {}


def _covered(imports: list[Any], digest: str) -> Covered:
    if not (
        re.fullmatch("[0-9a-f]{64}", digest) and all(map(str.isprintable, imports))
    ):
        raise ValueError("another form")
    return tuple(imports), digest


@lru_cache(maxsize=1)
def _own_code() -> str:
    """Return a digest of the modules that take digests, and of Python's version."""
    folder = Path(__file__).parent
    files = (folder / f"{name}.py" for name in ("code_digests", "code_texts"))
    content = b"".join([sys.version.encode(), *(file.read_bytes() for file in files)])
    return hashlib.sha256(content).hexdigest()
