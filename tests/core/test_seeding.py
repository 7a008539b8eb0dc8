"""Seeds depend on names alone."""

from __future__ import annotations

import os
import subprocess
import sys

from cdspp.core.seeding import integer_seed


def test_each_name_and_their_order_matter() -> None:
    names = [(0, "a", 1), (1, "a", 0), (0, "a", 2), (0, "b", 1)]
    names += [("0", "a", 1), (0, "a,1"), ("a", 0, 1)]
    assert len({integer_seed(*axes) for axes in names}) == len(names)


def test_another_process_with_another_hash_seed_draws_the_same() -> None:
    code = "from cdspp.core.seeding import integer_seed as draw; print(draw(0, 'a', 1))"
    command = [sys.executable, "-c", code]
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        drawn = subprocess.check_output(command, env=environment, text=True)
        assert int(drawn) == integer_seed(0, "a", 1)
