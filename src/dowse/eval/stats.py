"""How sure a figure is: bootstrap intervals of means, and a paired test that tells differences from noise.

Everything is deterministic: the same values in the same order give the same answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

# Below this chance that the signs of the differences are a coin's, a difference is called real.
SIGNIFICANT = 0.05
# With fewer cases that differ no flip of signs is rarer than 1 in 20: nothing can be real.
FEWEST = 6
# Up to so many cases that differ, every flip of signs is tried (2^14), more are sampled.
_EXACT = 14
# Sampled flips: p is then known to ± .004 where it matters, at .05.
_FLIPS = 10_000
# Differences below this are rounding, not quality.
_DUST = 1e-12
# Numbers held at once while resampling: 8 MB, which a processor's cache can mostly hold.
_AT_ONCE = 1 << 20


class Difference(NamedTuple):
    """By how much one way of searching is better than another on the same questions."""

    mean: float
    low: float  # the 95 % interval of the mean
    high: float
    p: float  # the chance of a difference as large if both were equally good
    real: bool  # whether p is below .05; never with fewer than 6 cases that differ


def bootstrap(
    values: Sequence[float], *, level: float = 0.95, rounds: int = 2000, seed: int = 0
) -> tuple[float, float]:
    """Return the interval of a mean: percentiles of the means of resampled values.

    It says how the mean depends on which questions were asked. Under some 20 values it is too narrow.
    """
    return bootstrap_macro([values], level=level, rounds=rounds, seed=seed)


def bootstrap_macro(
    groups: Sequence[Sequence[float]], *, level: float = 0.95, rounds: int = 2000, seed: int = 0
) -> tuple[float, float]:
    """Return the interval of the mean of several groups' means; values are resampled inside their group.

    The groups themselves stay: it says nothing of other repositories than these.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    means = sum(_resampled_means(group, rounds, rng) for group in _arrays(groups)) / len(groups)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def compare(a: Sequence[float], b: Sequence[float]) -> Difference:
    """Return how much better a is than b, case by case in the same order, and whether that is real.

    If both were equally good, each case's difference could as well have the other sign. p is the share of all
    flips of signs whose mean is at least as far from 0: exact where few cases differ, sampled otherwise.
    """
    return compare_macro([a], [b])


def compare_macro(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]) -> Difference:
    """Return the same for means of several groups' means: every group weighs the same."""
    import numpy as np

    if [len(group) for group in a] != [len(group) for group in b]:
        raise ValueError("both sides must have the same cases; compare results of the same questions")
    pairs = zip(_arrays(a), _arrays(b), strict=True)
    differences = [np.where(np.abs(one - other) > _DUST, one - other, 0.0) for one, other in pairs]
    shares = np.concatenate([group / group.size / len(differences) for group in differences])
    low, high = bootstrap_macro([group.tolist() for group in differences])
    p = _sign_flip_p(shares[shares != 0])
    return Difference(float(shares.sum()), low, high, p, p < SIGNIFICANT)


def _arrays(groups: Sequence[Sequence[float]]) -> list[Numbers]:
    import numpy as np

    arrays = [np.asarray(group, dtype=np.float64) for group in groups]
    if not arrays or not all(group.size for group in arrays):
        raise ValueError("there are no values; leave out what has no cases")
    return arrays


def _resampled_means(values: Numbers, rounds: int, rng: np.random.Generator) -> Numbers:
    import numpy as np

    chosen = (rng.integers(values.size, size=(size, values.size)) for size in _chunks(rounds, values.size))
    return np.concatenate([values[rows].mean(axis=1) for rows in chosen])


def _sign_flip_p(differences: Numbers) -> float:
    """Return the share of flips of signs whose sum is as far from 0 as that of the differences."""
    import numpy as np

    count, total = differences.size, differences.sum()
    exact = count <= _EXACT
    # A sum that is equal but for rounding is equal; each term's error is some 1e-16 of it.
    bound = abs(total) - 1e-10 * np.abs(differences).sum()
    flips = _every_choice(count) if exact else _random_choices(count)
    # The sum after flips is twice what keeps its sign, less the sum of all.
    far = sum(int((np.abs(2 * (kept @ differences) - total) >= bound).sum()) for kept in flips)
    # The order that was seen is one of the possible ones: p is never 0.
    return far / 2**count if exact else (far + 1) / (_FLIPS + 1)


def _every_choice(count: int) -> Iterator[Numbers]:
    """Give all rows of 0 and 1 of a length."""
    import numpy as np

    yield (np.arange(2**count)[:, None] >> np.arange(count) & 1).astype(np.float64)


def _random_choices(count: int) -> Iterator[Numbers]:
    """Give random rows of 0 and 1, some at a time."""
    import numpy as np

    rng = np.random.default_rng(0)
    for size in _chunks(_FLIPS, count):
        bits = np.frombuffer(rng.bytes(size * count // 8 + 1), dtype=np.uint8)
        yield np.unpackbits(bits)[: size * count].reshape(size, count).astype(np.float64)


def _chunks(rounds: int, width: int) -> Iterator[int]:
    """Cut rounds so that each piece, a row of `width` a round, stays small."""
    step = max(1, _AT_ONCE // width)
    for start in range(0, rounds, step):
        yield min(step, rounds - start)
