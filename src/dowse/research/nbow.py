"""The neural bag of words of the CodeSearchNet paper: the mean of learned token vectors, in NumPy alone.

One table of token vectors reads queries, and one per language reads code. A text's vector is the mean of its
tokens' vectors, each weighted by how much the token tells: the order of words plays no part. Models are made
by `dowse train` (see `dowse_training.nbow`); their folder holds encoder.json, tokenizer.json and weights.npz.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dowse.encoders.batching import normalise_rows
from dowse.encoders.byte_pairs import BytePairs
from dowse.encoders.document import Document, Form, View, as_documents, docs_view, query_view, views
from dowse.encoders.model_files import model_errors, read_model_settings
from dowse.errors import DowseError
from dowse.lazy_classes import NamedTuple, asdict, dataclass

if TYPE_CHECKING:
    from dowse.encoders.encoder import Vectors
    from dowse.encoders.word_tokenizer import WordTokenizer

ARCHITECTURE = "nbow"
SETTINGS_FILE, TOKENIZER_FILE, WEIGHTS_FILE = "encoder.json", "tokenizer.json", "weights.npz"
# Raise when the same files would give other vectors: word_tokenizer.py and document.py belong to the encoder.
FORMAT_VERSION = 1

# The table for queries; and the one for code in a language no table was trained for.
QUERY, ANY_LANGUAGE = "query", "any"

# The paper's 200 tokens of code (and <s> and </s>, which a bag leaves out): a sum is cheap, however long.
FORM = Form(tokens=202, code=200, name_weight=0.0)

# Texts pooled at once: bounds the copy of token vectors to some 25 MB.
_BATCH = 256


class TokenTable(NamedTuple):
    """A vector and a weight for every token; float16 on disk, float32 where it is summed."""

    vectors: npt.NDArray[np.floating]
    weights: npt.NDArray[np.floating]

    def as_type(self, kind: type[np.floating]) -> TokenTable:
        """The same numbers in another precision."""
        return TokenTable(self.vectors.astype(kind), self.weights.astype(kind))


@dataclass(frozen=True, slots=True)
class NbowModel:
    """What training gives and a folder holds."""

    tokenizer: str  # as JSON
    tables: Mapping[str, TokenTable]  # QUERY, ANY_LANGUAGE and one for each language
    form: Form = FORM
    name: str = ARCHITECTURE

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return int(self.tables[QUERY].vectors.shape[1])

    def table_for(self, language: str) -> str:
        """The name of the table that reads code of a language."""
        return language if language in self.tables and language != QUERY else ANY_LANGUAGE


def bag(view: View) -> list[int]:
    """The tokens of a view, without those that mark its ends."""
    return view.ids[1:-1]


def pool(table: TokenTable, bags: Sequence[Sequence[int]]) -> Vectors:
    """The weighted mean of each bag's token vectors; no bag may be empty."""
    means = np.empty((len(bags), table.vectors.shape[1]), np.float32)
    for start in range(0, len(bags), _BATCH):
        batch = bags[start : start + _BATCH]
        ids = np.concatenate([np.asarray(bag, np.int64) for bag in batch])
        starts = np.cumsum([0, *(len(bag) for bag in batch[:-1])])
        weights = table.weights[ids][:, None]
        sums = np.add.reduceat(table.vectors[ids] * weights, starts, axis=0)
        means[start : start + len(batch)] = sums / np.add.reduceat(weights, starts, axis=0)
    return means


