"""TF-IDF of text files, for both documents and code."""

import codecs
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from cdspp.core.errors import DataError
from cdspp.features.base import FileExtractor

logger = logging.getLogger(__name__)

TOKEN_PATTERNS = {"letters": r"[^\W\d_]{2,}", "words": r"[^\W\d]\w+"}
CHARACTERS = "characters"


@dataclass(frozen=True)
class Text(FileExtractor):
    """TF-IDF of the files of one domain, fitted on all of them without labels.

    Rows have unit length, except that documents without a term are zero.
    """

    identifier: ClassVar[str] = "text"
    kind: ClassVar[str] = "texts"
    names_columns: ClassVar[bool] = True
    modules = ("numpy", "scipy.sparse", "sklearn.feature_extraction.text")

    #: ``letters``: runs of two letters or more, so that ``snake_case`` is two tokens;
    #: ``words``: with digits and underscores; ``characters``: single ones in words.
    tokens: str = "letters"
    lowercase: bool = True  #: Whether capital and small letters are the same.
    stop_words: str | None = None  #: Words to leave out: ``english`` or none.
    ngram: int = 1  #: Largest number of consecutive tokens in a term.
    min_df: int = 2  #: Terms in fewer documents are left out.
    max_df: float = 1.0  #: Terms in more than this share of documents are left out.
    max_features: int | None = None  #: Number of most frequent terms to keep.
    sublinear_tf: bool = True  #: Whether counts become 1 + their logarithm.
    encoding: str = "utf-8"  #: Encoding of the files.

    def __post_init__(self) -> None:
        """Check the options."""
        self.check_choice("tokens", (*TOKEN_PATTERNS, CHARACTERS))
        for option in ("lowercase", "sublinear_tf"):
            self.check_switch(option)
        if self.stop_words is not None:
            self.check_choice("stop_words", ("english",))
        for option in ("ngram", "min_df"):
            self.check_integer(option, 1)
        self.check_integer("max_features", 1, optional=True)
        self.check_share("max_df")
        try:
            codecs.lookup(self.encoding)
        except (LookupError, TypeError) as error:
            raise self.refuse("encoding", "the name of an encoding") from error

    def width(self) -> int | None:
        """Return the maximum number of features, None without a limit."""
        return self.max_features

    def extract(self, files: Sequence[Path]) -> sparse.csr_array:
        """Return the weights of the terms, as in `extract_named`."""
        return self.extract_named(files)[0]

    def extract_named(self, files: Sequence[Path]) -> tuple[sparse.csr_array, Any]:
        """Return the weights of the terms, float32, one row per file, and the terms."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        options = ("lowercase", "stop_words", "min_df", "max_features", "sublinear_tf")
        vectorizer = TfidfVectorizer(
            analyzer="char_wb" if self.tokens == CHARACTERS else "word",
            token_pattern=TOKEN_PATTERNS.get(self.tokens),
            ngram_range=(1, self.ngram),
            max_df=float(self.max_df),
            **{option: getattr(self, option) for option in options},
        )
        texts = [self._read(path) for path in files]
        try:
            X: Any = sparse.csr_array(vectorizer.fit_transform(texts))
        except ValueError as error:
            message = f"{len(files)} documents yield no term ({error})"
            raise DataError(f"{message}. Lower min_df or raise max_df.") from error
        X.sort_indices()
        if n_empty := int((np.diff(X.indptr) == 0).sum()):
            empty = "%d of %d documents have no term: their rows are zero"
            logger.warning(empty, n_empty, len(files))
        terms = vectorizer.get_feature_names_out()
        return sparse.csr_array(X.astype(np.float32)), terms.astype(np.str_)

    def _read(self, path: Path) -> str:
        try:
            return path.read_text(encoding=self.encoding)
        except (OSError, UnicodeError) as error:
            message = f"{path}: cannot be read as {self.encoding} ({error})."
            raise DataError(f"{message} Convert the file, or set encoding.") from error
