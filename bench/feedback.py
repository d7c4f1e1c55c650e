"""What feedback is worth, in simulation: people who ask again, people who err, and people who cheat.

    python bench/feedback.py --data DIR [--encoder base] [--out bench/results/feedback.json]

`--data` holds csn-python, cosqa and csn-challenge-python in BEIR's layout. Half of each set's questions are
asked, once a round each, by one of twenty visitors; the other half never are. What a visitor does is a
dynamic Bayesian network (Chapelle and Zhang, 2009): from the top, look at a hit, click it if it attracts,
stop if it satisfied, or out of impatience. Some sessions are noise: one click, anywhere on the page. The
lanes answer each question once; each round then orders their candidates with what was recorded so far, by
the functions that a search uses, on a real store.

Measured on the same questions, on similar ones that nobody asked (the first paragraph of a docstring
instead of all of it; elsewhere the same question with a word less), and on all the others, which must not
suffer. Then attacks: visitors push an irrelevant hit by asking in twenty other wordings, or the same.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from dowse import Index
from dowse.eval.datasets.build import half_of
from dowse.eval.metrics import ndcg, reciprocal_rank
from dowse.feedback.boosts import feedback_boosts
from dowse.feedback.events import Event
from dowse.feedback.store import FeedbackStore
from dowse.parsing.tokenizer import STOP_WORDS
from dowse.search.lanes.bm25 import without_language
from dowse.search.ranking.feedback import MAX_CANDIDATES, feedback_order
from dowse.search.ranking.fusion import idf
from dowse.storage.protocol import Reader

from common import milliseconds, work_folder, write_results
from quality import beir_cases, plain

ROUNDS, VISITORS, SHOWN = 10, 20, 10
# Questions of each half of a set.
MOST = 250
NOISE = (0.0, 0.1, 0.3)
# The model of a visitor: what attracts, what satisfies, and who goes on after a hit that did neither.
ATTRACTED, ATTRACTED_BY_WRONG = 0.9, 0.05
SATISFIED, SATISFIED_BY_WRONG = 0.9, 0.1
PATIENCE = 0.9
# Attacks: other wordings that are used, and how many cheat together.
WORDINGS, CHEATS = 20, (1, 2, 5)
# Docstrings can be pages; nobody types so much.
LONGEST = 1_000
SEED = 20_240_607


@dataclass(frozen=True)
class Question:
    """A question with the lanes' candidates, and one like it."""

    text: str
    similar: str  # "" where there is none
    grades: Mapping[str, float]


@dataclass(frozen=True)
class World:
    """A set: its questions, the answers of its lanes, and what words are worth in it."""

    asked: list[Question]
    others: list[Question]
    candidates: dict[str, list[str]]  # ids, best first, by text
    scores: dict[str, list[float]]
    worth: Callable[[str], float]

    def ranked(self, store: FeedbackStore, text: str) -> list[str]:
        """Return the answer to a question, as it is after what was recorded."""
        ids, boosts = self.candidates[text], feedback_boosts(store, text, idf=self.worth)
        return [ids[rank] for rank in feedback_order([boosts.get(each) for each in ids], self.scores[text])]

    def quality(self, store: FeedbackStore, texts: Sequence[tuple[str, Question]]) -> dict[str, float]:
        """Return the means over some questions."""
        answers = [(self.ranked(store, text), question.grades) for text, question in texts]
        return {
            "mrr": _mean(reciprocal_rank(ranked, grades) for ranked, grades in answers),
            "ndcg@10": _mean(ndcg(ranked, grades, 10) for ranked, grades in answers),
        }

    def measure(self, store: FeedbackStore) -> dict[str, dict[str, float]]:
        """Return how well the three kinds of questions are answered."""
        return {
            "same": self.quality(store, [(each.text, each) for each in self.asked]),
            "similar": self.quality(store, [(each.similar, each) for each in self.asked if each.similar]),
            "others": self.quality(store, [(each.text, each) for each in self.others]),
        }


