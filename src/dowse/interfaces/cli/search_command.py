"""`dowse search`: search the index, building it first if there is none."""

from __future__ import annotations

import argparse
import contextlib
import shlex
from typing import Any

from dowse.errors import DowseError
from dowse.index import QUICK_SYMBOLS, Index
from dowse.interfaces.cli import flags
from dowse.interfaces.cli.command import EXIT_FOUND, EXIT_NOTHING, CommandParser
from dowse.interfaces.cli.common import embed_briefly, ensure_current, open_index, print_message
from dowse.interfaces.cli.output import write_answer
from dowse.search.options import OPTIONS, OptionSpec, SearchOptions, make_options

_TYPES = {"int": int, "float": float}
# What a choice of "" is called on the command line.
_NONE = "none"
# Flags have a prefix of their own in the namespace: `--path` is no positional path.
_PREFIX = "option_"


def add_arguments(parser: CommandParser) -> None:
    """Add the flags of `dowse search`."""
    parser.add_argument(
        "query", nargs="?", help='words, identifiers, "phrases", /regexes/, filters, "what calls X"'
    )
    flags.add(parser, "target")
    parser.add_argument(
        "--batch",
        metavar="FILE",
        help='answer every line of a file ("-": standard input), a query or {"id", "query"} each',
    )
    _add_option_flags(parser)
    parser.add_argument(
        "--reranker", metavar="MODEL", help="the cross-encoder: rerank (shipped), or a folder"
    )
    form = flags.add_output_format(parser)
    form.add_argument("-l", "--files-with-matches", action="store_true", help="paths, as the index has them")
    parser.add_argument("-C", "--context", type=int, metavar="N", help="lines of each snippet")
    flags.add(parser, "--refresh", "--show-secrets", "indexing", "encoding")


def run(options: argparse.Namespace) -> int:
    """Search, building or updating the index first."""
    if options.batch is not None and options.query is not None:
        options.path, options.query = options.query, None  # queries come from the file
    if options.batch is None and options.query is None:
        raise DowseError("search needs a query, or --batch FILE; see `dowse search --help`")
    values = _option_values(options)
    options.explain = values.get("explain", False)
    index = open_index(options, refresh=options.refresh, reranker=options.reranker)
    _warn_of_ignored_flags(index, options)
    is_new = not index.is_shared and not index.exists
    if not is_new:
        index.warm(options.query or "", values.get("mode"), values.get("lanes"))
    ensure_current(index)
    search_options = make_options(index.settings, **values)
    _embed_new_symbols(index, search_options, is_new)
    _count_new_terms(index, search_options)
    if options.batch is not None:
        from dowse.interfaces.cli.batch import run_batch

        return run_batch(options, lambda query: index.search(query, **values), index.root)
    answer = index.search(options.query, **values)
    write_answer(answer, options, index.root)
    return EXIT_FOUND if answer.hits else EXIT_NOTHING


def _add_option_flags(parser: CommandParser) -> None:
    """Add a flag for every search option; one that is not on the command line is None."""
    for spec in OPTIONS.values():
        dest = _PREFIX + spec.name
        if spec.value_without:
            (flag,) = spec.flags
            parser.add_optional_choice(flag, _choices(spec), spec.value_without, spec.help, dest)
        elif spec.flags:
            parser.add_argument(*spec.flags, dest=dest, default=None, help=spec.help, **_keywords(spec))


def _option_values(namespace: argparse.Namespace) -> dict[str, Any]:
    """Return the options on the command line, as keyword arguments of `Index.search`."""
    values = {name: getattr(namespace, _PREFIX + name, None) for name in OPTIONS}
    return {
        name: "" if value == _NONE and "" in OPTIONS[name].choices else value
        for name, value in values.items()
        if value is not None
    }


def _choices(spec: OptionSpec) -> tuple[str, ...]:
    """Return the values that a flag takes."""
    return tuple(filter(None, spec.choices)) + ((_NONE,) if "" in spec.choices else ())


def _keywords(spec: OptionSpec) -> dict[str, Any]:
    """Return the keyword arguments of `add_argument` for the kind of an option."""
    if spec.kind == "bool":
        # A default from the settings can be switched off, too.
        return {"action": argparse.BooleanOptionalAction if spec.setting else "store_true"}
    if spec.kind == "choice":
        return {"choices": _choices(spec)}
    if spec.kind == "list":
        return {"action": "append", "metavar": spec.metavar}
    return {"type": _TYPES.get(spec.kind, str), "metavar": spec.metavar}


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


def _embed_new_symbols(index: Index, options: SearchOptions, is_new: bool) -> None:
    """Embed before a search with the embedding lane: if requested, on first use, or if that is quick."""
    if options.mode not in ("auto", "hybrid", "embedding") or index.settings.encoder == "none":
        return
    if index.is_shared:
        return
    if options.mode != "auto" or is_new or 0 < index.unembedded() <= QUICK_SYMBOLS:
        embed_briefly(index)


def _count_new_terms(index: Index, options: SearchOptions) -> None:
    """Count terms before a TF-IDF search, with a progress bar; the answer says if they can't be stored."""
    if options.mode != "tfidf" and "tfidf" not in options.lanes:
        return
    from dowse.interfaces.cli.progress import ProgressBar

    with contextlib.suppress(OSError), ProgressBar("counting terms of", "symbols") as bar:
        index.count_terms(on_progress=bar.show, on_wait=print_message)
