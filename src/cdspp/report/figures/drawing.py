"""A figure that knows what was drawn, and its caption."""

from collections.abc import Iterable
from typing import Any, Self, cast

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cdspp.core.wording import listed, task_title
from cdspp.report.registry import FIGURE_CAPTIONS, caption_fields
from cdspp.study.plan import Plans

MOST_TASKS = 4  # that a caption names


class CaptionedFigure(Figure):
    """A figure, the names of the `parts` that were drawn, and `fields` of its caption.

    `trials` has the numbers of trials behind the means that were drawn.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.parts: set[str] = set()
        self.trials: set[int] = set()
        self.fields: dict[str, str] = {}

    @classmethod
    def of(cls, axes: Axes) -> Self:
        """Return the figure of a panel."""
        return cast(Self, axes.figure)

    def caption(self, kind: str) -> str:
        """Return the sentences of a kind of figure on the parts that were drawn."""
        sentences = FIGURE_CAPTIONS.get(kind, {}).items()
        shown = self.parts | {"title", "end"} | ({"means"} if self.trials else set())
        texts = [text for part, text in sentences if part in shown]
        fields = {"trials": trials_text(self.trials), **self.fields}
        return " ".join(" ".join(texts).format(**fields).split())

    def describe(self, plans: Plans, **fields: str) -> None:
        """Set the fields of the caption, besides those of some plans."""
        self.fields = caption_fields(plans) | fields


def trials_text(numbers: Iterable[int]) -> str:
    """Return numbers of trials in words.

    >>> trials_text([10, 5])
    '5 to 10 trials'
    """
    ends = sorted(numbers)
    text = " to ".join(dict.fromkeys(map(str, (*ends[:1], *ends[-1:]))))
    return f"{text} trial{'' if text == '1' else 's'}" if text else "no trial"


def tasks_text(tasks: Iterable[str]) -> str:
    """Return tasks in words; their number if they are many."""
    names = list(map(task_title, tasks))
    return listed(names) if len(names) <= MOST_TASKS else f"{len(names)} tasks"
