"""What `dowse doctor` looks at."""

from __future__ import annotations

import importlib
import sqlite3
import sys
from typing import Any

from dowse.errors import DowseError
from dowse.index import Index

Check = tuple[str, bool, str]


def run_checks(index: Index) -> list[Check]:
    """Return every check as (name, whether it is well, detail)."""
    checks = [
        ("python", sys.version_info >= (3, 11), sys.version.split()[0]),
        ("sqlite", sqlite3.sqlite_version_info >= (3, 22), sqlite3.sqlite_version),
        _grammars(),
        ("folder", index.root.exists(), str(index.root)),
    ]
    if not index.exists:
        return [*checks, ("index", True, f"none yet in {index.backend.address}; `dowse index` makes one")]
    return [*checks, *_index_checks(index)]


def _grammars() -> Check:
    from dowse.parsing.languages import LANGUAGES

    missing = []
    for name, language in LANGUAGES.items():
        try:
            importlib.import_module(language.grammar.module)
        except ImportError:
            missing.append(name)
    if missing:
        return "grammars", False, f"missing: {', '.join(missing)}; reinstall dowse"
    return "grammars", True, f"{len(LANGUAGES)} grammars load"


def _encoder_checks(index: Index) -> list[Check]:
    """Try the encoder, and look at the vectors it made."""
    try:
        encoder = index.encoder
        if encoder is None:
            return [("encoder", True, "none in use")]
        length = float((encoder.encode_queries(["does it work"])[0] ** 2).sum())
    except DowseError as error:
        return [("encoder", False, str(error))]
    tried = ("encoder", abs(length - 1) < 1e-2, f"{encoder.id} encodes")
    try:
        with index.backend.reader() as reader:
            return [tried, ("vectors", *reader.vector_health(encoder.id))]
    except DowseError as error:
        return [tried, ("vectors", False, str(error))]


def _cluster_checks(cluster: dict[str, Any]) -> list[Check]:
    """Say how the cluster fares that holds the index, if one does."""
    if not cluster:
        return []
    state = f"{cluster['status']}, {cluster['nodes']} nodes, {cluster['unassigned']} shards without one"
    checks = [("cluster", cluster["status"] != "red", state)]
    return [*checks, *(("advice", True, said) for said in cluster["advice"])]


def _index_checks(index: Index) -> list[Check]:
    try:
        problems = index.backend.check()
    except DowseError as error:
        problems = [str(error)]
    if problems:
        remedy = "" if "--rebuild" in problems[0] else "; run `dowse index --rebuild`"
        return [("index", False, "; ".join(problems) + remedy)]
    facts = index.status()
    changed = sum(facts["changes"].values())
    fresh = "up to date" if not changed else f"{changed:,} files changed; run `dowse index`"
    checks = [
        ("index", True, f"{facts['files']:,} files, {facts['symbols']:,} symbols, both halves agree"),
        ("freshness", True, fresh),
        *_cluster_checks(facts["cluster"]),
    ]
    checks += _encoder_checks(index)
    if facts["problems"]:
        checks.append(
            ("parsing", True, f"{facts['problems']:,} files had no syntax tree: `dowse status --files`")
        )
    return checks
