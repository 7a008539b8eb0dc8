"""Options of the extractors: a wrong value is refused by name."""

from __future__ import annotations

import re
from typing import Any

import pytest

from cdspp.core.errors import ConfigError
from cdspp.features import make_extractor

NAMELESS = "name must be the name of published features"
ONE_SIZE = "exactly one of n_components and energy"
WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("cnn", {"network": "vgg"}, "alexnet, vgg16, resnet50, got 'vgg': did you mean"),
    ("cnn", {"layer": "fc8"}, "one of fc6, fc7, pool for alexnet, got 'fc8'"),
    ("cnn", {"network": "resnet50"}, "one of pool for resnet50, got 'fc6'"),
    ("cnn", {"resize": "squared"}, "got 'squared': did you mean 'square'"),
    ("cnn", {"seed": -1}, "seed must be an integer of 0 or more, got -1"),
    ("cnn", {"weights": None}, "weights must be a text, got None"),
    ("pca", {}, ONE_SIZE + ", got n_components=None"),
    ("pca", {"n_components": 0}, "n_components must be an integer of 1 or more"),
    ("pca", {"energy": 0}, "energy must be a number above 0, at most 1, got 0"),
    ("pca", {"energy": 0.5, "center": 1}, "center must be true or false, got 1"),
    ("published", {}, NAMELESS),
    ("text", {"tokens": "letter"}, "got 'letter': did you mean 'letters'"),
    ("text", {"stop_words": "german"}, "must be one of english, got 'german'"),
    ("text", {"encoding": "utf-9"}, "must be the name of an encoding, got 'utf-9'"),
    ("visual-words", {"sampling": "sparse"}, "one of dense, detected, got 'sparse'"),
    ("visual-words", {"max_side": 0}, "an integer of 1 or more or null, got 0"),
    ("visual-words", {"codebook_domain": 3}, "must be the name of a domain, got 3"),
    ("cnn", {"layr": "fc6"}, "no option 'layr': did you mean 'layer'"),
    ("visual-word", {}, "'visual-word': did you mean 'visual-words'"),
]


@pytest.mark.parametrize(("name", "options", "message"), WRONG)
def test_a_wrong_extractor_or_option_is_named(
    name: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        make_extractor(name, **options)
