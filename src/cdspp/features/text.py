"""TF-IDF of text files, for both documents and code.

Texts are in Unicode's form NFC. A combining mark belongs to the letter before it, as a
vowel sign of Hindi or Arabic does. Scripts that put no spaces between words (Chinese,
Japanese, Thai and their like) give pairs of neighbouring letters in place of words.
"""

import codecs
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar
from unicodedata import category, normalize

import numpy as np
from scipy import sparse

from cdspp.core.errors import DataError
from cdspp.features.base import FileExtractor

logger = logging.getLogger(__name__)

# First and further characters of a token.
TOKEN_PARTS = {"letters": (r"[^\W\d_]", r"[^\W\d_]"), "words": (r"[^\W\d]", r"\w")}
CHARACTERS = "characters"
JOINERS = "\u200c\u200d"  # invisible, inside words of Persian and Indic scripts
# Scripts without spaces: Thai, Lao, Myanmar, Khmer, Tai, Japanese, Chinese, in turn.
UNSPACED = (
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf"
    "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u9fff\ua9e0-\ua9ff\uaa60-\uaadf"
    "\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U000323af"
)


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
    #: In scripts without spaces, the first two give pairs of neighbouring letters.
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
        self.check_choice("tokens", (*TOKEN_PARTS, CHARACTERS))
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
        vectorizer = self._vectorizer()
        texts = [*map(self._read, files)]
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

    def terms(self, file: Path) -> list[str]:
        """Return the terms of a file in its order, with those that are rare."""
        return [*map(str, self._vectorizer().build_analyzer()(self._read(file)))]

    def _vectorizer(self) -> Any:
        from sklearn.feature_extraction.text import TfidfVectorizer

        options = ("lowercase", "stop_words", "min_df", "max_features", "sublinear_tf")
        by_word = self.tokens != CHARACTERS
        return TfidfVectorizer(
            analyzer="word" if by_word else "char_wb",
            token_pattern=None,
            tokenizer=partial(_tokens, kind=self.tokens) if by_word else None,
            ngram_range=(1, self.ngram),
            max_df=float(self.max_df),
            **{option: getattr(self, option) for option in options},
        )

    def _read(self, path: Path) -> str:
        try:
            text = path.read_text(encoding=self.encoding)
        except (OSError, UnicodeError) as error:
            message = f"{path}: cannot be read as {self.encoding} ({error})."
            raise DataError(f"{message} Convert the file, or set encoding.") from error
        return normalize("NFC", text)


def _tokens(text: str, kind: str) -> list[str]:
    """Return the tokens of a text.

    >>> _tokens("हिन्दी भाषा, cat_food", "letters")
    ['हिन्दी', 'भाषा', 'cat', 'food']
    >>> _tokens("機械学習 and ภาษา", "words")
    ['機械', '械学', '学習', 'and', 'ภา', 'าษ', 'ษา']
    """
    first, further = TOKEN_PARTS[kind]
    letter = f"(?=[^\\W\\d_])[{UNSPACED}]"
    marks = "".join(sorted(k for k in {*text} if category(k)[0] == "M" or k in JOINERS))
    mark = f"[{marks}]" if marks else "(?!)"
    if text.isascii() or not re.search(letter, text):
        return re.findall(f"{first}(?:{further}|{mark})+", text)
    # Runs in one script, of which those without spaces fill the first group.
    spaced = f"(?!{letter})"
    word = f"{spaced}{first}(?:{spaced}{further}|{mark})+"
    tokens = list[str]()
    for run in re.finditer(f"((?:{letter}{mark}*)+)|{word}", text):
        letters = re.findall(f"{letter}{mark}*", run[1] or "")
        tokens += [*map("".join, pairwise(letters))] or letters or [run[0]]
    return tokens
