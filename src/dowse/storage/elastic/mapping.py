"""The indices of a NAME: what their documents hold, and how they are made, checked and removed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from dowse.errors import IndexMissing
from dowse.storage.elastic.client import WRITE_SECONDS, Client
from dowse.storage.elastic.names import KINDS, Names, vector_field
from dowse.storage.elastic.problems import reason_of
from dowse.storage.elastic.state import FORMAT, check_format
from dowse.types import KEYWORD_FIELDS

_LONG, _INTEGER = {"type": "long"}, {"type": "integer"}
# A longer one is no name or path; Lucene takes 32,766 bytes, and a character may take four.
_KEYWORD = {"type": "keyword", "ignore_above": 8191}
_STORED = {"type": "keyword", "index": False, "doc_values": False}
_COLUMN, _FLAG = {**_KEYWORD, "index": False}, {"type": "boolean", "index": False}
_DATA = {"type": "object", "enabled": False}
_TERMS = {"type": "text", "analyzer": "whitespace", "index_options": "freqs"}
_VERSION = {"born": _LONG, "died": _LONG, "source": _KEYWORD, "hash": _STORED}
# Globs become regexes; the default of 1,000 characters is less than a path may have.
_LONGEST_REGEX = 100_000
_FEWEST_NODES_TO_SPREAD = 3
# From here on a cluster leaves vectors out of what it gives back, unless it is told not to.
_HIDES_VECTORS = (9, 2)


def _keywords(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names, _KEYWORD)


_SYMBOLS: dict[str, Any] = {
    **_VERSION,
    **{"row": _LONG, "file": _LONG, "start_line": _INTEGER, "end_line": _INTEGER},
    **_keywords("key", "repo", "path", "language", "role", "kind", "name", "qualified_name"),
    **_keywords("name_key", "vector_key"),
    # Columns that only come along with a hit: they are read many times faster than what is in `data`.
    **{"signature": _COLUMN, "overrides": _FLAG, "order": {**_INTEGER, "index": False}},
    "terms": {"properties": dict.fromkeys(KEYWORD_FIELDS, _TERMS)},
    "data": _DATA,
}
_FILES: dict[str, Any] = {
    **_VERSION,
    **{"file": _LONG, "size": _LONG, "mtime_ns": _LONG, "lines": _INTEGER, "symbols": _INTEGER},
    **_keywords("key", "repo", "path", "language", "role", "content_hash", "encoding", "problem"),
    "trigrams": {"type": "keyword", "doc_values": False},
    "data": _DATA,
}
_EDGES: dict[str, Any] = {
    **_VERSION,
    **{"row": _LONG, "file": _LONG, "line": _INTEGER, "heads": _LONG},
    **_keywords("repo", "path", "name_keys", "kinds"),
    "data": _DATA,
}
_META: dict[str, Any] = {**_keywords("kind", "slot"), "data": _DATA}
_PROPERTIES = {"symbols": _SYMBOLS, "files": _FILES, "edges": _EDGES, "meta": _META}


def create(client: Client, names: Names) -> None:
    """Make what is missing of the indices; somebody else may be making them at the same time."""
    missing = [kind for kind in KINDS if not _exists(client, names.alias(kind))]
    if not missing:
        return
    settings = _settings(client)
    # Side by side: a cluster takes the changes that are waiting in one step.
    with ThreadPoolExecutor(len(missing)) as pool:
        list(pool.map(lambda kind: _create_one(client, names, kind, settings), missing))


def check(client: Client, names: Names) -> None:
    """Raise if an index is missing, or has the mapping of another format."""
    aliases = ",".join(names.every)
    mappings = client.call(lambda es: es.indices.get_mapping(index=aliases, ignore_unavailable=True)).body
    if len(mappings) < len(KINDS):
        raise IndexMissing(f"no whole index {names.name} on {client.address}; run `dowse index --rebuild`")
    for mapping in mappings.values():
        check_format(mapping["mappings"].get("_meta", {}).get("dowse_format"), client, names)


def add_vector_field(client: Client, names: Names, encoder: str, dimension: int) -> None:
    """Make a place for the vectors of an encoder; once it is there, nothing changes."""
    field = {
        "type": "dense_vector",
        "dims": dimension,
        "element_type": "byte",
        "index": True,
        "similarity": "cosine",
        "index_options": {"type": "hnsw"},
    }
    client.call(
        lambda es: es.indices.put_mapping(
            index=names.alias("symbols"), properties={vector_field(encoder): field}
        ),
        seconds=WRITE_SECONDS,
    )


def drop(client: Client, names: Names) -> None:
    """Remove every index of the name, also those of a rebuild that was never finished."""
    _delete(client, physical_indices(client, names))


def replace(client: Client, names: Names) -> None:
    """Put empty indices of our format in the place of others, for all at one moment, and remove those."""
    old = physical_indices(client, names)
    number = 1 + max((int(index.rpartition("-")[2]) for index in old), default=0)
    settings = _settings(client)
    with ThreadPoolExecutor(len(KINDS)) as pool:
        list(pool.map(lambda kind: _create_one(client, names, kind, settings, number), KINDS))
    actions: list[dict[str, Any]] = [{"remove_index": {"index": index}} for index in old]
    actions += [
        {"add": {"index": names.physical(kind, number), "alias": names.alias(kind)}} for kind in KINDS
    ]
    client.call(lambda es: es.indices.update_aliases(actions=actions), seconds=WRITE_SECONDS)


def physical_indices(client: Client, names: Names) -> list[str]:
    """Return the indices behind the aliases, and those that no alias names."""
    asked = ",".join(f"{alias}-*" for alias in names.every)
    found = client.call(lambda es: es.indices.get(index=asked, features="aliases")).body
    own = re.compile("|".join(rf"{re.escape(alias)}-[0-9]{{6}}" for alias in names.every))
    return sorted(index for index in found if own.fullmatch(index))


def _delete(client: Client, indices: Sequence[str]) -> None:
    if indices:
        named = ",".join(indices)
        client.call(
            lambda es: es.options(ignore_status=404).indices.delete(index=named), seconds=WRITE_SECONDS
        )


def _exists(client: Client, index: str) -> bool:
    return bool(client.call(lambda es: es.indices.exists(index=index)))


def _create_one(
    client: Client, names: Names, kind: str, settings: Mapping[str, Any], number: int = 0
) -> None:
    """Make one index; the first of a name gets its alias at once, a later one when it takes its place."""
    import elasticsearch

    aliases: dict[str, Any] = {} if number else {names.alias(kind): {}}

    def ask(es: elasticsearch.Elasticsearch) -> None:
        try:
            es.indices.create(
                index=names.physical(kind, number or 1),
                aliases=aliases,
                mappings=_mappings(kind),
                settings=_META_SETTINGS | _copies(settings) if kind == "meta" else settings,
            )
        except elasticsearch.BadRequestError as error:
            if "resource_already_exists" not in reason_of(error.body):
                raise

    client.call(ask, seconds=WRITE_SECONDS)


def _mappings(kind: str) -> dict[str, Any]:
    mapping: dict[str, Any] = {
        "dynamic": "strict",
        "_meta": {"dowse_format": FORMAT},
        "properties": _PROPERTIES[kind],
    }
    if kind == "files":
        # Trigrams are made from the text, which is there: kept twice they would be most of the index.
        mapping["_source"] = {"excludes": ["trigrams"]}
    return mapping


# A handful of small documents, read by their ids.
_META_SETTINGS: dict[str, Any] = {"number_of_shards": 1}


def _copies(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"number_of_replicas": settings["number_of_replicas"]}


def _settings(client: Client) -> dict[str, Any]:
    """Return how an index is spread over the nodes there are."""
    nodes = client.call(lambda es: es.cat.nodes(format="json", h="node.role,version")).body
    holding = [node for node in nodes if "d" in str(node["node.role"])]  # type: ignore[index]
    spread = _FEWEST_NODES_TO_SPREAD if len(holding) >= _FEWEST_NODES_TO_SPREAD else 1
    shards, replicas = client.address.shards, client.address.replicas
    settings: dict[str, Any] = {
        "number_of_shards": spread if shards is None else shards,
        "number_of_replicas": int(len(holding) > 1) if replicas is None else replicas,
        "codec": "best_compression",
        # Writers refresh when they commit; nobody sees anything before that.
        "refresh_interval": "30s",
        "max_regex_length": _LONGEST_REGEX,
    }
    versions = [tuple(map(int, str(node["version"]).split(".")[:2])) for node in nodes]  # type: ignore[index]
    if versions and min(versions) >= _HIDES_VECTORS:
        settings["index.mapping.exclude_source_vectors"] = False
    return settings
