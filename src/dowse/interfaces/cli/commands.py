"""One function per command; each returns the exit code."""

from __future__ import annotations

import argparse
import contextlib
import shlex
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dowse.config import cache_folder, load_settings
from dowse.errors import IndexLocked, IndexMissing
from dowse.formats.links import with_links
from dowse.formats.text import (
    Style,
    print_json,
    render_embedding,
    render_related,
    render_report,
    render_size,
    render_time,
)
from dowse.formats.write import write_answer
from dowse.index import QUICK_SECONDS, QUICK_SYMBOLS, Index
from dowse.interfaces.cli import environment as surroundings
from dowse.interfaces.cli.common import open_index, prepare, say, update
from dowse.interfaces.cli.main import ERROR, FOUND, NOTHING
from dowse.security.terminal import escape_name

if TYPE_CHECKING:
    from dowse.indexing.embed import EmbedReport
    from dowse.types import Answer


def search(options: argparse.Namespace) -> int:
    """Search, indexing first if need be."""
    index = open_index(
        options,
        fuzziness=options.fuzziness,
        top_k=options.top_k or None,
        refresh=options.refresh,
        reranker=options.reranker,
    )
    _warn_of_ignored(index, options)
    is_new = not index.is_shared and not index.exists
    if not is_new:
        index.warm(options.query or "", options.mode, options.lanes or ())
    prepare(index)
    _embed_what_is_new(index, options, is_new)
    _count_what_is_new(index, options)
    if options.batch is not None:
        from dowse.interfaces.cli.batch import run_batch

        return run_batch(options, lambda query: _ask(index, query, options), index.root)
    answer = _ask(index, options.query, options)
    write_answer(answer, options, index.root)
    return FOUND if answer.hits else NOTHING


def _ask(index: Index, query: str, options: argparse.Namespace) -> Answer:
    return index.search(
        query,
        k=options.top_k,
        mode=options.mode,
        plain=options.plain,
        filters=_filters(options),
        lanes=options.lanes or (),
        fusion=options.fusion,
        explain=options.explain,
        min_score=options.min_score,
        expand=options.expand,
        graph_expand=options.graph_expand,
        rerank=options.rerank,
        feedback=options.feedback,
        diversify="" if options.diversify == "none" else options.diversify,
        clustering=options.clustering,
    )


def _embed_what_is_new(index: Index, options: argparse.Namespace, is_new: bool) -> None:
    """Embed before a search by meaning: what was asked for, the first time, or a moment's work."""
    if options.mode not in ("auto", "hybrid", "embedding") or index.settings.encoder == "none":
        return
    if index.is_shared:
        return
    if options.mode != "auto" or is_new or 0 < index.unembedded() <= QUICK_SYMBOLS:
        _embed_for_a_moment(index)


def _count_what_is_new(index: Index, options: argparse.Namespace) -> None:
    """Count terms before a search by TF-IDF, showing how far it is; the answer says if they can't be kept."""
    if options.mode != "tfidf" and "tfidf" not in (options.lanes or ""):
        return
    from dowse.interfaces.cli.progress import ProgressBar

    with (
        contextlib.suppress(OSError),
        ProgressBar(sys.stderr.isatty(), "counting terms of", "symbols") as bar,
    ):
        index.count_terms(on_progress=bar.show, on_wait=say)


def index(options: argparse.Namespace) -> int:
    """Build the index, or bring it up to date."""
    # What goes to a cluster takes its vectors along: added afterwards, every document would be written twice.
    shared = load_settings(None, backend=options.backend).backend
    if len(options.paths) != 1 or options.list or options.workers or shared:
        from dowse.interfaces.cli.ingest_command import index_many

        return index_many(options)
    place = open_index(options)
    report = update(
        place, quiet=options.quiet, rebuild=options.rebuild, wait=0.0 if options.no_wait else None
    )
    embedded = None if options.no_embed or not place.encoder else _embed(place, options)
    if options.json:
        print_json({**report.as_dict(), "embedding": embedded and asdict(embedded)})
    elif not options.quiet:
        sys.stdout.write(render_report(report, place.root))
        if embedded and (embedded.encoded or embedded.reused):
            sys.stdout.write(render_embedding(embedded))
    return FOUND