def session(
    ranked: Sequence[str], grades: Mapping[str, float], noise: float, dice: random.Random
) -> list[int]:
    """Return the places that one visitor clicks, from 0."""
    shown = ranked[:SHOWN]
    if dice.random() < noise:
        return [dice.randrange(len(shown))] if shown else []
    best = max(grades.values(), default=1.0)
    clicked = []
    for place, each in enumerate(shown):
        good = grades.get(each, 0.0) / best
        if dice.random() < ATTRACTED_BY_WRONG + (ATTRACTED - ATTRACTED_BY_WRONG) * good:
            clicked.append(place)
            if dice.random() < SATISFIED_BY_WRONG + (SATISFIED - SATISFIED_BY_WRONG) * good:
                break
        elif dice.random() > PATIENCE:
            break
    return clicked


def live(world: World, store: FeedbackStore, noise: float, rounds: int) -> list[dict[str, dict[str, float]]]:
    """Let visitors ask, round by round; return what was measured before each, and at the end."""
    dice = random.Random(SEED)
    told = [world.measure(store)]
    for _ in range(rounds):
        for question in world.asked:
            ranked = world.ranked(store, question.text)
            visitor = f"visitor {dice.randrange(VISITORS)}"
            for place in session(ranked, question.grades, noise, dice):
                store.record(Event(question.text, ranked[place], "click", visitor, place + 1))
        told.append(world.measure(store))
    return told


def attack(world: World, store: FeedbackStore, cheats: int, *, same: bool) -> dict[str, float]:
    """Push an irrelevant hit of the first page for every question; return how far that leads."""
    dice = random.Random(SEED)
    before = world.quality(store, [(each.text, each) for each in world.asked])
    pushed: list[tuple[Question, str]] = []
    for question in world.asked:
        wrong = [each for each in world.candidates[question.text][1:SHOWN] if each not in question.grades]
        if not wrong:
            continue
        target = dice.choice(wrong)
        pushed.append((question, target))
        texts = [question.text] if same else _wordings(question.text, dice)
        for text in texts:
            for cheat in range(cheats):
                for kind in ("click", "copy", "up"):
                    store.record(Event(text, target, kind, f"cheat {cheat}", 1))
    answers = [(world.ranked(store, question.text), target) for question, target in pushed]
    climbed = [
        world.candidates[question.text].index(target) - ranked.index(target)
        for (question, target), (ranked, _) in zip(pushed, answers, strict=True)
    ]
    after = world.quality(store, [(each.text, each) for each in world.asked])
    return {
        "pushed": len(pushed),
        "first": round(_mean(ranked[0] == target for ranked, target in answers), 4),
        "mean places": round(_mean(climbed), 2),
        "most places": max(climbed),
        "mrr before": round(before["mrr"], 4),
        "mrr after": round(after["mrr"], 4),
    }


def reworded(text: str, dice: random.Random) -> str:
    """Return a question with one telling word less; "" if that would leave too little."""
    words = text.split()
    dropped = [n for n, word in enumerate(words) if word.lower() not in STOP_WORDS]
    if len(dropped) < 3:
        return ""
    gone = dice.choice(dropped)
    return " ".join(word for n, word in enumerate(words) if n != gone)


def _wordings(text: str, dice: random.Random) -> list[str]:
    """Return other wordings of a question, as near to it as a cheat can make them."""
    words = text.split()
    found = {f"{text} {extra}" for extra in ("please", "how", "example", "code", "now", "here")}
    while len(found) < WORDINGS and len(words) > 3:
        found.add(" ".join(dice.sample(words, len(words))))
    return sorted(found - {text})


