"""`dowse search` and `diff-search`: search the index, building it first if there is none."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dowse.config import Settings, load_settings
from dowse.encoders.model_files import is_shipped
from dowse.errors import UsageError
from dowse.interfaces.cli import flags, grep_flags
from dowse.interfaces.cli.command import EXIT_FOUND, EXIT_NOTHING, CommandParser, Once
from dowse.interfaces.cli.common import (
    continues_later,
    embed_briefly,
    embed_in_background,
    ensure_current,
    environment,
    flag_settings,
    open_index,
    stay_warm,
)
from dowse.interfaces.cli.output import write_answer
from dowse.interfaces.cli.printing import print_message
from dowse.interfaces.cli.query_words import read_query
from dowse.lazy_classes import replace
from dowse.search.forecast import likely_lanes
from dowse.search.options import OPTIONS, OptionSpec, SearchOptions, SearchRequest, make_options
from dowse.types import Note

if TYPE_CHECKING:
    from dowse.index import Index

_TYPES = {"int": int, "float": float}
# What a choice of "" is called on the command line.
_NONE = "none"
# Flags have a prefix of their own in the namespace: `--path` is no positional path.
_PREFIX = "option_"
# Options that leave open which hits there are.
_RANKED = frozenset(["k", "explain", "mode", "min_score", "diversify", "clustering"])
# Flags that few people ever need: `--help-all` shows them.
_ADVANCED = (
    *("--not-path", "--plain", "--fresh", "--lanes", "--fusion", "--fuzziness", "--expand"),
    *("--feedback", "--diversify", "--clustering", "--min-score", "--color"),
    "--snippet-lines",
)


def add_arguments(parser: CommandParser) -> None:
    """Add the flags of `dowse search`, or of `dowse diff-search`."""
    parser.usage = "dowse search [OPTION ...] QUERY ... [PATH]"
    if parser.command == "diff-search":
        parser.usage = "dowse diff-search [OPTION ...] BASE..[HEAD] QUERY ... [PATH]"
        parser.add_argument(
            "range", metavar="BASE..[HEAD]", help="what changed since BASE; without HEAD in the work tree"
        )
    parser.add_argument(
        "words",
        nargs="*",
        metavar="QUERY",
        help='words, identifiers, "phrases", /regexes/, filters, "what calls X"; "-": standard input. '
        "The last one is a PATH if it exists and has a / or an ending, or follows a single argument: a "
        "repository, a folder or file in one, a corpus (default: .)",
    )
    where = parser.add_argument_group("what to search")
    address = "a path, or a git address such as https://host/o/n@v2"
    where.add_argument("--repo", action=Once, metavar="PATH", help=address)
    several = 'all repositories that a file names: repositories = ["~/src/*", "../shop"]'
    where.add_argument("--workspace", action=Once, metavar="FILE", help=several)
    where.add_argument(
        "--everywhere", action="store_true", help="all of the repository, not this folder alone"
    )
    _add_option_flags(parser, where, "path", "exclude", "lang", "kind", "plain")
    flags.add(where, "--fresh")
    rank = parser.add_argument_group("how to match and rank")
    grep_flags.add_matching(rank)
    _add_option_flags(parser, rank, "mode", "rerank", "lanes", "fusion", "fuzziness")
    _add_option_flags(parser, rank, "expand", "feedback", "diversify", "clustering")
    show = parser.add_argument_group("what to show")
    _add_option_flags(parser, show, "k", "explain", "min_score")
    form = flags.add_output_format(show)
    form.add_argument("-l", "--files-with-matches", action="store_true", help="paths alone")
    form.add_argument("-c", "--count", action="store_true", help="the number of lines or hits of each file")
    grep_flags.add_showing(show)
    flags.add(show, "--color")
    index = parser.add_argument_group("the index")
    flags.add(index, "--index-dir", "--backend", "--refresh", "--encoder")
    parser.hide(*_ADVANCED)


def run(options: argparse.Namespace) -> int:
    """Search, building or updating the index first."""
    _read_words(options)
    grep_flags.check(options)
    values = _option_values(options)
    options.explain = values.get("explain", False)
    if options.workspace:
        if options.command == "diff-search":
            raise UsageError("--workspace goes with `dowse search` alone; name one repository with --repo")
        from dowse.interfaces.cli.workspace_search import search_workspace

        return search_workspace(options, values)
    lanes = likely_lanes(SearchRequest(options.query, make_options(Settings(), **values)))
    if "embedding" in lanes and not environment.get().is_daemon:
        _preload_encoder(options)
    index = open_index(options, revision=_revision(options, values))
    if options.place.below and not options.everywhere:
        values["within"] = options.place.below
    is_new = not index.is_shared and not index.exists
    search_options = make_options(index.settings, **values)
    if is_new:
        _check_query(options.query, search_options)
    elif not environment.get().is_daemon:
        index.internals.warm(lanes)
    ensure_current(index, needs_graph="graph" in lanes, question=_open_question(options, values))
    if options.command == "diff-search":
        from dowse.interfaces.cli.diff_search import enter_changes

        index = enter_changes(index, options, values)
        if not values["rows"]:
            print_message("no indexed symbol was changed")
            return EXIT_NOTHING
    _embed_new_symbols(index, search_options, is_new, options.query)
    _count_new_terms(index, search_options)
    answer = grep_flags.search(index, options.query, values, options)
    if options.is_input and not answer.hits and answer.mode != "regex":
        as_words = grep_flags.search(index, options.query, {**values, "plain": True}, options)
        if as_words.hits:  # a text may quote what is nowhere
            answer, options.words_note = as_words, "not all that the text quotes is here: its words count"
    if options.words_note:
        answer = replace(answer, notes=(Note("other", options.words_note), *answer.notes))
    write_answer(answer, options, index)
    if "within" in values and not answer.hits:
        print_message(f"only {values['within']} was searched; --everywhere searches all of {index.root}")
    stay_warm(index)
    return EXIT_FOUND if answer.hits else EXIT_NOTHING


def _open_question(options: argparse.Namespace, values: Mapping[str, Any]) -> str:
    """Return the query if it only asks for the best hits; "" if every match counts."""
    from dowse.query.lexer import tokenize

    if options.count or options.files_with_matches or values.keys() - _RANKED or values.get("k") == 0:
        return ""
    return options.query if all(token.kind == "word" for token in tokenize(options.query)) else ""


def _preload_encoder(options: argparse.Namespace) -> None:
    """Load a shipped encoder before the index is opened."""
    settings = load_settings(None, **flag_settings(options))
    if settings.isolation == "auto" and is_shipped(settings.encoder):
        from dowse.encoders.preload import preload

        preload(settings.encoder, settings.view, settings.device, settings.threads)


def _read_words(options: argparse.Namespace) -> None:
    """Set query and path of the options from the words of the command line."""
    if options.repo or options.workspace:
        words = read_query([" ".join(options.words) or "-"])._replace(path=options.repo)
    else:
        words = read_query(options.words)
    options.query, options.path, options.words_note, options.is_input = words


def _revision(options: argparse.Namespace, values: Mapping[str, Any]) -> str:
    """Return what `rev:` in the query names, "" without."""
    from dowse.query.parser import find_revision

    return find_revision(options.query, plain=bool(values.get("plain")), mode=values.get("mode"))


def _check_query(query: str, options: SearchOptions) -> None:
    """Refuse an invalid query before an index is built for it."""
    from dowse.search.planner import check_query

    check_query(SearchRequest(query, options))


def _add_option_flags(parser: CommandParser, group: argparse._ArgumentGroup, *names: str) -> None:
    """Add the flags of some search options; one that is not on the command line is None."""
    for name in names:
        spec, dest = OPTIONS[name], _PREFIX + name
        group.add_argument(*spec.flags, dest=dest, default=None, help=spec.help, **_keywords(spec))
        if spec.value_without:
            parser.set_optional_value(spec.flags[0], spec.value_without, _choices(spec))


def _option_values(namespace: argparse.Namespace) -> dict[str, Any]:
    """Return the options on the command line, as keyword arguments of `Index.search`."""
    values = {name: getattr(namespace, _PREFIX + name, None) for name in OPTIONS}
    globs = values["path"] or ()
    # As ripgrep has it, `-g '!GLOB'` leaves files out.
    values["path"] = [glob for glob in globs if not glob.startswith("!")] or None
    values["exclude"] = [*(values["exclude"] or ()), *(g[1:] for g in globs if g.startswith("!"))] or None
    if namespace.ignore_case:
        values["filters"] = f"{values['filters'] or ''} case:no"
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


def _embed_new_symbols(index: Index, options: SearchOptions, is_new: bool, query: str) -> None:
    """Embed before a search with the embedding lane: if requested, or if that is quick.

    All else is embedded in the background; until then a query has its best candidates encoded. On first use,
    where nothing goes on in the background, some are embedded before.
    """
    if index.is_shared:
        return
    if index.vectors.is_wanted(options, is_first=is_new and not continues_later(index)):
        embed_briefly(index, query)
    elif options.mode in ("auto", "hybrid", "embedding") or not index.graph.is_linked:
        embed_in_background(index)


def _count_new_terms(index: Index, options: SearchOptions) -> None:
    """Count terms before a TF-IDF search, with a progress bar; the answer says if they can't be stored."""
    if options.mode != "tfidf" and "tfidf" not in options.lanes:
        return
    from dowse.progress import ProgressBar

    with contextlib.suppress(OSError), ProgressBar("counting terms of", "symbols") as bar:
        index.internals.count_terms(on_progress=bar.show, on_wait=print_message)
