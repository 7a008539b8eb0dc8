"""The scale of verdicts on a source: words, signs, colours and reasons, in one place.

Tables, figures, pages, commands and files read them here. The rules that lead to a
verdict are in `cdspp.analysis.verdicts`, those of `compare` in `cdspp.analysis.vote`.
"""

from enum import Enum
from typing import Self


class Transfer(Enum):
    """The effect of a source on a method.

    Attributes
    ----------
    word : str
        The verdict in tables and files.
    sentence : str
        The verdict in running text.
    preposition : str
        It joins the sentence and the name of a method; may be empty.
    sign, marker : str
        A character for texts, and a marker of Matplotlib.
    colour : str
        On a light background.
    """

    POSITIVE = "positive transfer", "the source helps", "", "▲", "^", "#12703f"
    NEGATIVE = "negative transfer", "the source hurts", "", "▼", "v", "#b3370f"
    NO_EFFECT = "no effect", "no effect of the source", "on ", "■", "s", "#22262b"
    INCONCLUSIVE = "inconclusive", "inconclusive", "for ", "○", "o", "#6b7280"

    def __init__(
        self,
        word: str,
        sentence: str,
        preposition: str,
        sign: str,
        marker: str,
        colour: str,
    ) -> None:
        self.word, self.sentence, self.preposition = word, sentence, preposition
        self.sign, self.marker, self.colour = sign, marker, colour

    def __str__(self) -> str:
        """Return the word."""
        return self.word

    @property
    def key(self) -> str:
        """The name of a style class: positive, negative, no-effect, inconclusive."""
        return self.name.lower().replace("_", "-")

    @property
    def decided(self) -> bool:
        """True if the source helps or hurts; such verdicts are bold."""
        return self in (Transfer.POSITIVE, Transfer.NEGATIVE)

    @property
    def face(self) -> str:
        """The colour inside a marker: hollow if inconclusive."""
        return "white" if self is Transfer.INCONCLUSIVE else self.colour

    @property
    def label(self) -> str:
        """The sign and the word."""
        return f"{self.sign} {self.word}"

    @classmethod
    def of(cls, word: str) -> Self:
        """Return the verdict with a word."""
        return next(each for each in cls if each.word == word)

    @classmethod
    def words(cls) -> dict[str, str]:
        """Return the words as fields of texts: ``{positive}``, ``{no_effect}``, ..."""
        return {each.name.lower(): each.word for each in cls}

    def on(self, method: str) -> str:
        """Return the verdict on a method in running text."""
        return f"{self.sentence} {self.preposition}{method}"


# Why a verdict is inconclusive, by precedence.
NOT_RUN = "controls not run"
TOO_FEW = "fewer than five trials"
DEGENERATE = "degenerate fits"
DISAGREE = "accuracy and balanced accuracy disagree"
NOT_SPECIFIC = "gain not specific to the source's labels"
NOT_DECIDED = "trials do not decide"
# The two gains that figures and the page show beside a verdict.
OVER_OWN_FIT = "gain over its own fit without a source"
OVER_STRONGEST = "gain over the strongest comparator"


def margin_text(margin: float) -> str:
    """Return the margin of *no effect*, a fraction, in points."""
    points = f"{100 * margin:.2g}"
    return f"within ±{points} point{'' if points == '1' else 's'}"
