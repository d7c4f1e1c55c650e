"""Mappings and settings of the indices of a NAME, and how these are created, checked and removed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from dowse.errors import IndexMissing
from dowse.storage.elastic.client import WRITE_SECONDS, Client
from dowse.storage.elastic.errors import error_reason
from dowse.storage.elastic.names import EDGES, FILES, KINDS, META, NAMES, SYMBOLS, vector_field
from dowse.storage.elastic.snapshot import FORMAT, check_format
from dowse.types import KEYWORD_FIELDS

_LONG, _INTEGER = {"type": "long"}, {"type": "integer"}
# Names and paths are shorter; Lucene takes 32,766 bytes, and a character may take four.
_KEYWORD = {"type": "keyword", "ignore_above": 8191}
_STORED = {"type": "keyword", "index": False, "doc_values": False}
_COLUMN, _FLAG = {**_KEYWORD, "index": False}, {"type": "boolean", "index": False}
_DATA = {"type": "object", "enabled": False}
_TERMS = {"type": "text", "analyzer": "whitespace", "index_options": "freqs"}
_VERSION = {"born": _LONG, "died": _LONG, "source": _KEYWORD, "hash": _STORED}
# Globs become regexes; the default of 1,000 characters is less than a path may have.
_MAX_REGEX_LENGTH = 100_000
_MIN_NODES_TO_SHARD = 3
# From this version on `_source` leaves vectors out by default.
_EXCLUDES_VECTORS = (9, 2)


def _keywords(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names, _KEYWORD)


_SYMBOLS: dict[str, Any] = {
    **_VERSION,
    **{"row": _LONG, "file": _LONG, "start_line": _INTEGER, "end_line": _INTEGER},
    **_keywords("key", "repo", "path", "language", "role", "kind", "name", "qualified_name"),
    **_keywords("name_key", "vector_key"),
    # Columns (doc values) that hits bring along: they are read many times faster than what is in `data`.
    **{"signature": _COLUMN, "overrides": _FLAG, "order": {**_INTEGER, "index": False}},
    "terms": {"properties": dict.fromkeys(KEYWORD_FIELDS, _TERMS)},
    "data": _DATA,
}
_NAMES: dict[str, Any] = {
    **{name: _SYMBOLS[name] for name in (*_VERSION, "row", "file", "order", "data")},
    **_keywords("key", "name", "qualified_name", "name_key"),
    # No filter applies to names.
    **dict.fromkeys(("repo", "path", "language", "role", "kind"), _COLUMN),
    "start_line": {**_INTEGER, "index": False},
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
_PROPERTIES = {SYMBOLS: _SYMBOLS, NAMES: _NAMES, FILES: _FILES, EDGES: _EDGES, META: _META}


def create(client: Client) -> None:
    """Create the indices that are missing; another process may be creating them at the same time."""

    def exists(index: str) -> bool:
        return bool(client.call(lambda es: es.indices.exists(index=index)))

    _create_indices(client, [kind for kind in KINDS if not exists(client.alias(kind))])


def check(client: Client) -> None:
    """Raise if an index is missing, or has the mapping of another format."""
    mappings = client.call(
        lambda es: es.indices.get_mapping(index=client.aliases, ignore_unavailable=True)
    ).body
    for mapping in mappings.values():
        check_format(mapping["mappings"].get("_meta", {}).get("dowse_format"), client)
    if len(mappings) < len(KINDS):
        raise IndexMissing(
            f"no complete index {client.address.name} on {client.address}; run `dowse index --rebuild`"
        )


def add_vector_field(client: Client, encoder: str, dimension: int) -> None:
    """Add the field for the vectors of an encoder; idempotent."""
    name, alias = vector_field(encoder), client.alias(SYMBOLS)
    mappings = client.call(lambda es: es.indices.get_mapping(index=alias)).body
    known = (each["mappings"].get("properties", {}).get(name, {}) for each in mappings.values())
    if all(each.get("dims") == dimension for each in known):
        return  # an indexer may write documents, not mappings
    field = {
        "type": "dense_vector",
        "dims": dimension,
        "element_type": "byte",
        "index": True,
        "similarity": "cosine",
        "index_options": {"type": "hnsw"},
    }
    client.call(
        lambda es: es.indices.put_mapping(index=alias, properties={name: field}),
        timeout=WRITE_SECONDS,
    )


def drop(client: Client) -> None:
    """Remove every index of the name, also those of an unfinished rebuild."""
    if indices := ",".join(physical_indices(client)):
        client.call(
            lambda es: es.options(ignore_status=404).indices.delete(index=indices), timeout=WRITE_SECONDS
        )


def replace(client: Client) -> None:
    """Replace all indices by empty ones of our format, atomically by their aliases."""
    old = physical_indices(client)
    number = 1 + max((int(index.rpartition("-")[2]) for index in old), default=0)
    _create_indices(client, KINDS, number)
    actions: list[dict[str, Any]] = [{"remove_index": {"index": index}} for index in old]
    actions += [
        {"add": {"index": _physical(client, kind, number), "alias": client.alias(kind)}} for kind in KINDS
    ]
    client.call(lambda es: es.indices.update_aliases(actions=actions), timeout=WRITE_SECONDS)


def physical_indices(client: Client) -> list[str]:
    """Return the indices behind the aliases, and those that no alias names."""
    aliases = [client.alias(kind) for kind in KINDS]
    patterns = ",".join(f"{alias}-*" for alias in aliases)
    indices = client.call(lambda es: es.indices.get(index=patterns, features="aliases")).body
    own = re.compile("|".join(rf"{re.escape(alias)}-[0-9]{{6}}" for alias in aliases))
    return sorted(index for index in indices if own.fullmatch(index))


def _physical(client: Client, kind: str, number: int) -> str:
    return f"{client.alias(kind)}-{number:06d}"


def _create_indices(client: Client, kinds: Sequence[str], number: int = 0) -> None:
    """Create indices; those of the first number get their aliases at once, others when they replace these."""
    if not kinds:
        return
    settings = _settings(client)
    # In parallel: a cluster applies all pending changes of its state in one step.
    with ThreadPoolExecutor(len(kinds)) as pool:
        list(pool.map(lambda kind: _create_index(client, kind, settings, number), kinds))


def _create_index(client: Client, kind: str, settings: Mapping[str, Any], number: int) -> None:
    import elasticsearch

    aliases: dict[str, Any] = {} if number else {client.alias(kind): {}}
    if kind == META:  # a handful of small documents, read by their ids
        settings = {"number_of_shards": 1, "number_of_replicas": settings["number_of_replicas"]}

    def request(es: elasticsearch.Elasticsearch) -> None:
        try:
            es.indices.create(
                index=_physical(client, kind, number or 1),
                aliases=aliases,
                mappings=_mappings(kind),
                settings=settings,
            )
        except elasticsearch.BadRequestError as error:
            if "resource_already_exists" not in error_reason(error.body):
                raise

    client.call(request, timeout=WRITE_SECONDS)


def _mappings(kind: str) -> dict[str, Any]:
    mapping: dict[str, Any] = {
        "dynamic": "strict",
        "_meta": {"dowse_format": FORMAT},
        "properties": _PROPERTIES[kind],
    }
    if kind == FILES:
        # Trigrams are computed from the text, which is stored: stored too, they would be most of the index.
        mapping["_source"] = {"excludes": ["trigrams"]}
    return mapping


def _settings(client: Client) -> dict[str, Any]:
    """Return the settings of an index: shards and replicas depend on the number of data nodes."""
    # Without metrics: `_cat/nodes` fails on all nodes while one of them starts and has no HTTP address yet.
    answer = client.call(lambda es: es.nodes.info(node_id="_all", metric="_none"))
    nodes = list(answer.body["nodes"].values())
    data_nodes = [node for node in nodes if any(role.startswith("data") for role in node["roles"])]
    default = _MIN_NODES_TO_SHARD if len(data_nodes) >= _MIN_NODES_TO_SHARD else 1
    shards, replicas = client.address.shards, client.address.replicas
    settings: dict[str, Any] = {
        "number_of_shards": default if shards is None else shards,
        "number_of_replicas": int(len(data_nodes) > 1) if replicas is None else replicas,
        "codec": "best_compression",
        # Writers refresh when they commit, and nothing is visible before that.
        "refresh_interval": "30s",
        "max_regex_length": _MAX_REGEX_LENGTH,
    }
    versions = [tuple(map(int, node["version"].split(".")[:2])) for node in nodes]
    if versions and min(versions) >= _EXCLUDES_VECTORS:
        settings["index.mapping.exclude_source_vectors"] = False
    return settings
