"""What is computed once for equal arrays, and where not."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from cdspp.core.memory import MAX_CACHED, computed_once, shared_results


class Counted:
    """A function that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, X: np.ndarray, *options: int) -> np.ndarray:
        self.calls += 1
        return X.sum(axis=0) + sum(options)


def test_equal_arrays_are_computed_once_within_the_block_and_each_time_outside() -> (
    None
):
    function, X = Counted(), np.arange(6.0).reshape(3, 2)
    with shared_results():
        first = computed_once(function, X, 1)
        assert computed_once(function, X.copy(), 1) is first
        assert computed_once(function, np.asfortranarray(X), 1) is first
    assert function.calls == 1
    computed_once(function, X, 1)
    with shared_results():
        computed_once(function, X, 1)
    assert function.calls == 3


def test_other_values_shape_type_or_option_is_computed() -> None:
    function, X = Counted(), np.arange(6.0).reshape(3, 2)
    others = [(X + 1, 1), (X.reshape(2, 3), 1), (X.view(np.int64), 1), (X, 2)]
    with shared_results():
        computed_once(function, X, 1)
        found = [computed_once(function, *other) for other in others]
    assert function.calls == 5
    for one, other in zip(found, others, strict=True):
        np.testing.assert_array_equal(one, function(*other))


def test_sparse_rows_are_known_by_values_and_places() -> None:
    function = Counted()
    X = sparse.csr_array(np.diag([1.0, 2.0, 3.0]))
    moved = sparse.csr_array(np.roll(X.toarray(), 1, axis=1))
    with shared_results():
        computed_once(function, X)
        computed_once(function, X.copy())
        assert function.calls == 1
        computed_once(function, moved)
    assert function.calls == 2


def test_another_function_has_results_of_its_own() -> None:
    X = np.ones((2, 2))
    with shared_results():
        assert computed_once(np.sum, X) == 4.0
        assert computed_once(np.prod, X) == 1.0


def test_the_results_used_last_are_kept_and_no_more() -> None:
    function = Counted()
    with shared_results():
        for value in range(MAX_CACHED):
            computed_once(function, np.array([[value]]))
        computed_once(function, np.array([[0]]))
        computed_once(function, np.array([[MAX_CACHED]]))
        assert function.calls == MAX_CACHED + 1
        computed_once(function, np.array([[0]]))
        assert function.calls == MAX_CACHED + 1
        computed_once(function, np.array([[1]]))
    assert function.calls == MAX_CACHED + 2
