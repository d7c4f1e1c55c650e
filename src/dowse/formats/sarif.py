"""`--format sarif`: SARIF 2.1.0, which code hosts show beside the lines that it names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from dowse.formats.json_format import json_document
from dowse.formats.locations import describe_step
from dowse.security.terminal import escape_surrogates
from dowse.types import Answer, Hit, LineMatch, Note
from dowse.version import __version__

if TYPE_CHECKING:
    from dowse.graph.model import GraphAnswer, GraphStep

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
# The base id that lets another machine resolve the relative paths of a document.
_BASE = "SRCROOT"
_RULES = {
    "search": "Code that answers a search.",
    "callers": "Callers of a symbol.",
    "callees": "Symbols that a symbol calls.",
    "uses": "References to a symbol.",
    "implementers": "Symbols that implement an interface or override a method.",
    "subclasses": "Classes that extend a class.",
    "impact": "Symbols that a change of a symbol would affect.",
    "path": "A chain of references from one symbol to another.",
}


def answer_to_sarif(answer: Answer, root: Path) -> str:
    """Return a search as a SARIF document: every matching line of a pattern, else every symbol."""
    results = [result for hit in answer.hits for result in _hit_results(hit)]
    return _document("search", results, answer.notes, root)


def graph_to_sarif(answer: GraphAnswer, root: Path) -> str:
    """Return an answer of the code graph as SARIF: a result for each step, at its most certain reference."""
    results = [_step_result(answer, step) for step in answer.steps]
    return _document(answer.relation, results, answer.notes, root)


def _document(rule: str, results: list[dict[str, Any]], notes: tuple[Note, ...], root: Path) -> str:
    description = {
        "id": f"dowse/{rule}",
        "name": rule.capitalize(),
        "shortDescription": {"text": _RULES[rule]},
        "defaultConfiguration": {"level": "note"},
    }
    folder = root if root.is_dir() else root.parent  # a corpus is a file
    notifications = [{"level": "note", "message": {"text": str(note)}} for note in notes]
    run = {
        "tool": {"driver": {"name": "dowse", "version": __version__, "rules": [description]}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_BASE: {"uri": folder.as_uri() + "/"}},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notifications}],
        "results": [
            {"ruleId": description["id"], "ruleIndex": 0, "level": "note", **result} for result in results
        ],
    }
    return json_document({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _hit_results(hit: Hit) -> Iterator[dict[str, Any]]:
    symbol = hit.symbol
    message = f"{symbol.kind} {symbol.qualified_name}".rstrip()
    common: dict[str, Any] = {
        "message": {"text": message},
        "partialFingerprints": {"dowseSymbol/v1": symbol.id},
        "properties": {"score": round(hit.score, 6), "rank": hit.rank},
    }
    if hit.confidence is not None:
        common["rank"] = round(100 * min(1.0, max(0.0, hit.confidence)), 2)
    if not hit.matches:
        region = {"startLine": symbol.start_line, "endLine": max(symbol.start_line, symbol.end_line)}
        yield {**common, "locations": [_location(symbol.path, region)]}
    for match in hit.matches:
        yield {**common, "locations": [_location(symbol.path, _match_region(match))]}


def _match_region(match: LineMatch) -> dict[str, Any]:
    """Return the line of a match, and from its first character to its last."""
    region: dict[str, Any] = {"startLine": match.line, "snippet": {"text": match.text.rstrip("\r")}}
    if match.spans:
        region["startColumn"] = min(start for start, _ in match.spans) + 1
        region["endColumn"] = max(end for _, end in match.spans) + 1
    return region


def _step_result(answer: GraphAnswer, step: GraphStep) -> dict[str, Any]:
    symbol, other = step.symbol, step.other or answer.seed.qualified_name
    return {
        "message": {"text": f"{describe_step(step)} ({answer.relation} of {other})"},
        "partialFingerprints": {"dowseSymbol/v1": symbol.key},
        "properties": {"depth": step.depth, "confidence": step.confidence, "test": step.is_test},
        "locations": [_location(step.path, {"startLine": step.line})],
        "relatedLocations": [
            {
                **_location(symbol.path, {"startLine": symbol.start_line, "endLine": symbol.end_line}),
                "message": {"text": symbol.qualified_name},
            }
        ],
    }


def _location(path: str, region: dict[str, Any]) -> dict[str, Any]:
    # A colon in the first part of a relative URI would read as a scheme.
    uri = quote(escape_surrogates(path), safe="/")
    return {"physicalLocation": {"artifactLocation": {"uri": uri, "uriBaseId": _BASE}, "region": region}}
