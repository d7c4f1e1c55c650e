"""`dowse`: arguments, dispatch and exit codes (0 found, 1 nothing found, 2 error)."""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
import sys
from collections.abc import Sequence
from types import ModuleType

from dowse.config import CLUSTERINGS, DEVICES, DIVERSIFY, FUSIONS, FUZZINESS, MODES, REFRESH, VECTORS, VIEWS
from dowse.errors import DowseError
from dowse.formats import FORMATS
from dowse.interfaces.cli.watch_command import add_no_daemon, add_watch
from dowse.security.terminal import escape_message, protect_terminals
from dowse.version import __version__

FOUND, NOTHING, ERROR = 0, 1, 2
_EXAMPLES = """examples:
  dowse search "parse cookie header"             by meaning and words, in the current folder
  dowse search "getUserName lang:java -test"     an identifier, a filter, an exclusion
  dowse search '/retry_\\w+\\(/ path:src/**'       lines, exactly as ripgrep finds them
  dowse search "session expiry" --explain        and why each answer is there
  dowse callers Session.close --depth 2          who calls a method, and who calls those
  dowse impact Session.close                     what a change would touch, and which tests to run
  dowse status --files                           what is indexed, and what is not
"""


# The questions to the graph, and what each lists.
_GRAPH = {
    "callers": "list who calls a symbol",
    "callees": "list what a symbol calls",
    "implementers": "list what implements an interface or overrides a method",
    "subclasses": "list what extends a class",
    "uses": "list every reference to a symbol: calls, types, decorators, subclasses, imports",
    "impact": "list what a change of a symbol would touch, and which tests to run",
    "path": "show the shortest chain of calls and uses from one symbol to another",
}
_DIVERSIFY = (*DIVERSIFY[1:], "none")
# Functions that can't be called as their commands are.
_FUNCTIONS = {"import": "import_"}
# What `--diversify` is where nothing else is named.
_USUAL_DIVERSIFY = "mmr"
_NAMES = "file.py:42, name, Class.method, pkg.mod.Class.method"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    protect_terminals()
    return run(_parse(arguments))


def run(options: argparse.Namespace) -> int:
    """Run one command with its options, and return its exit code."""
    name = _FUNCTIONS.get(options.command) or options.command.replace("-", "_")
    command = getattr(_home(options.command), name)
    try:
        code = int(command(options))
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("dowse: interrupted; what was finished before is kept", file=sys.stderr)  # noqa: T201
        return 130
    except BrokenPipeError:
        # The reader of our output has seen enough (`| head`): not an error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FOUND
    except (DowseError, OSError, ValueError) as error:
        print(f"dowse: {_message(error)}", file=sys.stderr)  # noqa: T201
        _drop_output()
        return ERROR
    return code


def _drop_output() -> None:
    """Forget what can't be written: Python would try again at its end, and fail in its own words."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _with_usual_diversify(given: list[str]) -> list[str]:
    """Name what `--diversify` means where it stands alone: argparse would take the query for its value."""
    usual = f"--diversify={_USUAL_DIVERSIFY}"
    end = given.index("--") if "--" in given else len(given)  # from there on all is text
    options, text = given[:end], given[end:]
    after = [*options[1:], ""]
    named = [
        usual if each == "--diversify" and following not in _DIVERSIFY else each
        for each, following in zip(options, after, strict=False)
    ]
    return named + text


def _home(command: str) -> ModuleType:
    """Return the module that holds a command."""
    if command in _GRAPH:
        from dowse.interfaces.cli import graph_commands

        return graph_commands
    if command == "feedback":
        from dowse.interfaces.cli import feedback_commands

        return feedback_commands
    if command == "serve":
        from dowse.interfaces.cli import serve_command

        return serve_command
    if command == "watch":
        from dowse.interfaces.cli import watch_command

        return watch_command
    if command == "mcp":
        from dowse.interfaces.cli import mcp_command

        return mcp_command
    if command == "install":
        from dowse.interfaces.cli import install_command

        return install_command
    if command == "trust":
        from dowse.interfaces.cli import trust_command

        return trust_command
    if command in ("export", "import"):
        from dowse.interfaces.cli import transfer_command

        return transfer_command
    from dowse.interfaces.cli import commands

    return commands


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line, also `search QUERY --json PATH`, which argparse gives up on before 3.13."""
    parser = _parser()
    if "_ARGCOMPLETE" in os.environ:  # a shell asks what could come next
        import argcomplete

        argcomplete.autocomplete(parser)
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] in (["eval"], ["train"], ["feedback"]):
        return argparse.Namespace(command=given[0], arguments=given[1:])
    options, rest = parser.parse_known_args(_with_usual_diversify(given))
    if len(rest) == 1 and _lacks_path(options) and not rest[0].startswith("-"):
        options.path = rest.pop()
    if options.command == "index":
        named, rest = _split(rest)
        options.paths = [*([options.path] if options.path else ()), *options.more, *named]
        options.paths = options.paths or ([] if options.list else ["."])
        options.path = options.paths[0] if options.paths else "."
    if options.command == "export" and len(rest) == 1 and options.path is None:
        options.path, options.file = options.file, rest.pop()  # `export PATH --backend URL FILE`
    if options.command == "search":
        if options.batch is not None and options.query is not None:
            options.path, options.query = options.query, None  # queries come from the file
        if options.batch is None and options.query is None:
            parser.error("search needs a query, or --batch FILE")
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    return options