def worlds(options: argparse.Namespace, work: Path) -> Iterator[tuple[str, World]]:
    """Index the sets and ask all their questions, one set after another."""
    other = "report" if options.asked == "tune" else "tune"
    for name in ("csn-python", "cosqa", "csn-challenge-python"):
        folder = options.data / name
        asked, others = (questions(folder, half) for half in (options.asked, other))
        with Index.open(
            folder,
            index_dir=str(work / name),
            strip_docs=name == "csn-python",
            encoder=options.encoder,
            isolation="never",
        ) as index:
            index.update()
            if options.encoder != "none":
                index.embed()
            texts = [text for each in (*asked, *others) for text in (each.text, each.similar) if text]
            hits = {
                text: index.search(text, k=MAX_CANDIDATES, feedback=False).hits
                for text in dict.fromkeys(texts)
            }
            candidates = {text: [hit.symbol.id for hit in found] for text, found in hits.items()}
            scores = {text: [hit.score for hit in found] for text, found in hits.items()}
            with index.backend.reader() as reader:
                yield name, World(asked, others, candidates, scores, _worth(reader))


def questions(folder: Path, half: str) -> list[Question]:
    """Read the first questions of one half of a set, each with one like it."""
    dice, summaries = random.Random(SEED), {}
    if (folder / "queries-summary.jsonl.gz").exists():
        summaries = {case.id: plain(case.query) for case in beir_cases(folder, "queries-summary")}
    found = []
    for case in [case for case in beir_cases(folder) if half_of(case.id) == half][:MOST]:
        text = plain(case.query)[:LONGEST]
        similar = summaries.get(case.id) or reworded(text, dice)
        found.append(Question(text, similar if similar != text else "", case.relevant))
    return found


def _worth(reader: Reader) -> Callable[[str], float]:
    """Return what it says to share a term, as a search counts it."""
    known: dict[str, float] = {}

    def worth(term: str) -> float:
        if term not in known:
            spoken = without_language(reader, f"{term} _") == "_"
            count = reader.document_frequency(term, "body")
            known[term] = 0.0 if spoken else idf(count, reader.symbol_count())
        return known[term]

    return worth


@contextmanager
def fresh() -> Iterator[FeedbackStore]:
    """Give a store that is empty."""
    with (
        tempfile.TemporaryDirectory(prefix="dowse-feedback-") as folder,
        closing(FeedbackStore(Path(folder) / "feedback.sqlite")) as store,
    ):
        yield store


def recall_cost(world: World, store: FeedbackStore) -> dict[str, float]:
    """Time what a search adds where choices are recorded."""
    times = []
    for question in [*world.asked, *world.others]:
        started = time.perf_counter()
        world.ranked(store, question.text)
        times.append(time.perf_counter() - started)
    return milliseconds(times)


def simulate(world: World, rounds: int) -> dict[str, object]:
    """Run everything on one set."""
    told: dict[str, object] = {
        "asked": len(world.asked),
        "similar": sum(bool(each.similar) for each in world.asked),
        "others": len(world.others),
    }
    for noise in NOISE:
        with fresh() as store:
            table = live(world, store, noise, rounds)
            told[f"noise {noise:.0%}"] = {
                kind: {metric: [round(row[kind][metric], 4) for row in table] for metric in table[0][kind]}
                for kind in table[0]
            }
            if noise == 0.1:
                events = sum(1 for _ in store.events())
                told["recall"] = {"events": events, **recall_cost(world, store)}
                told["1 cheat, same question, after honest visitors"] = attack(world, store, 1, same=True)
    for cheats in CHEATS:
        with fresh() as store:
            told[f"{cheats} cheat(s), other wordings"] = attack(world, store, cheats, same=False)
    return told


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return statistics.mean(found) if found else 0.0


def main() -> None:
    """Simulate on every set and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--encoder", default="base")
    parser.add_argument("--asked", choices=("tune", "report"), default="report", help="which half is asked")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--work", type=Path, help="keep the indexes here")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    table: dict[str, object] = {}
    with work_folder(options.work) as work:
        for name, world in worlds(options, work):
            table[name] = simulate(world, options.rounds)
            print(name, table[name], file=sys.stderr, flush=True)
    if options.out:
        about = {"encoder": options.encoder, "asked": options.asked, "rounds": options.rounds}
        write_results(options.out, {**about, "visitors": VISITORS, "sets": table})


if __name__ == "__main__":
    main()
