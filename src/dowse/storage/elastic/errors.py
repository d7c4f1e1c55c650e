"""Translate errors of the Elasticsearch client into one line that names the remedy."""

from __future__ import annotations

import re
from typing import Any

from dowse.errors import ConfigError, DowseError, IndexMissing
from dowse.storage.elastic.address import API_KEY, CA_FILE, FINGERPRINT, PASSWORD, ElasticAddress

# Statuses of a cluster that recovers by itself.
_RETRYABLE = (408, 429, 502, 503, 504)
# A node answers this, among others, while another one is still starting.
SERVER_ERROR = 500
# Between finding and fetching hits, a node keeps a context for each search, even without a scroll; it is lost
# when the shard leaves the node. The query itself says which snapshot it sees, so it can be sent again.
_LOST_CONTEXT = "search_context_missing_exception"
# Elasticsearch's words for an index that is read-only because the disk is full.
_DISK_FULL = ("read-only / allow delete", "flood-stage", "flood stage")
# A cluster that is electing its master blocks every request for a moment.
_ELECTION = ("no master", "not recovered")
# A node that can't reach the index of users and API keys rejects credentials that are right.
_AUTHENTICATION_FAILED = ("encountered a failure", "server is too busy")
UNAUTHORIZED = 401
RERUN = "then run the same again: nothing is lost, it resumes where it stopped"
# What OpenSSL and the client say of a certificate, and the remedy.
_TLS_REMEDIES = (
    ("Fingerprints did not match", f"compare {FINGERPRINT} with that of the cluster's certificate"),
    ("expired", "let the administrator of the cluster renew it"),
    ("not yet valid", "check the clock of this machine"),
    ("mismatch", "write the host in the address as the certificate names it"),
    ("doesn't match", "write the host in the address as the certificate names it"),
    ("WRONG_VERSION_NUMBER", "it does not speak TLS at this port; write elastic://, or another port"),
)
_TRUST = f"set {CA_FILE} to the certificate of the authority that signed it"
_CLAUSES = re.compile(r"maxClauseCount is set to (\d+)")
# The action that Elasticsearch refused, in its own words, and the role (docs/CLUSTER.md) that allows it.
_ACTION = re.compile(r"action \[([^ ]+)\] is unauthorized")
_ROLES = (
    (re.compile(r"indices:data/read|indices:(admin/(mappings/)?get|monitor)"), "read", "searcher"),
    (re.compile(r"indices:data/write|indices:admin/refresh"), "write", "indexer"),
    (re.compile(r""), "administer", "administrator"),
)


class ClusterBusy(DowseError):
    """The cluster rejected a request (429) until all retries were spent."""


class TooManyClauses(DowseError):
    """A query has more clauses than the cluster allows."""

    def __init__(self, message: str, limit: int) -> None:
        super().__init__(message)
        self.limit = limit


class AccessDenied(DowseError):
    """The user of these credentials may not do this."""


class ClusterBlocked(DowseError):
    """The cluster accepts no writes, usually because its disks are full."""


def is_retryable(error: Exception) -> bool:
    """Whether the same request may succeed later, or on another node."""
    import elastic_transport
    import elasticsearch

    if isinstance(error, elastic_transport.TlsError):
        return False
    if isinstance(error, elastic_transport.ConnectionError | elastic_transport.ConnectionTimeout):
        return True
    if not isinstance(error, elasticsearch.ApiError):
        return False
    if error.meta.status == UNAUTHORIZED:
        return any(words in str(error.body) for words in _AUTHENTICATION_FAILED)
    reason = error_reason(error.body)
    if error.meta.status not in (*_RETRYABLE, SERVER_ERROR):
        return _LOST_CONTEXT in reason
    return not is_write_block(reason)


