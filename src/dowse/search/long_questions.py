"""What the lanes read of a long text: its best terms with weights, and the text that the encoder gets."""

from __future__ import annotations

from dowse.lazy_classes import NamedTuple
from dowse.parsing.tokenizer import content_words, tokenize
from dowse.query.long_text import LongText, names_in
from dowse.search.ranking.fusion import term_idf
from dowse.storage.protocol import Reader
from dowse.symbol_lookup import known_names

# Weights of a term by the field that it is in; chosen on the first half of bench/long_questions.py.
_FIELD_WEIGHTS = {"title": 2.0, "prose": 1.0, "error": 1.0, "code": 0.5}
# Factor of a name that symbols have.
_NAME_FACTOR = 1.5
# Terms that are kept: those of the highest IDF and weight say what a text is about.
_MAX_TERMS = 40
# Names that are looked up.
_MAX_NAMES = 200
# Characters of errors that the encoder reads before the prose: it reads about a hundred words in all.
_MAX_ERROR = 150


class Reading(NamedTuple):
    """What the lanes read of a long text."""

    term_weights: dict[str, float]
    encoder_text: str
    names: tuple[str, ...] = ()  # those that symbols have


def weigh_long_text(reader: Reader, long_text: LongText) -> Reading:
    """Weigh the terms of a long text by their fields, and keep the best that the index has."""
    weights: dict[str, float] = {}
    for field in long_text.fields:
        for term in tokenize(" ".join(content_words(field.text))):
            if len(term) > 1 and not term.isdigit():
                weights[term] = max(weights.get(term, 0.0), _FIELD_WEIGHTS[field.kind])
    names = known_names(reader, names_in(long_text.text())[:_MAX_NAMES])
    for whole in {"".join(tokenize(name.replace(":", ".").rpartition(".")[2])[:1]) for name in names}:
        if whole in weights:
            weights[whole] *= _NAME_FACTOR
    reader.prefetch_document_frequencies(weights)
    known = [term for term in weights if reader.document_frequency(term)]
    reader.prefetch_document_frequencies(known, "body")
    best = sorted(known, key=lambda term: -weights[term] * term_idf(reader, term))[:_MAX_TERMS]
    error = long_text.text("error")[:_MAX_ERROR]
    encoder_text = " ".join(filter(None, (long_text.text("title"), error, long_text.text("prose"))))
    return Reading({term: weights[term] for term in best}, encoder_text, tuple(names))
