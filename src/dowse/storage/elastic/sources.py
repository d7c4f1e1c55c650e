"""What the sources of an index say of themselves, as a snapshot sees it: descriptions, what is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dowse.storage.elastic.names import source_id

if TYPE_CHECKING:
    from dowse.storage.elastic.session import Session

Version = Mapping[str, Any]
_PAGE = 1_000
# What describes one source, and would say something wrong of a folder that is none of the index.
_WHICH = frozenset(["root", "repo", "commit", "left_out"])


def versions(session: Session) -> list[Version]:
    """Return the source at hand as the snapshot sees it; nothing where none is, or it is not there."""
    found = session.get("meta", source_id(session.slot)) if session.slot else None
    version = _seen(session, found["data"]) if found else None
    return [version] if version else []


def every_version(session: Session) -> list[Version]:
    """Return all sources as the snapshot sees them."""
    return [version for data in _every(session) if (version := _seen(session, data))]


def meta_of(found: Sequence[Version]) -> dict[str, str]:
    """Return what all sources say alike, less what tells them apart, and when one was last written."""
    metas = [dict(version.get("meta", {})) for version in found]
    alike = set.intersection(*(set(meta.items()) for meta in metas)) if metas else set()
    last = max((int(meta.get("indexed_at", 0)) for meta in metas), default=0)
    return {**{key: value for key, value in alike if key not in _WHICH}, "indexed_at": str(last)}


def skipped_of(found: Sequence[Version]) -> list[tuple[str, str]]:
    """Return what is left out, and why."""
    return sorted(
        (str(path), str(reason)) for version in found for path, reason in version.get("skipped", ())
    )


def _every(session: Session) -> list[dict[str, Any]]:
    body: dict[str, Any] = {"query": {"term": {"kind": "source"}}, "size": _PAGE, "sort": [{"slot": "asc"}]}
    found: list[dict[str, Any]] = []
    while True:
        hits = session.search("meta", body)["hits"]["hits"]
        found += (hit["_source"]["data"] for hit in hits)
        if len(hits) < _PAGE:
            return found
        body["search_after"] = hits[-1]["sort"]


def _seen(session: Session, data: Mapping[str, Any]) -> Version | None:
    """Return the last version that the snapshot sees; a source of which it sees none is not there for it."""
    known = {int(tx): version for tx, version in data.get("versions", {}).items()}
    seen = [tx for tx in known if session.snapshot.sees(tx)]
    return known[max(seen)] if seen else None