@functools.lru_cache(maxsize=1)  # a warm process parses many command lines
def _parser() -> argparse.ArgumentParser:
    return build_parser()


def _split(rest: list[str]) -> tuple[list[str], list[str]]:
    """Return the paths among what argparse has no place for, and what is left."""
    paths = [each for each in rest if not each.startswith("-")]
    return paths, [each for each in rest if each.startswith("-")]


def _lacks_path(options: argparse.Namespace) -> bool:
    """Whether no path was given yet; `import` tells none from the current folder."""
    return getattr(options, "path", "") == "." or (options.command == "import" and options.path is None)


def _message(error: Exception) -> str:
    """Return what to tell the user on one line, or as a list where the error is one."""
    return escape_message(error, _unescaped_message(error))


def _unescaped_message(error: Exception) -> str:
    """Return what to tell the user; what is no mistake of theirs goes on as it is."""
    if isinstance(error, OSError) and error.filename:
        remedy = "check the path and its permissions, or name another place with --index-dir"
        return f"{os.fsdecode(error.filename)}: {error.strerror}; {remedy}"
    if isinstance(error, OSError):  # a full disk names no file
        return f"{error.strerror or error}; free some space, or name another place with --index-dir"
    # A query that can't be understood says where; its class is not named here, to stay quick to start.
    if not isinstance(error, DowseError) and not hasattr(error, "position"):
        raise error
    return str(error)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="dowse",
        description="Find code by what it does: offline, with reasons.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"dowse {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_search(commands)
    _add_index(commands)
    _add_symbols(commands)
    _add_related(commands)
    _add_graph(commands)
    _add_serve(commands)
    add_watch(commands)
    _add_mcp(commands)
    _add_install(commands)
    _add_status(commands)
    _add_trust(commands)
    _add_doctor(commands)
    _add_clear(commands)
    _add_transfer(commands)
    _add_feedback(commands)
    _add_eval(commands)
    _add_train(commands)
    _add_completion(commands)
    add_no_daemon(commands)
    return parser


_Commands = argparse._SubParsersAction


def _command(commands: _Commands[argparse.ArgumentParser], name: str, text: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    return parser


def add_place(parser: argparse.ArgumentParser) -> None:
    """Add where the code and its index are."""
    parser.add_argument(
        "path",
        nargs="?",
        default=".",
        help="repository, folder, BEIR folder or .jsonl[.gz] corpus (default: .)",
    )
    parser.add_argument("--index-dir", metavar="DIR", help="where the index lies (default: the user's cache)")
    add_backend(parser)


def add_backend(parser: argparse.ArgumentParser) -> None:
    """Add where an index lies that many share."""
    parser.add_argument("--backend", metavar="URL", help="an index that many share: elastic://host:9200/NAME")


def _add_indexing(parser: argparse.ArgumentParser) -> None:
    """Add what decides which text an index holds."""
    parser.add_argument(
        "--exclude",
        action="append",
        metavar="GLOB",
        help="leave out, written as in .gitignore; may be repeated",
    )
    parser.add_argument(
        "--strip-docs", action="store_true", default=None, help="leave documentation out of the index"
    )
    parser.add_argument(
        "--include-secrets",
        action="store_true",
        default=None,
        help="index secrets too: .env, private keys, credentials (left out by default)",
    )
    parser.add_argument("--processes", type=int, metavar="N", help="parsing processes (default: all cores)")


def _add_show_secrets(parser: argparse.ArgumentParser) -> None:
    """Add whether likely secrets are shown as they are."""
    parser.add_argument(
        "--show-secrets",
        action="store_true",
        default=None,
        help="show likely secrets as they are (default: masked with *)",
    )


def _add_encoding(parser: argparse.ArgumentParser) -> None:
    """Add what decides how text becomes vectors and how they are searched."""
    parser.add_argument(
        "--encoder", metavar="NAME", help="base, small, a model's folder, hf:owner/name, or none"
    )
    parser.add_argument("--view", choices=VIEWS, help="encode symbols whole (default), or their docs alone")
    parser.add_argument("--vectors", choices=VECTORS, help="how vectors are searched (default: auto)")
    parser.add_argument("--device", choices=DEVICES, help="where encoders run (default: auto)")
    parser.add_argument("--threads", type=int, metavar="N", help="encoding threads (default: all cores)")


def _add_format(parser: argparse._MutuallyExclusiveGroup) -> None:
    """Add how an answer is written."""
    parser.add_argument(
        "--format", choices=FORMATS, help="how the answer is written (default: text; docs/USING.md)"
    )


def _add_terminal(parser: argparse.ArgumentParser) -> None:
    """Add what terminals can do."""
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    parser.add_argument(
        "--links",
        choices=("auto", "always", "never"),
        default="auto",
        help="places that can be clicked (default: in terminals)",
    )


def _add_search(commands: _Commands[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "search", "search; indexes first if there is no index yet")
    parser.add_argument(
        "query", nargs="?", help='words, identifiers, "phrases", /regexes/, filters, "what calls X"'
    )
    add_place(parser)
    parser.add_argument(
        "--batch",
        metavar="FILE",
        help='answer every line of a file ("-": standard input), a query or {"id", "query"} each',
    )
    parser.add_argument("-k", "--top-k", type=int, metavar="N", help="how many answers (0: all; default: 10)")
    parser.add_argument("--mode", choices=MODES, default="auto", help="auto (default) picks by the query")
    parser.add_argument("--plain", action="store_true", help="take the query as words: no query language")
    parser.add_argument("--lanes", metavar="L,L", help="of keyword, tfidf, embedding, graph: not the plan's")
    parser.add_argument("--fusion", choices=FUSIONS, help="how lanes' answers become one (default: auto)")
    parser.add_argument(
        "--expand",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="add terms of the best answers to the query",
    )
    parser.add_argument(
        "--graph-expand",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="add what the best answers call",
    )
    parser.add_argument(
        "--rerank",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="a second look at the best answers, by a cross-encoder (slower)",
    )
    parser.add_argument(
        "--feedback",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="let what was chosen before come first (default: yes)",
    )
    parser.add_argument("--reranker", metavar="MODEL", help="which one: rerank (shipped), or a folder")
    parser.add_argument(
        "--diversify",
        choices=_DIVERSIFY,
        help="let answers that are alike not stand side by side: next what least repeats those above (mmr, "
        "if nothing is named), the best of each cluster (cluster), or from each its share (sample); none for "
        "not at all, whatever the settings say",
    )
    parser.add_argument(
        "--clustering",
        choices=CLUSTERINGS,
        help="what is alike: places in the tree (the first three), or meaning",
    )
    parser.add_argument("--lang", action="append", metavar="L", help="only this language; may be repeated")
    parser.add_argument(
        "--path",
        action="append",
        metavar="GLOB",
        dest="only_path",
        help="only paths like this; may be repeated",
    )
    parser.add_argument(
        "--kind", action="append", metavar="K", help="only this kind of symbol; may be repeated"
    )
    parser.add_argument(
        "--not-path", action="append", metavar="GLOB", help="no paths like this; may be repeated"
    )
    parser.add_argument("--fuzziness", choices=FUZZINESS, help="edits a word may be away")
    parser.add_argument(
        "--min-score",
        type=float,
        default=0.0,
        metavar="S",
        help="leave out weaker answers: by confidence (0 to 1) where meaning has a say, else by score",
    )
    parser.add_argument("--explain", action="store_true", help="show every contribution to each score")
    form = parser.add_mutually_exclusive_group()
    _add_format(form)
    form.add_argument("--json", action="store_true", help="one JSON document (docs/JSON.md)")
    form.add_argument("-l", "--files-with-matches", action="store_true", help="paths, as the index has them")
    parser.add_argument("-C", "--context", type=int, default=None, metavar="N", help="lines of each snippet")
    _add_terminal(parser)
    parser.add_argument("--refresh", choices=REFRESH, help="look for changed files first (default: auto)")
    _add_show_secrets(parser)
    _add_indexing(parser)
    _add_encoding(parser)


def _add_index(commands: _Commands[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "index", "build the index, or bring it up to date")
    add_place(parser)
    parser.set_defaults(path=None)  # to tell a folder that was named from none
    parser.add_argument("more", nargs="*", metavar="PATH", help="more of them, indexed one after the other")
    parser.add_argument("--list", metavar="FILE", help="a file that names them, one a line")
    parser.add_argument(
        "--workers", metavar="W", help="who indexes: ray://HOST:PORT or local:N (dowse[ray]; docs/CLUSTER.md)"
    )
    _add_indexing(parser)
    _add_encoding(parser)
    parser.add_argument("--no-embed", action="store_true", help="index words and names only, for now")
    parser.add_argument("--rebuild", action="store_true", help="throw the old index away first")
    parser.add_argument("--no-wait", action="store_true", help="fail if another dowse is writing")
    parser.add_argument("-q", "--quiet", action="store_true", help="say nothing but errors")
    parser.add_argument("--json", action="store_true", help="report as JSON")


def _add_symbols(commands: _Commands[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "symbols", "list symbols by name")
    parser.add_argument("pattern", help="a name or qualified name; * and ? are wild")
    add_place(parser)
    parser.add_argument("-k", "--top-k", type=int, default=50, metavar="N", help="how many (default: 50)")
    _add_show_secrets(parser)
    parser.add_argument("--json", action="store_true", help="as JSON")


def _add_related(commands: _Commands[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "related", "show what is like a symbol: neighbours, and its group")
    parser.add_argument("symbol", help=_NAMES)
    add_place(parser)
    _add_encoding(parser)
    parser.add_argument("-k", "--top-k", type=int, default=10, metavar="N", help="how many (default: 10)")
    _add_show_secrets(parser)
    parser.add_argument("--json", action="store_true", help="as JSON")


def _add_graph(commands: _Commands[argparse.ArgumentParser]) -> None:
    for name, text in _GRAPH.items():
        parser = _command(commands, name, text)
        if name == "path":
            parser.add_argument("start", help=f"where it begins: {_NAMES}")
            parser.add_argument("end", help="where it leads to")
        else:
            parser.add_argument("symbol", help=_NAMES)
        add_place(parser)
        parser.add_argument("--depth", type=int, metavar="N", help="hops to walk (docs/GRAPH.md)")
        if name != "path":
            usual = 200 if name == "impact" else 50
            parser.add_argument(
                "-k", "--top-k", type=int, metavar="N", help=f"how many (0: all; default: {usual})"
            )
        form = parser.add_mutually_exclusive_group()
        _add_format(form)
        form.add_argument("--json", action="store_true", help="one JSON document (docs/JSON.md)")
        form.add_argument("--dot", action="store_true", help="a picture for Graphviz")
        form.add_argument("--mermaid", action="store_true", help="a picture for Mermaid")
        _add_terminal(parser)
        _add_show_secrets(parser)
        parser.add_argument("--refresh", choices=REFRESH, help="look for changed files first (default: auto)")


def _add_feedback(commands: _Commands[argparse.ArgumentParser]) -> None:
    # Its steps and flags are in `feedback_commands.py`, which is loaded only when asked for.
    _command(commands, "feedback", "list, add and forget what was chosen before, which comes first")


def _add_eval(commands: _Commands[argparse.ArgumentParser]) -> None:
    # Its flags are in `dowse.interfaces.cli.evaluation.parser`, which is loaded only when asked for.
    _command(commands, "eval", "measure how well searches answer, on your own repository or any set")


def _add_train(commands: _Commands[argparse.ArgumentParser]) -> None:
    # Its own steps and flags are parsed by `dowse.train.cli`, which is loaded only when asked for.
    _command(commands, "train", "mine pairs, train an encoder, export it (extra: dowse[train])")


def _add_status(commands: _Commands[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "status", "say what is indexed and how fresh it is")
    add_place(parser)
    _add_encoding(parser)
    parser.add_argument("--files", action="store_true", help="list each file, and why one is left out")
    parser.add_argument("--fields", action="store_true", help="of a cluster: bytes by field (takes a while)")
    parser.add_argument("--json", action="store_true", help="as JSON")


def _add_serve(commands: _Commands[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "serve", "answer over HTTP: a page to search on, and an API")
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="repositories, folders or corpora (default: .)"
    )
    add_backend(parser)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine)")
    parser.add_argument("--port", type=int, default=8742, metavar="N", help="0 takes any (default: 8742)")
    parser.add_argument("--token", metavar="SECRET", help="that every request must bring (or DOWSE_TOKEN)")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument(
        "--reports", action="append", metavar="FOLDER", help="with reports of `dowse eval`; may be repeated"
    )
    parser.add_argument("--no-feedback", action="store_true", help="record no choices, and use none")
    parser.add_argument("--watch", action="store_true", help="take in changes as they happen (docs/WATCH.md)")
    parser.add_argument(
        "--rate", type=float, metavar="N", help="requests a second from one address (0: any; default: 200)"
    )
    parser.add_argument(
        "--allow-origin",
        action="append",
        metavar="ORIGIN",
        help="another origin whose pages may ask, e.g. of a proxy; may be repeated",
    )
    _add_show_secrets(parser)
    _add_encoding(parser)


def _add_mcp(commands: _Commands[argparse.ArgumentParser]) -> None:
    from dowse.interfaces.cli.mcp_command import add_mcp

    parser = _command(commands, "mcp", "answer coding agents: search and the code graph as MCP tools")
    add_mcp(parser)
    _add_show_secrets(parser)
    _add_encoding(parser)


def _add_install(commands: _Commands[argparse.ArgumentParser]) -> None:
    from dowse.interfaces.cli.install_command import add_install

    add_install(_command(commands, "install", "tell coding agents about dowse: Claude Code, Codex, …"))


def _add_trust(commands: _Commands[argparse.ArgumentParser]) -> None:
    from dowse.interfaces.cli.trust_command import add_trust

    add_trust(_command(commands, "trust", "allow what a repository's .dowse.toml may not choose by itself"))


def _add_doctor(commands: _Commands[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "doctor", "check the index and the installation")
    add_place(parser)
    _add_encoding(parser)
    parser.add_argument("--json", action="store_true", help="as JSON")


def _add_clear(commands: _Commands[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "clear", "remove the index (the code stays)")
    add_place(parser)


def _add_transfer(commands: _Commands[argparse.ArgumentParser]) -> None:
    for name, text in (
        ("export", "write an index to one file, vectors and all"),
        ("import", "make an index from such a file: nothing is parsed or encoded again"),
    ):
        parser = _command(commands, name, text)
        # Where the index belongs; on a cluster, without it, a file keeps the name that it was exported with.
        places = [("path", {"nargs": "?", "help": "repository, folder or corpus (default: .)"}), ("file", {})]
        for place, how in places if name == "export" else reversed(places):
            parser.add_argument(place, **how)  # type: ignore[arg-type]
        parser.add_argument("--index-dir", metavar="DIR", help="where it lies (default: the user's cache)")
        add_backend(parser)
        if name == "export":
            parser.add_argument("--repo", metavar="NAME", help="a repository of the cluster that is not here")
        else:
            parser.add_argument("--no-wait", action="store_true", help="fail if another dowse is writing")
        parser.add_argument("-q", "--quiet", action="store_true", help="say nothing but errors")
        parser.add_argument("--json", action="store_true", help="report as JSON")


def _add_completion(commands: _Commands[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "completion", "print a completion script for a shell")
    parser.add_argument("shell", choices=("bash", "zsh", "fish", "tcsh", "powershell"))


if __name__ == "__main__":
    sys.exit(main())
