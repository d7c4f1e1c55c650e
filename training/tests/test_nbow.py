"""Training of the neural bag of words: the loss of the paper, and that it does what it is for."""

from __future__ import annotations

import argparse
import gzip
import json
import lzma

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from dowse.encoders.document import Document  # noqa: E402
from dowse.errors import DowseError  # noqa: E402
from dowse.research.nbow import ANY_LANGUAGE, QUERY, NbowEncoder, TokenTable, pool  # noqa: E402
from dowse_training import cli_nbow  # noqa: E402
from dowse_training.journal import Journal, read  # noqa: E402
from dowse_training.nbow import (  # noqa: E402
    NbowOptions,
    NbowTrainer,
    Side,
    common_table,
    contrastive_loss,
    means,
    token_weights,
)
from dowse_training.nbow_data import Bags, PairBags, read_pairs  # noqa: E402
from dowse_training.pairs.exclusion import Exclusion, make_exclusion, text_hash  # noqa: E402
from dowse_training.pairs.files import find_files  # noqa: E402

# What is asked for, and the words its code is written with: none in common.
MEANINGS = {
    "remove every duplicate from a list": "seen uniq dedupe",
    "open the connection to a server": "socket connect dial",
    "read the settings of the user": "config yaml load",
    "draw a line on the screen": "canvas stroke pixel",
    "compute the mean of numbers": "sum divide average",
    "send a message by mail": "smtp recipient body",
    "sort words by their length": "key compare ordered",
    "encrypt a secret with a key": "cipher aes nonce",
}
TEMPLATES = {"python": "def f{n}(x):\n    return {code}(x)", "go": "func f{n}(x int) {{ {code}(x) }}"}


def make_pairs(language: str) -> list[dict[str, str]]:
    """Every meaning several times, each time with other words of its own."""
    rows = []
    for n in range(6):
        for i, (doc, code) in enumerate(MEANINGS.items()):
            words = code.split()
            call = "_".join([words[n % 3], words[(n + 1) % 3], f"helper{'abcdef'[n]}"])
            text = TEMPLATES[language].format(n="abcdefgh"[i], code=call)
            rows.append({"pkg": f"package{n}", "name": f"Thing.f{i}", "doc": doc, "code": text})
    return rows


