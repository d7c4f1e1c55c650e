"""Fits the classifiers that tell how a question is worded, of src/dowse/search/ranking/question_kinds.py.

    python -m dowse_training.question_kinds --cases DIR --checkouts DIR --out question_kinds.json
    python -m dowse_training.question_kinds --questions FILE --checkouts DIR --out user_questions.json

`--cases` has git-NAME.jsonl and docs-NAME.jsonl for each repository NAME below `--checkouts`, as
`dowse eval --build --level symbol`, with and without `--from docs`, writes them: commit subjects are the
examples of a change, sentences of documentation those of a description. Topics are headings of the
repository's documents, and phrases made of its file names and identifiers.

`--questions` has the questions of users (bench/data/questions/tune.jsonl); commit subjects, sentences of
documentation and topics of the repositories below `--checkouts` are the examples of anything else.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dowse.encoders.document import first_sentence
from dowse.index import Index
from dowse.parsing.tokenizer import split_identifier
from dowse.search.ranking.question_kinds import KINDS, features

# Features that are kept: those of so many questions, and of these the ones with the largest weights.
_MIN_QUESTIONS, _MAX_FEATURES = 12, 360
_HEADINGS, _PHRASES = 50, 140
# Of each repository, what is no question of a user, and what users ask that is one.
_SENTENCES, _SUBJECTS, _TOPICS = 75, 50, 75
_ASKED = ("concept", "config", "howto", "change")
_STEPS, _RATE, _PENALTY = 400, 2.0, 3e-4
_HEADING = re.compile(r"#{1,4} +([A-Za-z][\w ,/'()-]{3,60})\s*$")
_NO_TOPICS = re.compile(r"change|news|history|release|licen|contribut|conduct", re.IGNORECASE)
_DEFINITION = r"(class|func|def|fn|struct|interface|function) [A-Za-z_]{4,30}"
_TEMPLATES = """
{w}|{i}|{w} {v}|how does {w} work|how are {w} {d}|how is {w} {d}|where is {w} {d}|where are {w} {d}
what does {w} do|which function handles {w}|what happens when {w} fails|how {w} works|how {i} {w} {n}
{w} {n}|{w} {n} and {v} {n}|{w} {n} for {v}|{w} {n} with {v}|{w} with {i}|{w} {n} in {i}|{w} {v} {n}
{i} for {g} {w}|{i} and {i}|{i} and {w} {n}|{i} {n}|{i} {w}|main {i} API for {w}|{g} {w} from {v}
{g} {w} and {v}|{w} for {g} {v}|custom {w} {n}|{a} {w} {n}|{a} {n}|code that handles {w}|find {w}
"""
_WORDS = {
    "g": "parsing serving handling passing storing converting validating sending loading caching resolving "
    "matching building rendering reading writing wrapping logging signing checking",
    "n": "handling structure storage helpers support schema configuration builders types detection "
    "generation registration management middleware parser rendering lifecycle protection verification "
    "extraction mapping dispatch validation formatting options hooks internals implementation logic",
    "d": "handled defined created implemented registered parsed validated",
    "a": "JSON HTTP URL SSL CSRF TCP SQL XML API UTF-8 HTML CLI TLS DNS",
}


class Model(NamedTuple):
    """What question_kinds.json holds: a weight for each kind, in the order of KINDS."""

    bias: list[float]
    weights: dict[str, list[float]]


def topics(checkout: Path, draw: random.Random) -> list[str]:
    """Return headings of a repository's documents, and phrases of its names."""
    headings = sorted(set(_headings(checkout)))
    names, identifiers = _file_names(checkout), _identifiers(checkout)
    chosen = draw.sample(headings, min(_HEADINGS, len(headings)))
    if names and identifiers:
        pools = {key: words.split() for key, words in _WORDS.items()}
        pools |= {"w": names, "v": names, "i": identifiers}
        for _ in range(_PHRASES):
            template = draw.choice(re.split(r"[|\n]", _TEMPLATES.strip()))
            chosen.append(re.sub(r"\{(\w)\}", lambda part: draw.choice(pools[part[1]]), template))
    return chosen


def _headings(checkout: Path) -> Iterator[str]:
    for name in _git(checkout, "ls-files", "*.md", "*.rst"):
        file = checkout / name
        if _NO_TOPICS.search(name) or not file.is_file():
            continue
        for match in map(_HEADING.match, file.read_text(errors="replace").splitlines()):
            if match and 2 <= len(match[1].split()) <= 8:
                yield match[1].strip().lower()


def _file_names(checkout: Path) -> list[str]:
    stems = {Path(name).stem for name in _git(checkout, "ls-files") if "test" not in name.lower()}
    phrases = {" ".join(split_identifier(stem)) for stem in stems}
    return sorted(phrase for phrase in phrases if re.fullmatch(r"[a-z ]{4,40}", phrase))


def _identifiers(checkout: Path) -> list[str]:
    lines = _git(checkout, "grep", "-hoIE", _DEFINITION, "--", ":!*.md", ":!*.rst", ":!*.txt")
    return sorted({line.split()[1] for line in lines})


