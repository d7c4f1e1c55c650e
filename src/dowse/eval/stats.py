"""Statistics of means over queries: bootstrap confidence intervals, and a paired randomisation test.

Everything is deterministic: the same values in the same order give the same answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dowse.lazy_classes import NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

# The significance level: a difference with a smaller p is called real.
SIGNIFICANT = 0.05
# With fewer cases that differ no permutation of signs is rarer than 1 in 20: nothing can be significant.
FEWEST = 6
# Up to so many cases that differ the test is exact (2^14 permutations), with more it is sampled.
_EXACT = 14
# Sampled permutations: p is then known to ± .004 where it matters, at .05.
_PERMUTATIONS = 10_000
# Differences below this are rounding errors.
_EPSILON = 1e-12
# Numbers held at once while resampling: 8 MB, which mostly fits into a processor's cache.
_BATCH = 1 << 20


class Difference(NamedTuple):
    """By how much one row is better than another on the same queries."""

    mean: float
    low: float  # the 95 % confidence interval of the mean
    high: float
    p: float  # the probability of a difference as large under the null hypothesis that both are equal
    real: bool  # whether p is below .05; never with fewer than 6 cases that differ


def bootstrap(
    values: Sequence[float], *, level: float = 0.95, rounds: int = 2000, seed: int = 0
) -> tuple[float, float]:
    """Return the percentile bootstrap interval of a mean (Efron 1979).

    It says how the mean depends on the sample of queries. Below some 20 values it is too narrow.
    """
    return bootstrap_macro([values], level=level, rounds=rounds, seed=seed)


def bootstrap_macro(
    groups: Sequence[Sequence[float]], *, level: float = 0.95, rounds: int = 2000, seed: int = 0
) -> tuple[float, float]:
    """Return the bootstrap interval of a macro average; values are resampled inside their group.

    The groups themselves are fixed: it says nothing of other repositories than these.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    means = sum(_resampled_means(group, rounds, rng) for group in _arrays(groups)) / len(groups)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def compare_macro(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]) -> Difference:
    """Return how much better a is than b, case by case in the same order, and whether that is significant.

    A paired randomisation test (Fisher 1935; Smucker, Allan & Carterette, CIKM 2007): if both were equally
    good, each case's difference could as well have the other sign. p is the share of all sign flips whose
    mean is at least as far from 0: exact where few cases differ, sampled otherwise. Every group of cases
    weighs the same.
    """
    import numpy as np

    if [len(group) for group in a] != [len(group) for group in b]:
        raise ValueError("both sides must have the same cases; compare results of the same questions")
    pairs = zip(_arrays(a), _arrays(b), strict=True)
    differences = [np.where(np.abs(one - other) > _EPSILON, one - other, 0.0) for one, other in pairs]
    shares = np.concatenate([group / group.size / len(differences) for group in differences])
    low, high = bootstrap_macro([group.tolist() for group in differences])
    p = _permutation_p(shares[shares != 0])
    return Difference(float(shares.sum()), low, high, p, p < SIGNIFICANT)


def _arrays(groups: Sequence[Sequence[float]]) -> list[Numbers]:
    import numpy as np

    arrays = [np.asarray(group, dtype=np.float64) for group in groups]
    if not arrays or not all(group.size for group in arrays):
        raise ValueError("there are no values; leave out what has no cases")
    return arrays


def _resampled_means(values: Numbers, rounds: int, rng: np.random.Generator) -> Numbers:
    import numpy as np

    samples = (rng.integers(values.size, size=(size, values.size)) for size in _batches(rounds, values.size))
    return np.concatenate([values[rows].mean(axis=1) for rows in samples])


def _permutation_p(differences: Numbers) -> float:
    """Return the share of sign flips whose sum is as far from 0 as that of the differences."""
    import numpy as np

    count, total = differences.size, differences.sum()
    exact = count <= _EXACT
    # A sum that is equal but for rounding is equal; each term's error is some 1e-16 of it.
    bound = abs(total) - 1e-10 * np.abs(differences).sum()
    # The sum after flips is twice the sum of what keeps its sign, less the sum of all.
    far = sum(
        int((np.abs(2 * (kept @ differences) - total) >= bound).sum())
        for kept in (_all_sign_choices(count) if exact else _random_sign_choices(count))
    )
    # The observed order is one of the permutations: p is never 0.
    return far / 2**count if exact else (far + 1) / (_PERMUTATIONS + 1)


def _all_sign_choices(count: int) -> Iterator[Numbers]:
    """Give all rows of 0 and 1 of a length."""
    import numpy as np

    yield (np.arange(2**count)[:, None] >> np.arange(count) & 1).astype(np.float64)


def _random_sign_choices(count: int) -> Iterator[Numbers]:
    """Give random rows of 0 and 1, a batch at a time."""
    import numpy as np

    rng = np.random.default_rng(0)
    for size in _batches(_PERMUTATIONS, count):
        bits = np.frombuffer(rng.bytes(size * count // 8 + 1), dtype=np.uint8)
        yield np.unpackbits(bits)[: size * count].reshape(size, count).astype(np.float64)


def _batches(rounds: int, width: int) -> Iterator[int]:
    """Split rounds into batches, of which each, a row of `width` a round, stays small."""
    step = max(1, _BATCH // width)
    for start in range(0, rounds, step):
        yield min(step, rounds - start)