def related(options: argparse.Namespace) -> int:
    """Show what is like a symbol."""
    index = open_index(options)
    prepare(index)
    _embed_for_a_moment(index)
    found = index.related(options.symbol, options.top_k)
    if options.json:
        from dowse.formats.answer_json import related_to_json

        print_json(related_to_json(found))
    else:
        for note in found.notes:
            say(str(note))
        sys.stdout.write(render_related(found, with_links(Style.choose("auto"), options, index.root)))
    return FOUND if found.neighbours else NOTHING


def eval(options: argparse.Namespace) -> int:
    """Measure how well searches answer."""
    from dowse.interfaces.cli.evaluation import run_eval

    return run_eval(options.arguments)


def train(options: argparse.Namespace) -> int:
    """Mine pairs, train encoders, export them."""
    from dowse_training.cli import run

    return run(options.arguments)


def symbols(options: argparse.Namespace) -> int:
    """List symbols by name."""
    index = open_index(options)
    prepare(index)
    pattern = options.pattern if set(options.pattern) & set("*?") else f"*{options.pattern}*"
    rows = index.symbols(pattern, options.top_k)
    if options.json:
        print_json([row._asdict() for row in rows])
    else:
        for row in rows:
            fields = (f"{row.path}:{row.start_line}", row.kind, row.qualified_name)
            sys.stdout.write("\t".join(map(escape_name, fields)) + "\n")
    return FOUND if rows else NOTHING


def status(options: argparse.Namespace) -> int:
    """Say what is indexed and how fresh it is."""
    index = open_index(options)
    if not index.exists:
        raise IndexMissing(f"no index of {index.root} yet; run `dowse index`")
    facts = index.status()
    if options.files:
        return _list_files(index, as_json=options.json)
    if options.json:
        print_json(facts)
        return FOUND
    lines = [
        ("root", facts["root"]),
        ("index", f"{facts['index']} ({render_size(facts['index_bytes'])})"),
        ("indexed", f"{render_time(facts['indexed_at'])}, generation {facts['generation']}"),
        (
            "files",
            f"{facts['files']:,} ({render_size(facts['source_bytes'])}), {facts['skipped']:,} left out",
        ),
        ("symbols", f"{facts['symbols']:,}"),
        ("embedded", _embedded(facts)),
        ("languages", ", ".join(f"{name or 'text'} {n:,}" for name, n in facts["languages"].items())),
        ("fresh", _freshness(facts)),
    ]
    if facts["writer"]:
        lines.append(("writing", f"process {facts['writer']}"))
    if facts["cluster"]:
        from dowse.formats.cluster_text import cluster_lines

        lines += cluster_lines(index.backend.health(fields=options.fields), facts)
    sys.stdout.writelines(f"{escape_name(f'{name:<10} {value}')}\n" for name, value in lines)
    return FOUND


def doctor(options: argparse.Namespace) -> int:
    """Check the index and the installation."""
    from dowse.interfaces.cli.doctor import run_checks

    checks = run_checks(open_index(options))
    if options.json:
        print_json([{"check": name, "ok": ok, "detail": detail} for name, ok, detail in checks])
    else:
        for name, ok, detail in checks:
            sys.stdout.write(escape_name(f"{'ok' if ok else 'BAD':<4} {name}: {detail}") + "\n")
    return FOUND if all(ok for _, ok, _ in checks) else ERROR


def clear(options: argparse.Namespace) -> int:
    """Remove the index."""
    index = open_index(options)
    if not index.backend.exists():
        say(f"there is no index of {index.root}")
        return NOTHING
    index.backend.clear()
    what = f"{index.root} from {index.backend.address}" if index.is_shared else index.backend.address
    sys.stdout.write(escape_name(f"removed {what} (vectors stay in {cache_folder() / 'vectors'})") + "\n")
    return FOUND


