"""What the sources of an index say of themselves, as a snapshot sees it: descriptions, what is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dowse.backends.elastic.names import source_id

if TYPE_CHECKING:
    from dowse.backends.elastic.session import Session

Version = Mapping[str, Any]
_PAGE = 1_000


def versions(session: Session) -> list[Version]:
    """Return the source at hand as the snapshot sees it; all where none is at hand, or it is not there."""
    if session.slot and (own := session.get("meta", source_id(session.slot))):
        found = _seen(session, own["data"])
        return [found] if found else []
    return [version for data in _every(session) if (version := _seen(session, data))]


def meta_of(found: Sequence[Version]) -> dict[str, str]:
    """Return what all sources say alike."""
    if not found:
        return {}
    first, *others = (dict(version.get("meta", {})) for version in found)
    return {key: value for key, value in first.items() if all(each.get(key) == value for each in others)}


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
