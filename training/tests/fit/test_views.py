"""What training shows: never too long, always closed, and nothing that is withheld."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from dowse.encoders.word_tokenizer import BOS, EOS  # noqa: E402
from dowse_training import vocabulary  # noqa: E402
from dowse_training.corpus import Corpus  # noqa: E402
from dowse_training.plan import QUERY_KINDS, Fit  # noqa: E402
from dowse_training.queries import NAME, QUERY_LIMIT, WEB, QueryMaker, draw_kinds, paragraphs  # noqa: E402
from dowse_training.shard_files import Shard  # noqa: E402
from dowse_training.views import Shown, code_view, plain_code  # noqa: E402

from .conftest import NAMES, QUALIFIERS, TEXTS, make_shard, make_vocabulary  # noqa: E402

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def corpus():
    return Corpus([make_shard("python", 60, 1), make_shard("ruby", 40, 2)], CPU)


@pytest.fixture(scope="module")
def maker():
    return QueryMaker(vocabulary.from_ids(make_vocabulary()), CPU)


def sequences(piece):
    return [ids[keep].tolist() for ids, keep in zip(piece.ids, piece.keep, strict=True)]


def flags(value, count):
    return torch.full((count,), value, dtype=torch.bool)


@pytest.mark.parametrize("limit", [8, 40, 128])
@pytest.mark.parametrize("lose_words", [False, True])
def test_code_views_are_closed_and_within_the_limit(corpus, limit, lose_words):
    rows = corpus.rows(torch.arange(len(corpus)))
    shown = Shown(*(flags(True, len(corpus)) for _ in range(3)))
    for ids in sequences(code_view(corpus, rows, shown, limit, lose_words=lose_words)):
        assert 2 <= len(ids) <= limit
        assert (ids[0], ids[-1]) == (BOS, EOS)
        assert not {BOS, EOS} & set(ids[1:-1])


@pytest.mark.parametrize("lose_words", [False, True])
def test_a_withheld_name_is_nowhere_in_the_view(corpus, lose_words):
    rows = corpus.rows(torch.arange(len(corpus)))
    off = flags(False, len(corpus))
    view = code_view(corpus, rows, Shown(off, off, off), 128, lose_words=lose_words)
    assert all(set(ids).isdisjoint([*NAMES, *QUALIFIERS, *TEXTS]) for ids in sequences(view))


def test_a_plain_view_is_qualifier_name_and_the_rest_of_the_code(corpus):
    shard = make_shard("python", 60, 1)
    tokens, lengths = shard.tokens.tolist(), shard.lengths.tolist()
    start = 0
    for ids, (qualifier, code, place, name, *text) in zip(
        sequences(plain_code(corpus, torch.arange(60), 128)), lengths, strict=True
    ):
        own = tokens[start + qualifier : start + qualifier + code]
        rest = own[:place] + own[place + name :]
        wanted = tokens[start : start + qualifier] + own[place : place + name] + rest
        # The window of code is cut before its name is taken out, so very long code may end a little earlier.
        assert ids[1:-1] == wanted[: len(ids) - 2]
        assert len(ids) == min(128, len(wanted) + 2)
        start += qualifier + code + sum(text)


def test_words_are_lost_but_never_added_or_moved(corpus):
    pairs = torch.arange(len(corpus))
    on, off = flags(True, len(corpus)), flags(False, len(corpus))
    whole = sequences(code_view(corpus, corpus.rows(pairs), Shown(on, on, off), 200))
    lossy = sequences(code_view(corpus, corpus.rows(pairs), Shown(on, on, off), 200, lose_words=True))
    assert sum(map(len, lossy)) < sum(map(len, whole))
    for some, every in zip(lossy, whole, strict=True):
        place = iter(every)
        assert all(one in place for one in some)  # a subsequence


@pytest.mark.parametrize("kind", range(len(QUERY_KINDS)))
@pytest.mark.parametrize("lose_words", [False, True])
def test_queries_are_closed_short_and_not_empty(corpus, maker, kind, lose_words):
    pairs = torch.arange(60)
    kinds = torch.full((60,), kind)
    for ids in sequences(maker.view(corpus, corpus.rows(pairs), kinds, "python", lose_words=lose_words)):
        assert 2 < len(ids) <= QUERY_LIMIT
        assert (ids[0], ids[-1]) == (BOS, EOS)


def test_documentation_is_a_query_as_it_stands(corpus, maker):
    rows = corpus.rows(torch.arange(60))
    texts = sequences(maker.view(corpus, rows, torch.full((60,), 1), "python"))
    assert texts == sequences(paragraphs(corpus, torch.arange(60)))


def test_a_name_query_is_made_of_the_name(corpus, maker):
    words = vocabulary.from_ids(make_vocabulary()).words
    decoration = {words["python"], words["how"], words["to"], words["in"], BOS, EOS}
    rows = corpus.rows(torch.arange(60))
    for ids in sequences(maker.view(corpus, rows, torch.full((60,), NAME), "python")):
        assert set(ids) <= decoration | set(NAMES)


def test_web_queries_have_no_third_person(maker):
    words = vocabulary.from_ids(make_vocabulary()).words
    sentence = [words["returns"], 41, 42, 43]
    lengths = np.tile(np.array([0, 0, 0, 0, len(sentence), 0, 0], np.uint8), (80, 1))
    corpus = Corpus(
        [Shard("ruby", np.tile(np.array(sentence, np.uint16), 80), lengths, np.zeros(80, np.int32))], CPU
    )
    rows = corpus.rows(torch.arange(80))
    web = sequences(maker.view(corpus, rows, torch.full((80,), WEB), "ruby"))
    bent, kept = (sum(words[word] in ids for ids in web) for word in ("return", "returns"))
    assert bent > 2 * kept
    assert any(words["how"] in ids for ids in web)
    assert not any(words["python"] in ids for ids in web)


def test_kinds_follow_the_mix_and_short_names_are_no_queries(corpus):
    rows = corpus.rows(torch.arange(len(corpus)))
    kinds = draw_kinds({"name": 1.0}, rows)
    assert set(kinds.tolist()) == {NAME, WEB}
    assert bool((rows.name.length[kinds == NAME] >= 2).all())
    named = draw_kinds(Fit(rate=1.0).mix("named"), rows)
    assert NAME not in named.tolist()


def test_equal_parts_have_equal_hashes(corpus):
    twice = Corpus([make_shard("python", 30, 4), make_shard("ruby", 30, 4)], CPU)
    assert torch.equal(twice.same_code[:30], twice.same_code[30:])
    assert torch.equal(twice.same_name[:30], twice.same_name[30:])
    assert len(set(twice.same_code.tolist())) == 30
    assert not set(twice.packages[:30].tolist()) & set(twice.packages[30:].tolist())
