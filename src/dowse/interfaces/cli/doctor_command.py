"""`dowse doctor`: check the index and the installation."""

from __future__ import annotations

import argparse
import sqlite3
import sys
from typing import TYPE_CHECKING, Any

from dowse.errors import DowseError
from dowse.interfaces.cli import flags
from dowse.interfaces.cli.command import EXIT_ERROR, EXIT_FOUND, CommandParser
from dowse.interfaces.cli.common import open_index
from dowse.interfaces.cli.printing import print_json, print_line
from dowse.workers.sandbox import protections

if TYPE_CHECKING:
    from dowse.index import Index

Check = tuple[str, bool, str]  # name, whether it passed, detail


def add_arguments(parser: CommandParser) -> None:
    """Add the flags of `dowse doctor`."""
    flags.add(parser, "target", "--encoder", "--json")


def run(options: argparse.Namespace) -> int:
    """Run every check and print its result."""
    checks = _run_checks(open_index(options))
    if options.json:
        print_json([{"check": name, "ok": ok, "detail": detail} for name, ok, detail in checks])
    else:
        for name, ok, detail in checks:
            print_line(f"{'ok' if ok else 'BAD':<4} {name}: {detail}")
    return EXIT_FOUND if all(ok for _, ok, _ in checks) else EXIT_ERROR


def _run_checks(index: Index) -> list[Check]:
    checks = [
        ("python", sys.version_info >= (3, 11), sys.version.split()[0]),
        ("sqlite", sqlite3.sqlite_version_info >= (3, 22), sqlite3.sqlite_version),
        _grammars(),
        _models(),
        _sandbox(),
        ("folder", index.root.exists(), str(index.root)),
    ]
    if not index.exists:
        return [*checks, ("index", True, f"none yet in {index.backend.address}; `dowse index` makes one")]
    return [*checks, *_index_checks(index)]


def _sandbox() -> Check:
    """Say what confines the processes that read files; on other systems nothing does, which is no fault."""
    found = protections()
    missing = [name for name in ("Landlock", "seccomp") if not any(each.startswith(name) for each in found)]
    return (
        "sandbox",
        True,
        f"parsers and patterns: {', '.join([*found, *(f'no {name}' for name in missing)])}",
    )


def _grammars() -> Check:
    """Read every shipped grammar and compare its checksum."""
    from dowse.parsing.grammar_library import damaged_grammars
    from dowse.parsing.languages import LANGUAGES

    names = {
        grammar.name for each in LANGUAGES.values() for grammar in (each.grammar, *each.variants.values())
    }
    try:
        damaged = damaged_grammars(names)
    except (DowseError, OSError) as error:
        return "grammars", False, str(error)
    if damaged:
        return "grammars", False, f"missing or damaged: {', '.join(damaged)}; reinstall dowse"
    return "grammars", True, f"{len(names)} grammars as shipped"


def _models() -> Check:
    """Read every shipped model and compare its checksum."""
    from dowse.encoders.checksums import count_files, damaged_files
    from dowse.encoders.model_files import shipped_folders

    try:
        damaged = [str(folder / name) for folder in shipped_folders() for name in damaged_files(folder)]
        count = sum(map(count_files, shipped_folders()))
    except DowseError as error:
        return "models", False, str(error)
    if damaged:
        return "models", False, f"damaged: {', '.join(damaged)}; reinstall dowse"
    return "models", True, f"{count} files have their checksums"


def _encoder_checks(index: Index) -> list[Check]:
    """Encode a query, and check the stored vectors."""
    try:
        encoder = index.encoder
        if encoder is None:
            return [("encoder", True, "none in use")]
        length = float((encoder.encode_queries(["does it work"])[0] ** 2).sum())
    except DowseError as error:
        return [("encoder", False, str(error))]
    encoding = ("encoder", abs(length - 1) < 1e-2, f"{encoder.id} encodes")
    try:
        with index.backend.reader() as reader:
            return [encoding, ("vectors", *reader.vector_health(encoder.id))]
    except DowseError as error:
        return [encoding, ("vectors", False, str(error))]


def _cluster_checks(cluster: dict[str, Any]) -> list[Check]:
    """Return the health of the cluster that holds the index, if one does."""
    if not cluster:
        return []
    state = f"{cluster['status']}, {cluster['nodes']} nodes, {cluster['unassigned']} shards without one"
    checks = [("cluster", cluster["status"] != "red", state)]
    return [*checks, *(("advice", True, advice) for advice in cluster["advice"])]


def _index_checks(index: Index) -> list[Check]:
    try:
        problems = index.backend.check()
    except DowseError as error:
        return [("index", False, str(error))]
    if problems:
        remedy = "" if index.is_shared else "; run `dowse index --rebuild`"  # a cluster names its remedies
        return [("index", False, "; ".join(problems) + remedy)]
    facts = index.status()
    changed = sum(facts["changes"].values())
    fresh = "up to date" if not changed else f"{changed:,} files changed; run `dowse index`"
    checks = [
        ("index", True, f"{facts['files']:,} files, {facts['symbols']:,} symbols, both halves agree"),
        ("freshness", True, fresh),
        *_cluster_checks(facts["cluster"]),
        *_encoder_checks(index),
    ]
    if facts["problems"]:
        checks.append(
            ("parsing", True, f"{facts['problems']:,} files had no syntax tree: `dowse status --files`")
        )
    return checks
