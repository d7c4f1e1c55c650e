"""Elasticsearch as in the graph-clustering paper: three fields, the standard analyzer, fuzzy terms.

A query with too few hits is relaxed step by step: its identifiers are split, then fewer of its terms have to
match (`minimum_should_match`). All steps are sent in one request; hits of an earlier step come first.
"""

from __future__ import annotations

import contextlib
import re
import uuid
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

from dowse.errors import DowseError, EvalError
from dowse.eval.matching import to_search_result
from dowse.eval.systems.baselines import all_symbols
from dowse.eval.types import RankedSearch, SearchResult
from dowse.index import Index
from dowse.parsing.tokenizer import split_identifier
from dowse.security.terminal import replace_surrogates
from dowse.storage.elastic.address import parse_address
from dowse.storage.elastic.client import WRITE_SECONDS, Client
from dowse.types import Symbol

_FIELDS = ("func_name", "code", "docstring")
_STANDARD = {"type": "text", "analyzer": "standard"}
_MAPPING = {
    "dynamic": "strict",
    "properties": {"number": {"type": "integer"}, **dict.fromkeys(_FIELDS, _STANDARD)},
}
_FUZZINESS = "AUTO"
# `minimum_should_match` of the steps, once identifiers are split.
_REQUIRED = ("100%", "75%", "50%", "1")
# A query of more words is a whole document.
_MAX_WORDS = 100
# Symbols of one bulk request.
_BATCH = 500


def paper(index: Index, address: str) -> RankedSearch:
    """Index symbols on a cluster, elastic://host:port/NAME, under that name, until the search is dropped."""
    where = parse_address(address)
    client, name = Client(where), f"dowse-{where.name}-paper-{uuid.uuid4().hex[:12]}"
    _create(client, name)
    try:
        symbols = _fill(client, name, all_symbols(index))
    except BaseException:
        _remove(client, name)
        raise

    def search(query: str, k: int) -> list[SearchResult]:
        searches = [(name, _body(text, required, k)) for text, required in steps(query)]
        numbers: dict[int, None] = {}
        for answer in client.msearch(searches, search_type="dfs_query_then_fetch", preference="dowse"):
            numbers.update(dict.fromkeys(hit["fields"]["number"][0] for hit in answer["hits"]["hits"]))
        return [symbols[number] for number in list(numbers)[:k]]

    weakref.finalize(search, _remove, client, name)
    return search


def steps(query: str) -> list[tuple[str, str]]:
    """Return the query and its relaxations: text and `minimum_should_match` of each."""
    words = re.findall(r"\w+", query)[:_MAX_WORDS]
    if not words:
        return []
    whole = " ".join(words)
    split = " ".join(
        dict.fromkeys(part for word in words for part in (split_identifier(word) or [word.lower()]))
    )
    return list(dict.fromkeys([(whole, "100%"), *((split, required) for required in _REQUIRED)]))


def _body(text: str, required: str, k: int) -> dict[str, Any]:
    match = {
        **{"query": text, "fields": list(_FIELDS), "type": "most_fields"},
        **{"fuzziness": _FUZZINESS, "minimum_should_match": required},
    }
    return {
        **{"query": {"multi_match": match}, "size": k, "sort": ["_score", {"number": "asc"}]},
        **{"_source": False, "stored_fields": "_none_", "docvalue_fields": ["number"]},
    }


def _create(client: Client, name: str) -> None:
    settings = {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": -1}
    client.call(
        lambda es: es.indices.create(index=name, mappings=_MAPPING, settings=settings), timeout=WRITE_SECONDS
    )


def _fill(client: Client, name: str, symbols: Iterable[Symbol]) -> list[SearchResult]:
    """Send symbols; return them as results, by number."""
    results: list[SearchResult] = []
    lines: list[dict[str, Any]] = []
    for symbol in symbols:
        lines += [{"index": {"_id": str(len(results))}}, {"number": len(results), **_document(symbol)}]
        results.append(to_search_result(symbol))
        if len(lines) >= 2 * _BATCH:
            _send(client, name, lines)
            lines = []
    if lines:
        _send(client, name, lines)
    client.call(lambda es: es.indices.refresh(index=name), timeout=WRITE_SECONDS)
    return results


def _document(symbol: Symbol) -> dict[str, str]:
    texts = (symbol.qualified_name, symbol.code, symbol.doc)
    return {field: replace_surrogates(text) for field, text in zip(_FIELDS, texts, strict=True)}


def _send(client: Client, name: str, lines: list[dict[str, Any]]) -> None:
    answer = client.call(lambda es: es.bulk(index=name, operations=lines), timeout=WRITE_SECONDS)
    problems: Iterator[Any] = (each["index"]["error"] for each in answer["items"] if "error" in each["index"])
    if answer["errors"]:
        raise EvalError(f"the cluster refused a symbol ({next(problems)}); see `dowse doctor`")


def _remove(client: Client, name: str) -> None:
    """Remove the index; a cluster that can't be reached is ignored."""
    with contextlib.suppress(DowseError):
        client.call(
            lambda es: es.options(ignore_status=404).indices.delete(index=name), timeout=WRITE_SECONDS
        )
    client.close()
