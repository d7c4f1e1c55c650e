"""`dowse search`: search the index, building it first if there is none."""

from __future__ import annotations

import argparse
import contextlib
import shlex
from typing import TYPE_CHECKING

from dowse.config import CLUSTERINGS, DIVERSIFY, FUSIONS, FUZZINESS, MODES
from dowse.errors import DowseError
from dowse.index import QUICK_SYMBOLS, Index
from dowse.interfaces.cli import flags
from dowse.interfaces.cli.common import embed_briefly, ensure_current, open_index, print_message
from dowse.interfaces.cli.exit_codes import EXIT_FOUND, EXIT_NOTHING
from dowse.interfaces.cli.output import write_answer
from dowse.interfaces.cli.parser import CommandParser

if TYPE_CHECKING:
    from dowse.types import Answer

DEFAULT_DIVERSIFY = "mmr"


def add_arguments(parser: CommandParser) -> None:
    """Add the flags of `dowse search`."""
    parser.add_argument(
        "query", nargs="?", help='words, identifiers, "phrases", /regexes/, filters, "what calls X"'
    )
    flags.add_target(parser)
    parser.add_argument(
        "--batch",
        metavar="FILE",
        help='answer every line of a file ("-": standard input), a query or {"id", "query"} each',
    )
    _add_search_flags(parser)
    form = flags.add_output_format(parser)
    form.add_argument("-l", "--files-with-matches", action="store_true", help="paths, as the index has them")
    parser.add_argument("-C", "--context", type=int, metavar="N", help="lines of each snippet")
    flags.add_refresh(parser)
    flags.add_show_secrets(parser)
    flags.add_indexing(parser)
    flags.add_encoder(parser)


def _add_search_flags(parser: CommandParser) -> None:
    """Add what decides which hits are found and how they are ranked."""
    switch = argparse.BooleanOptionalAction
    parser.add_argument("-k", "--top-k", type=int, metavar="N", help="number of hits (0: all; default: 10)")
    parser.add_argument("--mode", choices=MODES, default="auto", help="auto (default) decides by the query")
    parser.add_argument("--plain", action="store_true", help="take the query as words: no query language")
    parser.add_argument(
        "--lanes", metavar="L,L", help="lanes to use instead of the plan's: keyword, tfidf, embedding, graph"
    )
    parser.add_argument("--fusion", choices=FUSIONS, help="how the hits of lanes are fused (default: auto)")
    parser.add_argument("--expand", action=switch, help="expand the query with terms of the best hits")
    parser.add_argument("--graph-expand", action=switch, help="add the callees of the best hits")
    parser.add_argument("--rerank", action=switch, help="rerank the best hits with a cross-encoder (slower)")
    parser.add_argument(
        "--reranker", metavar="MODEL", help="the cross-encoder: rerank (shipped), or a folder"
    )
    parser.add_argument(
        "--feedback", action=switch, help="rank results that were chosen before first (default: yes)"
    )
    parser.add_optional_choice(
        "--diversify",
        (*DIVERSIFY[1:], "none"),
        DEFAULT_DIVERSIFY,
        "diversify the hits: maximal marginal relevance (mmr, the default without a value), the best of each "
        "cluster (cluster), or a share of each cluster (sample); none overrides the settings",
    )
    parser.add_argument(
        "--clustering",
        choices=CLUSTERINGS,
        help="how similar hits are clustered: by location in the tree (the first three), or by meaning",
    )
    parser.add_argument("--lang", action="append", metavar="L", help="only this language; may be repeated")
    parser.add_argument(
        "--path",
        action="append",
        metavar="GLOB",
        dest="only_path",
        help="only matching paths; may be repeated",
    )
    parser.add_argument(
        "--kind", action="append", metavar="K", help="only this kind of symbol; may be repeated"
    )
    parser.add_argument(
        "--not-path", action="append", metavar="GLOB", help="no matching paths; may be repeated"
    )
    parser.add_argument("--fuzziness", choices=FUZZINESS, help="maximal edit distance of words")
    parser.add_argument(
        "--min-score",
        type=float,
        default=0.0,
        metavar="S",
        help="drop weaker hits: by confidence (0 to 1) where the embedding lane is used, else by score",
    )
    parser.add_argument("--explain", action="store_true", help="show every contribution to each score")


def run(options: argparse.Namespace) -> int:
    """Search, building or updating the index first."""
    if options.batch is not None and options.query is not None:
        options.path, options.query = options.query, None  # queries come from the file
    if options.batch is None and options.query is None:
        raise DowseError("search needs a query, or --batch FILE; see `dowse search --help`")
    index = open_index(
        options,
        fuzziness=options.fuzziness,
        top_k=options.top_k or None,
        refresh=options.refresh,
        reranker=options.reranker,
    )
    _warn_of_ignored_flags(index, options)
    is_new = not index.is_shared and not index.exists
    if not is_new:
        index.warm(options.query or "", options.mode, options.lanes or ())
    ensure_current(index)
    _embed_new_symbols(index, options, is_new)
    _count_new_terms(index, options)
    if options.batch is not None:
        from dowse.interfaces.cli.batch import run_batch

        return run_batch(options, lambda query: _search(index, query, options), index.root)
    answer = _search(index, options.query, options)
    write_answer(answer, options, index.root)
    return EXIT_FOUND if answer.hits else EXIT_NOTHING


def _search(index: Index, query: str, options: argparse.Namespace) -> Answer:
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


def _warn_of_ignored_flags(index: Index, options: argparse.Namespace) -> None:
    """Name the flags that only count when the index is built, if it was built with others."""
    ignored = [f"--exclude {shlex.quote(glob)}" for glob in options.exclude or ()]
    ignored += ["--strip-docs"] if options.strip_docs else []
    ignored += ["--include-secrets"] if options.include_secrets else []
    if not ignored or not index.exists:
        return
    built, wanted = index.as_built().settings, index.settings
    names = ("exclude", "strip_docs", "include_secrets")
    if any(getattr(built, name) != getattr(wanted, name) for name in names):
        text = " ".join(ignored)
        print_message(f"{text} only counts when the index is built; run `dowse index --rebuild {text}`")


def _embed_new_symbols(index: Index, options: argparse.Namespace, is_new: bool) -> None:
    """Embed before a search with the embedding lane: if asked for, on first use, or if that is quick."""
    if options.mode not in ("auto", "hybrid", "embedding") or index.settings.encoder == "none":
        return
    if index.is_shared:
        return
    if options.mode != "auto" or is_new or 0 < index.unembedded() <= QUICK_SYMBOLS:
        embed_briefly(index)


def _count_new_terms(index: Index, options: argparse.Namespace) -> None:
    """Count terms before a TF-IDF search, with a progress bar; the answer says if they can't be stored."""
    if options.mode != "tfidf" and "tfidf" not in (options.lanes or ""):
        return
    from dowse.interfaces.cli.progress import ProgressBar

    with contextlib.suppress(OSError), ProgressBar("counting terms of", "symbols") as bar:
        index.count_terms(on_progress=bar.show, on_wait=print_message)


def _filters(options: argparse.Namespace) -> str:
    """Return the filter flags in the query language."""
    filters = (
        ("lang", options.lang),
        ("path", options.only_path),
        ("kind", options.kind),
        ("-path", options.not_path),
    )
    return " ".join(f"{name}:{_quote(value)}" for name, values in filters for value in values or ())


def _quote(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