def _git(checkout: Path, *arguments: str) -> list[str]:
    command = ["git", "-C", str(checkout), *arguments]
    return subprocess.run(command, capture_output=True, text=True, errors="replace").stdout.splitlines()


def read_questions(cases: Path, checkouts: Path) -> list[tuple[str, str]]:
    """Return (kind, question) of all repositories."""
    draw = random.Random(0)  # noqa: S311
    questions: list[tuple[str, str]] = []
    for checkout in sorted(checkouts.iterdir()):
        for kind, prefix in (("change", "git"), ("description", "docs")):
            file = cases / f"{prefix}-{checkout.name}.jsonl"
            lines = file.read_text().splitlines() if file.exists() else []
            questions += [(kind, json.loads(line)["query"]) for line in lines]
        questions += [("topic", text) for text in topics(checkout, draw)]
    return questions


def read_user_questions(file: Path, checkouts: Path) -> list[tuple[str, str]]:
    """Return ("user" or "other", text) of all repositories."""
    draw = random.Random(0)  # noqa: S311
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    questions = [("user", line["question"]) for line in lines if line["kind"] in _ASKED]
    for checkout in sorted(checkouts.iterdir()):
        subjects = _git(checkout, "log", "--no-merges", "-1500", "--format=%s")
        subjects = [each for each in subjects if len(each.split()) > 2]
        for pool, count in (
            (_sentences(checkout), _SENTENCES),
            (subjects, _SUBJECTS),
            (topics(checkout, draw), _TOPICS),
        ):
            questions += [("other", text) for text in draw.sample(pool, min(count, len(pool)))]
    return questions


def _sentences(checkout: Path) -> list[str]:
    """Return the first sentences of documentation."""
    with Index.open(checkout, encoder="none") as index:
        index.update()
        with index.backend.reader() as reader:
            rows = reader.rows_of_files([file.file_id for file in reader.files()])
            documents = reader.documents([row.row for row in rows])
    sentences = {first_sentence(each.docs) for each in documents if each.docs}
    return sorted(each for each in sentences if each.isascii() and 4 <= len(each.split()) <= 30)


def fit(questions: list[tuple[str, str]], kinds: Sequence[str] = KINDS, unused: Sequence[str] = ()) -> Model:
    """Return the weights of a multinomial logistic regression; all kinds count the same."""
    found = [set(features(text)).difference(unused) for _, text in questions]
    frequency = Counter(feature for each in found for feature in each)
    names = sorted(name for name, count in frequency.items() if count >= _MIN_QUESTIONS)
    column = {name: index for index, name in enumerate(names)}
    inputs = np.zeros((len(questions), len(names) + 1), np.float32)
    inputs[:, -1] = 1
    for row, each in enumerate(found):
        inputs[row, [column[name] for name in each if name in column]] = 1
    labels = np.array([kinds.index(kind) for kind, _ in questions])
    weights = _descend(inputs, np.eye(len(kinds), dtype=np.float32)[labels])
    largest = np.argsort(-np.abs(weights[:-1]).max(axis=1))[:_MAX_FEATURES]
    return Model(_rounded(weights[-1]), {names[index]: _rounded(weights[index]) for index in sorted(largest)})


def _descend(inputs: NDArray[np.float32], targets: NDArray[np.float32]) -> NDArray[np.float32]:
    """Minimise the cross entropy with an L2 penalty, by gradient descent with momentum."""
    shares = targets / targets.sum(axis=0) / targets.shape[1]  # so that all kinds count the same
    weights = np.zeros((inputs.shape[1], targets.shape[1]), np.float32)
    velocity = np.zeros_like(weights)
    counts = shares.sum(axis=1, keepdims=True)
    for _ in range(_STEPS):
        logits = inputs @ weights
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        gradient = inputs.T @ (odds / odds.sum(axis=1, keepdims=True) * counts - shares)
        velocity = 0.9 * velocity - _RATE * (gradient + _PENALTY * weights)
        weights += velocity
    return weights


def _rounded(row: NDArray[np.float32]) -> list[float]:
    return [round(float(value), 2) for value in row]


def write_model(model: Model, out: Path) -> None:
    """Write one feature a line, so that changes can be read."""
    rows = model.weights.items()
    lines = [f"  {json.dumps(name, ensure_ascii=False)}: {json.dumps(row)}" for name, row in rows]
    head = f'{{\n "bias": {json.dumps(model.bias)},\n "weights": {{\n'
    out.write_text(head + ",\n".join(lines) + "\n }\n}\n", encoding="utf-8")


def main() -> None:
    """Fit and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--cases", type=Path)
    source.add_argument("--questions", type=Path)
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    if options.cases:
        questions = read_questions(options.cases, options.checkouts)
        model = fit(questions)
    else:
        questions = read_user_questions(options.questions, options.checkouts)
        # Some users begin with a capital letter, though those who wrote these did not.
        model = fit(questions, ("other", "user"), ["capital"])
    print(Counter(kind for kind, _ in questions))  # noqa: T201
    write_model(model, options.out)


if __name__ == "__main__":
    main()
