"""What a cluster says when it can't do something, in one line that names the remedy."""

from __future__ import annotations

from typing import Any

from dowse.errors import ConfigError, DowseError, IndexMissing
from dowse.storage.elastic.address import API_KEY, AUTHORITY, PASSWORD, ElasticAddress

# What a cluster that heals itself answers for a while.
_PASSING = (408, 429, 502, 503, 504)
# Its words for an index that takes nothing more because the disk is full.
_FULL = ("read-only / allow delete", "flood-stage", "flood stage")
AGAIN = "then run the same again: nothing is lost, it goes on where it stopped"


class ClusterBusy(DowseError):
    """The cluster asks for patience, and got all that we have."""


class ClusterBlocked(DowseError):
    """The cluster takes nothing more, usually because its disks are full."""


def is_passing(error: Exception) -> bool:
    """Whether it may help to ask again, or another node."""
    import elastic_transport
    import elasticsearch

    if isinstance(error, elastic_transport.TlsError):
        return False
    if isinstance(error, elastic_transport.ConnectionError | elastic_transport.ConnectionTimeout):
        return True
    return (
        isinstance(error, elasticsearch.ApiError) and error.meta.status in _PASSING and not _is_block(error)
    )


def explained(error: Exception, address: ElasticAddress) -> DowseError:
    """Return the one line for an error of the client."""
    import elastic_transport
    import elasticsearch

    if isinstance(error, elastic_transport.TlsError):
        return DowseError(
            f"the certificate of {address} can't be trusted ({one_line(error.message)}); "
            f"set {AUTHORITY} to the certificate of the authority that signed it"
        )
    if isinstance(error, elastic_transport.ConnectionTimeout):
        return DowseError(f"{address} takes too long to answer; see how its nodes are, {AGAIN}")
    if isinstance(error, elasticsearch.ApiError):
        return _refused(error.meta.status, reason_of(error.body), address)
    return DowseError(f"no node of {address} answers; start the cluster or check the address, {AGAIN}")


def _refused(status: int, reason: str, address: ElasticAddress) -> DowseError:
    """Return the one line for an answer that is a refusal."""
    if status == 401:
        return ConfigError(f"{address} does not accept who we say we are; check {PASSWORD} or {API_KEY}")
    if _is_full(reason):
        return ClusterBlocked(
            f"{address} takes nothing more, its disks are nearly full; free some space there, {AGAIN}"
        )
    if "cluster_block_exception" in reason:
        return ClusterBlocked(f"{address} takes nothing now ({reason}); let it be written to again, {AGAIN}")
    if status == 403:
        return DowseError(
            f"{address} does not allow this ({reason}); "
            f"let this user read, write and make the indices dowse-{address.name}-*"
        )
    if status == 404 and "index_not_found" in reason:
        return IndexMissing(f"no index {address.name} on {address}; run `dowse index` first")
    if status == 429:
        return ClusterBusy(
            f"{address} has more to do than it can (429); wait, or give it more nodes, {AGAIN}"
        )
    if status in _PASSING:
        return DowseError(f"parts of {address} can't be reached ({reason}); see `dowse status`, {AGAIN}")
    return DowseError(f"{address} refused a request ({status}: {reason}); see `dowse doctor`")


def _is_block(error: Any) -> bool:  # noqa: ANN401 - the client's own
    reason = reason_of(error.body)
    # A cluster that is looking for its master blocks everything for a moment.
    return "cluster_block_exception" in reason and "no master" not in reason and "not recovered" not in reason


def _is_full(reason: str) -> bool:
    return any(words in reason for words in _FULL)


def reason_of(body: object) -> str:
    """Return why a request was refused, as short as it can be said."""
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return one_line(error)
    causes = error.get("root_cause") or [error]
    cause = error.get("caused_by") or causes[0]
    said = [str(each) for each in (error.get("type"), cause.get("type"), cause.get("reason")) if each]
    return one_line(": ".join(dict.fromkeys(said)))


def one_line(text: object) -> str:
    """Return a text on one line, cut where it gets long."""
    line = " ".join(str(text).split())
    return line if len(line) <= 300 else line[:299] + "…"