class NbowEncoder:
    """Turns documents and queries into unit vectors.

    The paper ranks by inner product. Unit vectors rank by angle, so the length of a code vector, which says
    how much the function's tokens agree with one another, is given up.
    """

    def __init__(self, model: NbowModel, *, view: str = "symbol") -> None:
        self._model = model
        self._docs_only = view == "docs"
        self._ready: dict[str, TokenTable] = {}
        self.name = model.name
        self.id = f"{ARCHITECTURE}-{_fingerprint(model)}{'-docs' if self._docs_only else ''}"
        self.dimension = model.dimension

    @classmethod
    def load(cls, folder: Path, *, view: str = "symbol") -> NbowEncoder:
        """Read the encoder of a model folder."""
        return cls(read_model(folder), view=view)

    def encode_documents(self, documents: Sequence[Document | str]) -> Vectors:
        """Unit vectors of documents: the code's, and some of the documentation's where there is any."""
        form, documents = self._model.form, as_documents(documents)
        if self._docs_only:
            return normalise_rows(
                self._prose([docs_view(document, self.words, form) for document in documents])
            )
        viewed = [views(document, self.words, form) for document in documents]
        rows = normalise_rows(self._code(documents, [several[0] for several in viewed]))
        described = [i for i, several in enumerate(viewed) if len(several) > 1]
        if not described:
            return rows
        docs = [viewed[i][1] for i in described]
        # The query encoder reads documentation: that is what it was trained on.
        rows[described] += normalise_rows(self._prose(docs)) * np.array(
            [[view.weight] for view in docs], np.float32
        )
        return normalise_rows(rows)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of queries."""
        return normalise_rows(self._prose([query_view(text, self.words, self._model.form) for text in texts]))

    @cached_property
    def words(self) -> WordTokenizer:
        """What turns text into ids."""
        from dowse.encoders.word_tokenizer import WordTokenizer

        with model_errors(self.name):
            return WordTokenizer(BytePairs(self._model.tokenizer))

    def _prose(self, texts: Sequence[View]) -> Vectors:
        return pool(self._table(QUERY), [bag(view) for view in texts])

    def _code(self, documents: Sequence[Document], code: Sequence[View]) -> Vectors:
        """Every document's code through the encoder of its language."""
        means = np.empty((len(documents), self.dimension), np.float32)
        rows_by_language: dict[str, list[int]] = {}
        for i, document in enumerate(documents):
            rows_by_language.setdefault(self._model.table_for(document.language), []).append(i)
        for name, rows in rows_by_language.items():
            means[rows] = pool(self._table(name), [bag(code[i]) for i in rows])
        return means

    def _table(self, name: str) -> TokenTable:
        """One table in the precision of sums; most runs need two of them, so each waits for its first use."""
        if name not in self._ready:
            self._ready[name] = self._model.tables[name].as_type(np.float32)
        return self._ready[name]


def write_model(model: NbowModel, folder: Path, **facts: object) -> None:
    """Write a model folder; `facts` (seed, epochs, …) go into its settings as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / TOKENIZER_FILE).write_text(model.tokenizer, encoding="utf-8")
    arrays = {}
    for name, table in model.tables.items():
        arrays[f"{name}.vectors"], arrays[f"{name}.weights"] = table.as_type(np.float16)
    np.savez(folder / WEIGHTS_FILE, allow_pickle=False, **arrays)
    settings = {
        "arch": ARCHITECTURE,
        "name": model.name,
        "version": FORMAT_VERSION,
        "dimension": model.dimension,
        "languages": sorted(model.tables.keys() - {QUERY, ANY_LANGUAGE}),
        "form": asdict(model.form),
        "sha256": {name: _sha256(folder / name) for name in (TOKENIZER_FILE, WEIGHTS_FILE)},
        **facts,
    }
    (folder / SETTINGS_FILE).write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


def read_model(folder: Path) -> NbowModel:
    """Read a model folder."""
    try:
        settings = read_model_settings(folder / SETTINGS_FILE)
        if settings["arch"] != ARCHITECTURE or settings["version"] != FORMAT_VERSION:
            raise ValueError(f"arch {settings['arch']!r} in version {settings['version']!r}")
        tables = _read_tables(folder / WEIGHTS_FILE, [QUERY, ANY_LANGUAGE, *settings["languages"]])
        text = (folder / TOKENIZER_FILE).read_text(encoding="utf-8")
        if BytePairs(text).largest_id >= min(len(table.weights) for table in tables.values()):
            raise ValueError("fewer vectors than tokens")
        return NbowModel(text, tables, Form(**settings["form"]), str(settings["name"]))
    except (DowseError, OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise DowseError(
            f"{folder} is not a bag-of-words model ({error!r}): make one with `dowse train --arch nbow`"
        ) from error


def _read_tables(weights: Path, names: Sequence[str]) -> dict[str, TokenTable]:
    """Read the tables of token vectors."""
    with np.load(weights, allow_pickle=False) as arrays:
        tables = {name: TokenTable(arrays[f"{name}.vectors"], arrays[f"{name}.weights"]) for name in names}
    width = tables[QUERY].vectors.shape[1]
    for vectors, counts in tables.values():
        if vectors.shape != (len(counts), width) or counts.ndim != 1:
            raise ValueError("tables of different sizes")
    return tables


def _fingerprint(model: NbowModel) -> str:
    """What changes whenever a vector could: the weights as stored, the tokenizer and the form."""
    digest = hashlib.sha256(json.dumps([FORMAT_VERSION, asdict(model.form)]).encode())
    digest.update(model.tokenizer.encode())
    for name, table in sorted(model.tables.items()):
        digest.update(name.encode())
        for numbers in table.as_type(np.float16):
            digest.update(numbers.tobytes())
    return digest.hexdigest()[:12]


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
