"""How good the current weights are: evaluation sets as token ids, and pools of pairs kept from training."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from dowse.encoders.document import Form
from dowse.errors import ConfigError
from dowse_training.corpus import Corpus, Piece
from dowse_training.model import Network, Parameters
from dowse_training.queries import paragraphs
from dowse_training.views import closed, plain_code

POOL = 1000
_NDCG_DEPTH = 10
# Longest parts of a document: qualifier, name, documentation, its first sentence; code goes up to the limit.
_PART_IDS = {"P": 8, "Q": 24, "N": 24, "S": 48, "s": 48}
_FORM = Form()  # what an index reads of a query, and how much it makes of documentation


class Task(NamedTuple):
    """One row of the report: a set and the parts of its documents ("+s": a second vector is added)."""

    tag: str
    name: str
    parts: str
    graded: bool = False
    extra: bool = False


TASKS = (
    Task("csn", "csn-python", "QNc"),
    Task("csn-path", "csn-python", "PQNc"),
    Task("csn-noQ", "csn-python", "Nc", extra=True),
    Task("cosqa-kept", "cosqa", "NSc"),
    Task("cosqa-added", "cosqa", "Nc+s"),
    Task("cosqa-strip", "cosqa", "Nc"),
    Task("chal", "csn-challenge-python", "NSc", graded=True),
    Task("chal-Q", "csn-challenge-python", "QNSc", graded=True, extra=True),
    Task("chal-added", "csn-challenge-python", "Nc+s", graded=True),
    Task("chal-strip", "csn-challenge-python", "Nc", graded=True),
    Task("chal-path", "csn-challenge-python", "PQNc", graded=True),
)
_QUERIES = ("q", "q-summary")


class EvaluationSet:
    """Documents, queries and judgements of an npz file: SET.PART.len/tok and SET.QUERIES.len/tok/rel/tune."""

    def __init__(self, path: Path, device: torch.device) -> None:
        if not path.exists():
            raise ConfigError(f"there is no evaluation set {path}")
        self._device = device
        with np.load(path, allow_pickle=False) as arrays:
            self._arrays = {key: arrays[key] for key in arrays.files}

    def __contains__(self, key: str) -> bool:
        return f"{key}.len" in self._arrays

    def tensor(self, key: str) -> Tensor:
        """One array on the device; ids as wide integers."""
        array = self._arrays[key]
        wide = array.astype(np.int64) if array.dtype == np.uint16 else array
        return torch.from_numpy(wide).to(self._device)

    def piece(self, key: str, columns: int) -> Piece:
        """The first ids of each sequence of a part."""
        length, ids = self.tensor(f"{key}.len").long(), self.tensor(f"{key}.tok")
        column = torch.arange(columns, device=self._device)[None]
        if not len(ids):
            nothing = torch.zeros(len(length), columns, dtype=torch.int64, device=self._device)
            return Piece(nothing, nothing.bool())
        start = F.pad(length.cumsum(0), (1, 0))[:-1, None]
        return Piece(ids[(start + column).clamp(max=len(ids) - 1)], column < length[:, None])

    def documents(self, name: str, parts: str, limit: int) -> Piece:
        """Documents of a set, made of some parts."""
        return closed([self.piece(f"{name}.{part}", _PART_IDS.get(part, limit)) for part in parts], limit)


def evaluate(
    network: Network, parameters: Parameters, sets: EvaluationSet, limit: int, *, full: bool = False
) -> dict[str, list[float]]:
    """For each task MRR (nDCG@10 if graded) of all queries, of the half to tune on, and of the other half."""
    report = {}
    for task in TASKS:
        known = all(f"{task.name}.{part}" in sets for part in task.parts.replace("+", ""))
        if not known or (task.extra and not full):
            continue
        documents = _documents(network, parameters, sets, task, limit)
        for kind in _QUERIES:
            key = f"{task.name}.{kind}"
            if key not in sets:
                continue
            queries = network.encode(parameters, closed([sets.piece(key, _FORM.query)], _FORM.tokens))
            judged, tune = sets.tensor(f"{key}.rel"), sets.tensor(f"{key}.tune").bool()
            score = _ndcg if task.graded else _reciprocal_rank
            values = score(queries @ documents.T, judged)
            halves = (values, values[tune], values[~tune])
            report[task.tag + kind[1:]] = [round(float(half.mean()), 4) for half in halves]
    return report


def valid(network: Network, parameters: Parameters, corpus: Corpus, limit: int) -> dict[str, list[float]]:
    """For each language the size of a pool of pairs kept aside (at most 1,000) and the MRR in it."""
    report = {}
    for language, (start, end) in corpus.ranges.items():
        generator = torch.Generator().manual_seed(7)
        pairs = start + torch.randperm(end - start, generator=generator)[:POOL].to(corpus.device)
        codes = network.encode(parameters, plain_code(corpus, pairs, limit))
        scores = network.encode(parameters, paragraphs(corpus, pairs)) @ codes.T
        ranks = (scores > scores.diagonal()[:, None]).sum(1) + 1
        report[language] = [len(pairs), round(float((1 / ranks.float()).mean()), 4)]
    return report


def _documents(
    network: Network, parameters: Parameters, sets: EvaluationSet, task: Task, limit: int
) -> Tensor:
    parts, _, added = task.parts.partition("+")
    vectors = network.encode(parameters, sets.documents(task.name, parts, limit))
    if added:
        present = (sets.tensor(f"{task.name}.{added}.len") > 0)[:, None]
        more = network.encode(parameters, sets.documents(task.name, added, limit))
        vectors = F.normalize(vectors + _FORM.docs_weight * more * present, dim=1)
    return vectors


def _reciprocal_rank(scores: Tensor, judged: Tensor) -> Tensor:
    """1 / rank of the best relevant document of each query."""
    query, document = judged[:, 0].long(), judged[:, 1].long()
    rank = (scores[query] > scores[query, document][:, None]).sum(1) + 1
    worst = torch.full((len(scores),), 10**9, device=scores.device)
    return 1 / worst.scatter_reduce(0, query, rank, "amin").float()


def _ndcg(scores: Tensor, judged: Tensor) -> Tensor:
    gain = torch.zeros_like(scores)
    gain[judged[:, 0].long(), judged[:, 1].long()] = 2.0 ** judged[:, 2] - 1
    depth = min(_NDCG_DEPTH, scores.shape[1])
    discount = 1 / torch.log2(torch.arange(2, depth + 2, device=scores.device).float())
    reached = (gain.gather(1, scores.topk(depth).indices) * discount).sum(1)
    return reached / (gain.topk(depth).values * discount).sum(1).clamp(min=1e-9)