def translate_error(error: Exception, address: ElasticAddress) -> DowseError:
    """Return the DowseError for an error of the client."""
    import elastic_transport
    import elasticsearch

    if isinstance(error, elastic_transport.TlsError):
        reason = one_line(error.message)
        remedy = next((remedy for words, remedy in _TLS_REMEDIES if words in reason), _TRUST)
        return DowseError(f"no trusted connection to {address} ({reason}); {remedy}")
    if isinstance(error, elastic_transport.ConnectionTimeout):
        return DowseError(f"{address} takes too long to answer; check its nodes, {RERUN}")
    if isinstance(error, elasticsearch.ApiError):
        return _api_error(error.meta.status, error_reason(error.body), address)
    check = "check the address" if address.tls else "check the address (elastics:// for TLS)"
    return DowseError(f"no node of {address} answers; start the cluster or {check}, {RERUN}")


def _api_error(status: int, reason: str, address: ElasticAddress) -> DowseError:
    if status == UNAUTHORIZED:
        return ConfigError(
            f"{address} rejected the credentials, or got none; check {API_KEY} or {PASSWORD}, "
            "or the file that holds it, on this machine"
        )
    if any(words in reason for words in _DISK_FULL):
        return disk_full(address)
    if is_write_block(reason):
        return ClusterBlocked(f"{address} accepts no writes ({reason}); lift the block, {RERUN}")
    if status == 403:
        return access_denied(reason, address)
    if status == 404 and "index_not_found" in reason:
        return IndexMissing(f"no index {address.name} on {address}; run `dowse index` first")
    if found := _CLAUSES.search(reason):
        return TooManyClauses(
            f"the question has more parts than {address} allows ({found[1]}); ask with fewer words",
            int(found[1]),
        )
    if status == 429:
        return cluster_busy(address)
    if status in _RETRYABLE or _LOST_CONTEXT in reason:
        return DowseError(f"parts of {address} can't be reached ({reason}); see `dowse status`, {RERUN}")
    return DowseError(f"{address} refused a request ({status}: {reason}); see `dowse doctor`")


def access_denied(reason: str, address: ElasticAddress) -> AccessDenied:
    """Return the error for credentials without a privilege; it names the role, not what is on the cluster."""
    found = _ACTION.search(reason)
    action = found[1] if found else ""
    verb, role = next((verb, role) for pattern, verb, role in _ROLES if pattern.match(action))
    detail = f" ({action})" if action else f" ({reason})"
    return AccessDenied(
        f"this user may not {verb} the index {address.name} on {address}{detail}; "
        f"let an administrator give it the role of a dowse {role} (docs/CLUSTER.md)"
    )


def cluster_busy(address: ElasticAddress) -> ClusterBusy:
    """Return the error for a cluster that keeps answering 429."""
    return ClusterBusy(f"{address} is overloaded (429); wait, or add nodes, {RERUN}")


def disk_full(address: ElasticAddress) -> ClusterBlocked:
    """Return the error for a cluster whose disks are above the flood-stage watermark."""
    return ClusterBlocked(
        f"{address} accepts no writes, its disks are nearly full; free some space there, {RERUN}"
    )


def is_write_block(reason: str) -> bool:
    """Whether a request was refused because of a block that somebody has to lift."""
    return "cluster_block_exception" in reason and not any(words in reason for words in _ELECTION)


def is_election(error: Exception) -> bool:
    """Whether the cluster has no master at the moment."""
    return any(words in error_reason(getattr(error, "body", "")) for words in _ELECTION)


def error_reason(body: object) -> str:
    """Return types and reason of an error response in one line."""
    error: Any = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return one_line(error)
    causes = error.get("root_cause") or [error]
    cause = error.get("caused_by") or causes[0]
    parts = [str(part) for part in (error.get("type"), cause.get("type"), cause.get("reason")) if part]
    return one_line(": ".join(dict.fromkeys(parts)))


def one_line(text: object) -> str:
    """Return a text on one line of at most 300 characters."""
    line = " ".join(str(text).split())
    return line if len(line) <= 300 else line[:299] + "…"
