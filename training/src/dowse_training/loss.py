"""What a batch is trained to do: rank its own code first (contrast), score like teachers (distillation)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

_FAR = -1e4  # what a hidden pair scores, as a logit


@dataclass(frozen=True, slots=True)
class Taught:
    """What the teachers say of a batch: their mean scores, and the vectors of the first of them."""

    scores: Tensor
    vectors: Tensor


def contrast(queries: Tensor, codes: Tensor, hidden: Tensor, temperature: float) -> Tensor:
    """Cross entropy of query → code and code → query; codes beyond the queries are negatives of all."""
    count = len(queries)
    logits = (queries @ codes.T).masked_fill(hidden, _FAR * temperature) / temperature
    own = torch.arange(count, device=queries.device)
    return (F.cross_entropy(logits, own) + F.cross_entropy(logits[:, :count].T, own)) / 2


def matryoshka(
    queries: Tensor, codes: Tensor, hidden: Tensor, temperature: float, dimensions: Sequence[int]
) -> Tensor:
    """The contrast, or its mean over the first so many dimensions, so that vectors may be cut later."""
    if not dimensions:
        return contrast(queries, codes, hidden, temperature)
    losses = [
        contrast(F.normalize(queries[:, :d], dim=1), F.normalize(codes[:, :d], dim=1), hidden, temperature)
        for d in dimensions
    ]
    return torch.stack(losses).mean()


def taught(vectors: Sequence[Tensor], count: int) -> Taught:
    """Join what several teachers make of one batch whose first `count` sequences are queries."""
    scores = torch.zeros((), device=vectors[0].device)
    for one in vectors:
        scores = scores + one[:count] @ one[count:].T
    return Taught(scores / len(vectors), vectors[0])


def distillation(student: Tensor, teacher: Taught, count: int, temperature: float, distance: float) -> Tensor:
    """Divergence of the student's score rows and columns from the teacher's, and distance of the vectors."""
    own = student[:count] @ student[count:].T / temperature
    theirs = teacher.scores / temperature
    loss = (divergence(own, theirs) + divergence(own[:, :count].T, theirs[:, :count].T)) / 2
    if distance:
        loss = loss + distance * (student - teacher.vectors).pow(2).sum(1).mean()
    return loss


def divergence(student: Tensor, teacher: Tensor) -> Tensor:
    """How far the student's rows of scores are from ordering like the teacher's."""
    return F.kl_div(F.log_softmax(student, 1), F.softmax(teacher, 1), reduction="batchmean")
