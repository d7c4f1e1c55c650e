"""Hard negatives and false ones, found with the model itself: a `Guide` holds the vectors of all pairs."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from dowse_training.corpus import Corpus
from dowse_training.model import Network, Parameters, pack
from dowse_training.plan import Mine
from dowse_training.queries import NAME, paragraphs
from dowse_training.views import plain_code

_ENCODE_ROWS = 16384
_LABEL_ROWS = 32768
_SCORES = 2**30  # scores held at once while negatives are looked for
_NEVER = -2.0  # below every cosine


@dataclass(slots=True)
class Guide:
    """What mining knows of each pair: vectors of query and code, its cluster, its hard negatives."""

    queries: Tensor
    codes: Tensor
    clusters: Tensor
    negatives: Tensor

    def draw(self, pairs: Tensor, count: int) -> Tensor:
        """`count` of the hard negatives of each pair, at random."""
        known = self.negatives[pairs]
        pick = torch.rand(known.shape, device=known.device).topk(count).indices
        return known.gather(1, pick).reshape(-1).long()


def mine(
    network: Network, parameters: Parameters, corpus: Corpus, stage: Mine, limit: int
) -> tuple[Guide, dict[str, float]]:
    """A guide, and for each language how often the own code came first among all of the language."""
    with torch.no_grad():
        queries, codes = _encode(network, parameters, corpus, limit)
        count, device = len(corpus), corpus.device
        clusters = torch.zeros(count, dtype=torch.int64, device=device)
        candidates = stage.candidates if stage.negatives else 0
        negatives = torch.zeros(count, candidates, dtype=torch.int32, device=device)
        first = {}
        for language, (start, end) in corpus.ranges.items():
            q, c = queries[start:end], codes[start:end]
            clusters[start:end] = _clusters(F.normalize((q + c).float(), dim=1).to(c.dtype), stage)
            if stage.negatives:
                found, hits = _ranked(q, c, corpus.same_sentence[start:end], stage)
                negatives[start:end] = (found + start).int()
                first[language] = round(hits / (end - start), 3)
    return Guide(queries, codes, clusters, negatives), first


def false_negatives(
    corpus: Corpus, pairs: Tensor, others: Tensor, kind: Tensor, guide: Guide | None, threshold: float
) -> Tensor:
    """Which of the other codes may answer a row's query as well; its own code, on the diagonal, never counts.

    Equal sentence, equal code, equal name if the name is the query, or by the guide nearly its score.
    """
    with torch.no_grad():
        same = corpus.same_sentence[pairs][:, None] == corpus.same_sentence[others][None]
        same |= corpus.same_code[pairs][:, None] == corpus.same_code[others][None]
        names = corpus.same_name[pairs][:, None] == corpus.same_name[others][None]
        same |= (kind == NAME)[:, None] & names
        if guide is not None and threshold:
            scores = guide.queries[pairs] @ guide.codes[others].T
            same |= scores > threshold * scores.diagonal()[:, None]
        same.diagonal().fill_(False)
    return same


def _encode(network: Network, parameters: Parameters, corpus: Corpus, limit: int) -> tuple[Tensor, Tensor]:
    """Vectors of all queries (first paragraphs) and codes; in half precision on a GPU, to save its memory."""
    number = torch.float16 if corpus.device.type == "cuda" else torch.float32
    queries, codes = [], []
    for start in range(0, len(corpus), _ENCODE_ROWS):
        pairs = torch.arange(start, min(len(corpus), start + _ENCODE_ROWS), device=corpus.device)
        codes.append(network.forward(parameters, pack([plain_code(corpus, pairs, limit)])).to(number))
        queries.append(network.forward(parameters, pack([paragraphs(corpus, pairs)])).to(number))
    return torch.cat(queries), torch.cat(codes)


def _clusters(vectors: Tensor, stage: Mine) -> Tensor:
    """Labels of spherical k-means with `cluster_size` vectors a cluster on average."""
    count = max(1, len(vectors) // stage.cluster_size)
    centres = vectors[torch.randperm(len(vectors), device=vectors.device)[:count]]
    labels = torch.zeros(len(vectors), dtype=torch.int64, device=vectors.device)
    for _ in range(stage.rounds):
        parts = range(0, len(vectors), _LABEL_ROWS)
        labels = torch.cat([(vectors[i : i + _LABEL_ROWS] @ centres.T).argmax(1) for i in parts])
        sums = torch.zeros(count, vectors.shape[1], device=vectors.device)
        centres = F.normalize(sums.index_add_(0, labels, vectors.float()), dim=1).to(vectors.dtype)
    return labels


def _ranked(queries: Tensor, codes: Tensor, same: Tensor, stage: Mine) -> tuple[Tensor, int]:
    """For each query the best codes, without its own, those nearly as good, those of an equal sentence."""
    count, hits, found = len(codes), 0, []
    rows = max(256, min(8192, _SCORES // count))
    for start in range(0, count, rows):
        scores = queries[start : start + rows] @ codes.T
        row = torch.arange(len(scores), device=scores.device)
        own = scores[row, row + start].clone()
        hits += int((scores > own[:, None]).sum(1).eq(0).sum())
        scores.masked_fill_(scores > (stage.threshold * own)[:, None], _NEVER)
        scores[row, row + start] = _NEVER
        top = scores.topk(min(stage.candidates + stage.skip + 8, count))
        useless = (same[top.indices] == same[start : start + rows][:, None]) | (top.values < -1)
        # Useless ones go to the end, the others keep their order; the very best are skipped: often they are
        # right.
        order = useless.int().sort(dim=1, stable=True).indices
        best = top.indices.gather(1, order)[:, stage.skip : stage.skip + stage.candidates]
        if best.shape[1] < stage.candidates:
            best = best[:, torch.arange(stage.candidates, device=best.device) % best.shape[1]]
        found.append(best)
    return torch.cat(found), hits
