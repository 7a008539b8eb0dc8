"""The list of seeded faults fits the code; tests/seeded_faults.py tries the faults."""

from __future__ import annotations

from collections import Counter

import pytest
from seeded_faults import ROOT, SeededFault, read_faults


@pytest.mark.parametrize("fault", read_faults(), ids=lambda fault: fault.name)
def test_a_fault_has_its_text_once_in_its_file_and_tests(fault: SeededFault) -> None:
    code = fault.source(ROOT).read_text(encoding="utf-8")
    assert code.count(fault.text) == 1, f"{fault.file} and {fault.name} have come apart"
    assert fault.fault != fault.text
    assert all((ROOT / path).exists() for path in fault.test_paths)


def test_no_two_faults_have_one_name() -> None:
    assert set(Counter(fault.name for fault in read_faults()).values()) == {1}