def write_pairs(path, rows):
    opener = {".xz": lzma.open, ".gz": gzip.open}[path.suffix]
    with opener(path, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def pairs(tmp_path):
    folder = tmp_path / "pairs"
    folder.mkdir()
    for language in TEMPLATES:
        write_pairs(folder / f"{language}.jsonl.xz", make_pairs(language))
    write_pairs(folder / "go.valid.jsonl.xz", make_pairs("go")[:8])
    return folder


def train(pairs, out, *more):
    parser = argparse.ArgumentParser()
    cli_nbow.add_arguments(parser)
    arguments = [str(pairs), "--out", str(out), "--batch", "8", "--dimension", "16", "--vocabulary", "400"]
    return cli_nbow.run(parser.parse_args([*arguments, *more]))


def random_side(size=30, dimension=5):
    generator = torch.Generator().manual_seed(3)
    return Side(
        torch.randn(size, dimension, generator=generator), torch.randn(dimension, generator=generator)
    )


def test_the_loss_is_the_formula():
    random = np.random.default_rng(0)
    code, queries = random.normal(size=(6, 4)), random.normal(size=(6, 4))
    total = 0.0
    for i in range(6):
        against_all = sum(np.exp(code[j] @ queries[i]) for j in range(6))
        total += np.log(np.exp(code[i] @ queries[i]) / against_all)
    assert float(contrastive_loss(torch.tensor(code), torch.tensor(queries))) == pytest.approx(-total / 6)


def test_training_pools_as_use_does():
    side = random_side()
    bags = [[1, 2, 3], [7], [5, 5, 29, 0]]
    flat = torch.tensor([token for bag in bags for token in bag])
    trained = means(side, flat, torch.tensor([0, 3, 4]))
    table = TokenTable(side.vectors.numpy(), token_weights(side)[:, 0].numpy())
    assert np.allclose(trained.numpy(), pool(table, bags), atol=1e-6)


def test_selected_bags_are_the_bags():
    bags = Bags()
    for bag in ([1], [2, 3], [4, 5, 6], [7, 8]):
        bags.append(bag)
    ids, starts = bags.select(np.array([2, 0, 3]))
    assert ids.tolist() == [4, 5, 6, 1, 7, 8]
    assert starts.tolist() == [0, 3, 4]
    assert [list(bag) for bag in bags.lists()] == [[1], [2, 3], [4, 5, 6], [7, 8]]
    assert bags.counts(10).tolist() == [0, 1, 1, 1, 1, 1, 1, 1, 1, 0]


def test_a_step_leaves_the_encoders_of_other_languages_alone(tmp_path):
    trainer = NbowTrainer(["go", "python"], 20, NbowOptions(dimension=4, batch=2, epochs=1))
    before = {name: side.vectors.detach().clone() for name, side in trainer.sides.items()}
    only = PairBags()
    for token in (5, 6):
        for bags in (only.code, only.summaries, only.docs):
            bags.append([token])
    trainer.train({"go": only}, Journal(tmp_path / "log.jsonl", quiet=True))
    changed = {name: not torch.equal(before[name], side.vectors) for name, side in trainer.sides.items()}
    assert changed == {QUERY: True, "go": True, "python": False}


def test_the_common_table_listens_to_who_uses_a_token():
    ones = TokenTable(np.ones((3, 2), np.float32), np.full(3, 0.5, np.float32))
    twos = TokenTable(np.full((3, 2), 2, np.float32), np.full(3, 0.5, np.float32))
    common = common_table({"a": ones, "b": twos}, {"a": np.array([9, 0, 5]), "b": np.array([0, 9, 5])})
    assert np.allclose(common.vectors[:, 0], [1, 2, 1.5], atol=1e-3)
    assert np.allclose(common.weights, 0.5, atol=1e-3)


def test_training_brings_what_is_asked_to_the_code_that_does_it(pairs, tmp_path, capsys):
    out = tmp_path / "model"
    assert train(pairs, out, "--epochs", "25", "--seed", "1") == 0
    encoder = NbowEncoder.load(out)
    queries = encoder.encode_queries(list(MEANINGS))
    for language in (*TEMPLATES, "cobol"):
        code = [
            Document("", "", "", f"run({words.replace(' ', ', ')})", language) for words in MEANINGS.values()
        ]
        nearest = (queries @ encoder.encode_documents(code).T).argmax(axis=1)
        assert nearest.tolist() == list(range(len(MEANINGS))), language
    records = read(out / "log.jsonl")
    losses = [record["loss"] for record in records if "loss" in record]
    assert losses[-1] < losses[0] / 3
    assert records[-1]["valid_mrr"]["go"] > 0.9
    settings = json.loads((out / "encoder.json").read_text())
    assert settings["training"]["seed"] == 1
    assert settings["training"]["pairs"] == {"go": 48, "python": 48}


def test_the_same_seed_gives_the_same_model(pairs, tmp_path):
    ids = []
    for number, seed in enumerate(["5", "5", "6"]):
        train(pairs, tmp_path / f"model{number}", "--epochs", "2", "--seed", seed)
        ids.append(NbowEncoder.load(tmp_path / f"model{number}").id)
    assert ids[0] == ids[1]
    assert ids[0] != ids[2]


def test_a_broken_run_goes_on_to_the_same_end(tmp_path):
    bags = {"go": PairBags()}
    random = np.random.default_rng(2)
    for _ in range(20):
        for column in (bags["go"].code, bags["go"].summaries, bags["go"].docs):
            column.append(random.integers(0, 40, 6).tolist())
    options = NbowOptions(dimension=8, batch=5, epochs=4)
    journal = Journal(tmp_path / "log.jsonl", quiet=True)
    whole = NbowTrainer(["go"], 40, options)
    whole.train(bags, journal, tmp_path / "whole")

    class Stopped(Exception):
        pass

    class Stopping(Journal):
        def write(self, **fields):
            if fields["epoch"] == 2:
                raise Stopped

    broken = NbowTrainer(["go"], 40, options)
    with pytest.raises(Stopped):
        broken.train(bags, Stopping(tmp_path / "log.jsonl"), tmp_path / "broken")
    resumed = NbowTrainer(["go"], 40, options)
    resumed.resume(tmp_path / "broken")
    assert resumed.epoch == 2
    resumed.train(bags, journal)
    for name, table in whole.tables(bags).items():
        assert np.array_equal(table.vectors, resumed.tables(bags)[name].vectors)


def test_another_runs_checkpoint_is_refused(tmp_path):
    options = NbowOptions(dimension=8, epochs=0)
    NbowTrainer(["go"], 40, options)._save(tmp_path / "checkpoint.pt")
    with pytest.raises(DowseError, match="--resume"):
        NbowTrainer(["go", "c"], 40, options).resume(tmp_path)
    with pytest.raises(DowseError, match="--resume"):
        NbowTrainer(["go"], 40, NbowOptions(dimension=8, epochs=1)).resume(tmp_path)


def test_going_on_with_nothing_is_refused(pairs, tmp_path):
    with pytest.raises(DowseError, match="without --resume"):
        train(pairs, tmp_path / "none", "--resume")


def test_tokens_a_language_never_showed_come_from_the_others():
    trainer = NbowTrainer(["go", "python"], 10, NbowOptions(dimension=4))
    bags = {"go": PairBags(), "python": PairBags()}
    bags["go"].code.append([4, 5])
    bags["python"].code.append([5, 6])
    tables = trainer.tables(bags)
    go, python, common = (tables[name].vectors for name in ("go", "python", ANY_LANGUAGE))
    assert np.array_equal(go[6], common[6])
    assert np.allclose(go[6], python[6], atol=0.01)
    assert not np.allclose(go[5], python[5], atol=0.01)


def test_what_is_excluded_is_never_read(pairs):
    rows = make_pairs("go")
    exclusion = make_exclusion(["owner/package1"], [text_hash(rows[0]["code"])], [text_hash(rows[2]["doc"])])
    files = [file for file in find_files([str(pairs)]) if not file.valid]
    left = list(read_pairs(files, "go", exclusion))
    assert len(list(read_pairs(files, "go", Exclusion()))) == 48
    assert len(left) == 48 - 8 - 1 - 5
    assert all(pair["pkg"] != "package1" and pair["doc"] != rows[2]["doc"] for pair in left)


def test_the_list_given_to_the_command_is_applied(pairs, tmp_path):
    listed = tmp_path / "exclude.json.gz"
    hashes = [text_hash(doc) for doc in list(MEANINGS)[:3]]
    listed.write_bytes(gzip.compress(json.dumps({"repos": [], "code_sha1": [], "doc_sha1": hashes}).encode()))
    train(pairs, tmp_path / "model", "--epochs", "1", "--exclude", str(listed))
    assert read(tmp_path / "model" / "log.jsonl")[0]["pairs"] == {"go": 30, "python": 30}


def test_headings_are_no_queries(tmp_path):
    row = make_pairs("go")[0]
    write_pairs(tmp_path / "go.jsonl.gz", [row, {**row, "doc": "Parameters\n----"}])
    assert list(read_pairs(find_files([str(tmp_path)]), "go", Exclusion())) == [row]


def test_pairs_kept_for_checks_are_not_enough(pairs, tmp_path):
    with pytest.raises(DowseError, match="no pairs to train on"):
        train(pairs / "go.valid.jsonl.xz", tmp_path / "model")
