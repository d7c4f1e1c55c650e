"""Three examples of every command, which its `--help` opens with; a test runs them all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Example(NamedTuple):
    """A command line as one types it, and what it does."""

    line: str
    meaning: str


EXAMPLES: Mapping[str, tuple[Example, Example, Example]] = {
    "search": (
        Example("dowse search parse cookie header", "by meaning and words, in this folder"),
        Example("dowse search 'what calls parse_order' tests", "a question about structure, below tests/"),
        Example("dowse search '/retry_\\w+\\(/' -g '*.py' -C 2", "a regex, with two lines of context"),
    ),
    "diff-search": (
        Example(
            "dowse diff-search main.. where are prices computed", "in what differs from main, uncommitted too"
        ),
        Example("dowse diff-search HEAD~1..HEAD parse order", "in the last commit alone"),
        Example("dowse diff-search main.. 'kind:function' -k 50", "every function that was changed"),
    ),
    "log": (
        Example("dowse log when were prices rounded", "commits by meaning and words"),
        Example("dowse log 'author:ann since:2024-01-01 path:src/** order'", "with filters"),
        Example("dowse log --symbol parse_order", "what changed a function, newest first"),
    ),
    "index": (
        Example("dowse index", "build or update the index of this repository"),
        Example("dowse index --no-embed", "without vectors: words and names only"),
        Example("dowse index --rebuild", "from scratch"),
    ),
    "symbols": (
        Example("dowse symbols order", "every symbol with order in its name"),
        Example("dowse symbols 'parse_*'", "names that begin so"),
        Example("dowse symbols 'Order.*' --json", "the members of a class, as JSON"),
    ),
    "related": (
        Example("dowse related orders.parse_order", "symbols with a similar meaning, and their cluster"),
        Example("dowse related src/bakery/orders.py:38 -k 5", "of what is at this line"),
        Example("dowse related Order.total_price --json", "as JSON"),
    ),
    "callers": (
        Example("dowse callers orders.parse_order", "every call of a function"),
        Example("dowse callers Dough.knead --depth 2", "and the callers of those"),
        Example("dowse callers src/bakery/orders.py:27 --format grep", "for an editor"),
    ),
    "callees": (
        Example("dowse callees orders.parse_order", "what a function calls"),
        Example("dowse callees bake_bread --depth 2", "and what that calls"),
        Example("dowse callees bake_bread --json", "as JSON"),
    ),
    "implementers": (
        Example("dowse implementers Dough", "what implements or extends it"),
        Example("dowse implementers Dough.rise", "what overrides a method"),
        Example("dowse implementers Dough --format path", "the files alone"),
    ),
    "subclasses": (
        Example("dowse subclasses Dough", "what extends a class"),
        Example("dowse subclasses Dough --depth 1", "directly"),
        Example("dowse subclasses Dough --json", "as JSON"),
    ),
    "uses": (
        Example("dowse uses Order", "every reference: calls, types, imports, subclasses"),
        Example("dowse uses Order --depth 2", "and what uses that"),
        Example("dowse uses Order --format grep", "one line each"),
    ),
    "impact": (
        Example("dowse impact orders.parse_order", "what a change touches, and which tests to run"),
        Example("dowse impact Order --depth 2", "no more than two steps away"),
        Example("dowse impact orders.parse_order --json", "as JSON"),
    ),
    "path": (
        Example("dowse path demo orders.parse_order", "how one function reaches another"),
        Example("dowse path demo Order --depth 4", "in at most four steps"),
        Example("dowse path demo orders.parse_order --json", "as JSON"),
    ),
    "serve": (
        Example("dowse serve", "this folder, on http://127.0.0.1:8742/"),
        Example("dowse serve --open --watch", "open the page; follow changes of files"),
        Example("dowse serve . --port 0", "on any free port"),
    ),
    "watch": (
        Example("dowse watch", "this folder, until Ctrl-C"),
        Example("dowse watch ~/src/shop ~/src/bank", "two repositories"),
        Example("dowse watch --threads 2 --nice 19", "with more threads, at the lowest priority"),
    ),
    "stop": (
        Example("dowse stop", "end the process that the last searches were answered by"),
        Example("dowse stop && dowse search retry", "search with a fresh one"),
        Example("dowse stop && dowse status", "check that it has ended"),
    ),
    "mcp": (
        Example("dowse mcp", "over standard input and output, for one agent"),
        Example("dowse mcp . --watch", "this folder only; follow changes of files"),
        Example("dowse mcp . --http 8743", "over HTTP, for several"),
    ),
    "lsp": (
        Example("dowse lsp", "over standard input and output; an editor starts it"),
        Example("dowse lsp ~/src/shop", "the editor may open this folder only"),
        Example("dowse lsp . --tcp 8744", "over TCP, for several editors"),
    ),
    "install": (
        Example("dowse install --list", "which coding agents can be set up"),
        Example("dowse install claude codex", "set up two of them"),
        Example("dowse install claude --uninstall", "undo it"),
    ),
    "status": (
        Example("dowse status", "what is indexed, and whether it is up to date"),
        Example("dowse status --files", "every file, and why one is left out"),
        Example("dowse status --json", "as JSON"),
    ),
    "doctor": (
        Example("dowse doctor", "check the index of this folder, and the installation"),
        Example("dowse doctor --json", "as JSON"),
        Example("dowse doctor --encoder small", "with another encoder"),
    ),
    "clear": (
        Example("dowse clear", "remove the index of this folder"),
        Example("dowse clear src", "of another folder, if it has one of its own"),
        Example("dowse clear --index-dir here", "in a folder of your choice"),
    ),
    "export": (
        Example("dowse export . code.zip", "the index of this folder, with its vectors"),
        Example("dowse export . code.zip --json", "with a report as JSON"),
        Example("dowse export . code.zip --quiet", "without a report"),
    ),
    "import": (
        Example("dowse import code.zip .", "the index of this folder, from a file"),
        Example("dowse import code.zip . --index-dir here", "into a folder of your choice"),
        Example("dowse import code.zip . --json", "with a report as JSON"),
    ),
    "feedback": (
        Example("dowse feedback record 'read an order' orders.parse_order", "this is the answer"),
        Example("dowse feedback list", "what was chosen, and for which queries"),
        Example("dowse feedback reset --query 'read an order'", "forget it"),
    ),
    "eval": (
        Example("dowse eval", "on queries mined from this repository's git history"),
        Example("dowse eval --compare --level symbol", "every configuration, for symbols"),
        Example("dowse eval --dataset cases.jsonl --report report.json", "on your own queries, saved"),
    ),
    "completion": (
        Example("dowse completion bash", "a script; source it in ~/.bashrc"),
        Example("dowse completion zsh", "for zsh"),
        Example("dowse completion fish", "for fish"),
    ),
}


def show_examples(command: str) -> str:
    """Return the examples of a command, one a line; "" for a step of a command."""
    examples = EXAMPLES.get(command, ())
    width = max((len(example.line) for example in examples), default=0)
    return "".join(f"  {example.line:<{width}}  {example.meaning}\n" for example in examples)