def completion(options: argparse.Namespace) -> int:
    """Print a completion script."""
    from argcomplete.shell_integration import shellcode

    sys.stdout.write(shellcode(["dowse"], shell=options.shell))
    return FOUND


def _warn_of_ignored(index: Index, options: argparse.Namespace) -> None:
    """Say which flags would have had to be given when the index was made, if it was made otherwise."""
    flags = [f"--exclude {shlex.quote(glob)}" for glob in options.exclude or ()]
    flags += ["--strip-docs"] if options.strip_docs else []
    flags += ["--include-secrets"] if options.include_secrets else []
    if not flags or not index.exists:
        return
    built, wanted = index.as_built().settings, index.settings
    names = ("exclude", "strip_docs", "include_secrets")
    if any(getattr(built, name) != getattr(wanted, name) for name in names):
        said = " ".join(flags)
        say(f"{said} only counts when the index is made; run `dowse index --rebuild {said}`")


def _filters(options: argparse.Namespace) -> str:
    """Write the filter flags in the query language."""
    flags = (("lang", options.lang), ("path", options.only_path), ("kind", options.kind))
    parts = [f"{name}:{_quoted(value)}" for name, values in flags for value in values or ()]
    parts += [f"-path:{_quoted(value)}" for value in options.not_path or ()]
    return " ".join(parts)


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _list_files(index: Index, *, as_json: bool) -> int:
    files, skipped, secrets = index.files(), index.skipped(), index.files_with_secrets()
    if as_json:
        left_out = [{"path": path, "reason": reason} for path, reason in skipped]
        listed = [{**file._asdict(), "likely_secrets": secrets.get(file.file_id, 0)} for file in files]
        print_json({"files": listed, "skipped": left_out})
        return FOUND
    for file in files:
        count = secrets.get(file.file_id, 0)
        likely = f"{count} likely secret{'s' if count > 1 else ''}" if count else ""
        extra = "".join(f", {note}" for note in (file.role, file.problem, likely) if note)
        language = file.language or "text"
        counts = escape_name(f"{language}, {file.symbols} symbols, {file.lines} lines{extra}")
        sys.stdout.write(f"in   {escape_name(file.path)}\t{counts}\n")
    for path, reason in skipped:
        sys.stdout.write(f"out  {escape_name(path)}\t{escape_name(reason)}\n")
    return FOUND


def _embed(index: Index, options: argparse.Namespace) -> EmbedReport:
    """Embed to the end, showing how far it is."""
    from dowse.interfaces.cli.progress import ProgressBar

    wait = 0.0 if options.no_wait else None
    with ProgressBar(not options.quiet and sys.stderr.isatty(), "embedding", "symbols") as bar:
        return index.embed(wait=wait, on_progress=bar.show, on_wait=say)


def _embed_for_a_moment(index: Index) -> None:
    """Embed what is new, a few seconds at most; a search must not become an indexing run."""
    left = 0 if index.is_shared else index.unembedded()
    if not left or (left <= QUICK_SYMBOLS and surroundings.settled(index, meaning=True)):
        return
    if left > QUICK_SYMBOLS:
        say(f"embedding for up to {QUICK_SECONDS:.0f} s before answering")
    try:
        index.embed(seconds=QUICK_SECONDS, wait=0.0)
    except (IndexLocked, OSError) as error:
        say(f"searching what is embedded already ({error})")


def _freshness(facts: dict[str, Any]) -> str:
    if facts["corpus"]:
        return "unknown (corpora are compared by `dowse index`)"
    changes = ", ".join(f"{count:,} {name}" for name, count in facts["changes"].items() if count)
    return f"no: {changes}; run `dowse index`" if changes else "yes"


def _embedded(facts: dict[str, Any]) -> str:
    if not facts["encoder"]:
        return "no encoder in use"
    done, total = facts["embedded"], facts["symbols"]
    share = 100 * done // total if total else 100
    rest = "" if done == total else f"; `{facts['finish']}` finishes it"
    return f"{done:,} ({share} %) by {facts['encoder']}{rest}"
