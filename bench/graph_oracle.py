"""How right the graph is, by compilers and by runs of tests: precision and recall over repositories.

    python bench/graph_oracle.py make LANGUAGE CHECKOUT OUT --tools DIR
    python bench/graph_oracle.py measure --language LANGUAGE CHECKOUT ORACLE [--show] [--out FILE]
    python bench/graph_oracle.py all --data DIR [--language LANGUAGE] --out FILE
    python bench/graph_oracle.py references --data DIR [--language LANGUAGE] [--name NAME] [--show]

`make` runs the oracle of a language (a program in bench/oracles, which asks the compiler or type checker)
and writes a gzipped JSONL file with one call site a line:

    {"path", "line", "column", "caller", "kind",
     "targets": [{"path", "line", "name", "dispatch"?, "declaration"?}]}

Paths are relative to the checkout, lines count from 1. `column` is that of the called name (`close` in
`a.b.close()`), in bytes from 0. `caller` is the qualified name of the function around, "" outside of all.
A target is given by the line of its name. `targets` is empty where the callee is known to be outside the
checkout; a site whose callee the oracle does not know is left out. A target without `dispatch` is what the
site names by the static types (a function, a method, the class of a constructor, an interface's method).
`"dispatch": "method"` marks a method that dynamic dispatch may run instead, `"dispatch": "value"` one that
a call through a variable may run; the `kind` of a site with such targets is "dynamic", else "static".
`"declaration": true` marks the prototype of a function whose body is another target: an edge to it is not
wrong, but recall asks for the body.

The oracles of Ruby and PHP are the repositories' own tests: a site is a call that ran, with the methods that
ran there. The command that runs the tests is the text of TOOLS/LANGUAGE/NAME.tests.

`measure` indexes the checkout and compares the edges at the exact position of each site. Symbols of the same
file and qualified name (overloads) count as one, so a choice among them alone is certain; a class and its
constructor count as one callee.

- **Precision**, of the edges at sites of the oracle that are `resolved` or `unique`: the share whose
  target is one of the targets of the site. An edge at a site with no target is wrong. A constructor
  that a class inherits is not counted beside the edge to the class.
  **Precision of possible** is the same share of the uncertain edges, each candidate counted.
- **Recall of resolved**: the share of what the sites name (targets without `dispatch`) that such an edge
  says. **Recall of possible**: the share that any edge says, ambiguous ones included, or for which the
  named method is one that the target overrides; `callers` lists both.
- **Dispatch recall**: the same, over the targets with `"dispatch": "method"`; **value recall**: with
  `"dispatch": "value"`. **Recall of all** is recall of possible over what is named and method dispatch.
- Recall counts targets that are symbols of the index; `not_symbols` is the number of the others (such as
  nested functions or members of anonymous types).

By **edge** (as call graphs are usually compared), each pair of caller and callee counts once, and it is
found or right if it is at any of its sites. By **site**, each pair of site and target counts.

`references` measures what is no call: reads, writes, imports, types, bases, decorators, keywords. Oracles of
Python, TypeScript, Go, Rust, Java, C and C# print a line for each, beside the calls, without `caller`:

    {"path", "line", "column", "name", "reference": KIND, "targets": [{"path", "line", "name", "kind"}]}

`kind` is that of the definition: class, function, method, field, property, variable, constant, enumerator, …
Several targets are one definition (a field and its later declarations); there are none where the name means
a local variable or something outside. Each reference counts, by the exact position: **precision** of the
certain edges there, **recall of resolved** and **recall of possible** (any edge); all together, by kind of
definition (`none`: without targets) and by kind of reference. A definition that the index lacks is missed;
**defined** is the share of references whose definition it has.

`all` and `references` measure every repository of data/oracle_repositories.json: oracles are in
DIR/LANGUAGE-NAME.jsonl.gz, checkouts in DIR/checkouts/NAME. Single misses of repositories marked "report" are
never looked at.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shlex
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from dowse.config import Settings
from dowse.graph.type_hierarchy import is_constructor, is_type, overridden_methods
from dowse.indexing.update import update
from dowse.storage.local.backend import LocalBackend
from dowse.storage.protocol import Reader
from dowse.types import NON_DEFINITION_KINDS, SymbolRow

from common import work_folder, write_results

_ORACLES = Path(__file__).parent / "oracles"
_REPOSITORIES = Path(__file__).parent / "data" / "oracle_repositories.json"
_CERTAIN = ("resolved", "unique")
# A decorator that is called is stored as a use.
_KINDS = ("calls", "uses")
_REFERENCE_KINDS = (*_KINDS, "reads", "writes", "extends", "implements", "imports")

Site = dict[str, Any]
Figures = dict[str, Any]


def oracle_command(language: str, checkout: Path, tools: Path) -> list[str]:
    """Return the command that prints the call sites of a checkout; `tools` has what is installed for it."""
    name, source = checkout.name, str(checkout)
    class_path = text_of(tools / f"{language}/{name}.classpath")
    kotlinc = ["-cp", text_of(tools / "kotlin/compiler.classpath")]
    symbols = text_of(tools / f"csharp/{name}.symbols").split()
    tests = shlex.split(text_of(tools / f"{language}/{name}.tests"))
    clang = [sys.executable, str(_ORACLES / "clang.py"), source, str(tools / f"build/{name}")]
    commands = {
        "go": ["go", "-C", str(_ORACLES / "go"), "run", ".", source],
        "typescript": ["node", str(_ORACLES / "typescript.mjs"), source, str(tools)],
        "python": [str(tools / "py/bin/python"), str(_ORACLES / "python.py"), source, str(tools)],
        "java": ["java", str(_ORACLES / "JavaCalls.java"), source, class_path],
        "kotlin": ["java", *kotlinc, str(_ORACLES / "KotlinCalls.java"), source, class_path],
        "csharp": [
            "dotnet",
            str(tools / "csharp/CSharpCalls.dll"),
            source,
            str(tools / "csharp/ref"),
            *symbols,
        ],
        "rust": [sys.executable, str(_ORACLES / "rust.py"), source, str(tools / f"rust/{name}.scip")],
        "c": [*clang, str(tools / "clang_calls")],
        "cpp": [*clang, str(tools / "clang_calls")],
        "scala": [sys.executable, str(_ORACLES / "scala.py"), source, str(tools / f"scala/{name}")],
        "ruby": ["ruby", str(_ORACLES / "ruby.rb"), source, *tests],
        "php": ["php", "-d", "xdebug.mode=off", str(_ORACLES / "php.php"), source, *tests],
    }
    return commands[language]


def text_of(file: Path) -> str:
    """Return the text of a file, or nothing if there is none."""
    return file.read_text().strip() if file.exists() else ""


def main() -> None:
    """Make an oracle, or measure with one or all of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("make", help="write the call sites of a checkout")
    make.add_argument("language")
    make.add_argument("checkout", type=Path)
    make.add_argument("out", type=Path)
    make.add_argument("--tools", type=Path, required=True, help="where compilers' packages are installed")
    one = commands.add_parser("measure", help="compare the graph of a checkout with an oracle")
    one.add_argument("checkout", type=Path)
    one.add_argument("oracle", type=Path)
    one.add_argument("--language", required=True)
    one.add_argument("--show", action="store_true", help="print what is wrong or missed (dev only)")
    every = commands.add_parser("all", help="measure all repositories")
    references = commands.add_parser("references", help="compare reads, writes, imports and types")
    references.add_argument("--name", default="", help="only this repository")
    references.add_argument("--show", action="store_true", help="print what is wrong or missed (dev only)")
    for command in (every, references):
        command.add_argument("--data", type=Path, required=True)
        command.add_argument("--language", default="", help="only this one")
    for command in (one, every, references):
        command.add_argument("--work", type=Path, help="index here (default: a temporary folder)")
        command.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.command == "make":
        make_oracle(options.language, options.checkout.resolve(), options.out, options.tools.resolve())
        return
    with work_folder(options.work) as work:
        if options.command == "measure":
            results: dict[str, Any] = measure(options.checkout, options.oracle, work / "index", options.show)
            print_figures(options.checkout.name, results)
        elif options.command == "references":
            judged = partial(measure_references, show=options.show)
            results = measure_all(options.data, options.language, work, judged, options.name)
        else:
            results = measure_all(options.data, options.language, work, measure)
    if options.out:
        write_results(options.out, results)


def make_oracle(language: str, checkout: Path, out: Path, tools: Path) -> None:
    """Run the oracle of a language and store its sites, ordered and each once."""
    command = oracle_command(language, checkout, tools)
    printed = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
    sites = {(s["path"], s["line"], s["column"], s.get("reference", "")): s for s in map(json.loads, printed)}
    # What means nothing here matters only where something here has the name.
    names = {target["name"] for s in sites.values() for target in s["targets"]}
    kept = [key for key, s in sorted(sites.items()) if s["targets"] or s.get("name", "") in {"", *names}]
    with gzip.open(out, "wt") as file:
        file.writelines(json.dumps(sites[key]) + "\n" for key in kept)
    print(f"{out}: {len(kept)} sites, {sum(bool(sites[key]['targets']) for key in kept)} with targets")


def measure_all(
    data: Path, language: str, work: Path, measured: Callable[[Path, Path, Path], Figures], name: str = ""
) -> dict[str, Any]:
    """Return the figures of all repositories, by language and half."""
    results: dict[str, Any] = {}
    for each, halves in json.loads(_REPOSITORIES.read_text()).items():
        for half, repositories in halves.items():
            for repository, source in repositories.items():
                if language not in ("", each) or name not in ("", repository):
                    continue
                oracle = data / f"{each}-{repository}.jsonl.gz"
                if not oracle.exists():
                    print(f"{each} {repository}: no {oracle}", file=sys.stderr)
                    continue
                figures = measured(data / "checkouts" / repository, oracle, work / f"{each}-{repository}")
                results.setdefault(each, {}).setdefault(half, {})[repository] = {"source": source, **figures}
                print_figures(f"{each} {half} {repository}", figures)
    return results


def measure(checkout: Path, oracle: Path, index: Path, show: bool = False) -> Figures:
    """Index a checkout and return the figures of its call graph beside an oracle."""
    sites = [site for site in read_oracle(oracle) if "reference" not in site]
    tally = Tally()
    with graph_of(checkout, index, {site["path"] for site in sites}, _KINDS) as graph:
        for site in sites:
            if site["path"] in graph.symbols:
                judge(graph, site, tally, show)
    return tally.figures()


def measure_references(checkout: Path, oracle: Path, index: Path, show: bool = False) -> Figures:
    """Index a checkout and return the figures of its references beside an oracle."""
    sites = [site for site in read_oracle(oracle) if "reference" in site]
    counts: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    with graph_of(checkout, index, {site["path"] for site in sites}, _REFERENCE_KINDS) as graph:
        for site in sites:
            if site["path"] in graph.symbols:
                judge_reference(graph, site, counts, show)
    names = ("precision", "recall_resolved", "recall_possible", "defined")
    return {group: {name: share(counts[group][name]) for name in names} for group in sorted(counts)}


def read_oracle(oracle: Path) -> list[Site]:
    """Return the sites of an oracle."""
    with gzip.open(oracle, "rt") as lines:
        return [json.loads(line) for line in lines]


@contextmanager
def graph_of(checkout: Path, index: Path, paths: set[str], kinds: Sequence[str]) -> Iterator[Graph]:
    """Index a checkout and open the edges of some files."""
    backend = LocalBackend(index)
    update(backend, checkout, Settings())
    with backend.reader() as reader:
        yield Graph(reader, paths, kinds)


class Callee(NamedTuple):
    """What symbols are compared by: overloads share it."""

    path: str
    qualified_name: str


class Claim(NamedTuple):
    """An edge at a site."""

    symbol: SymbolRow
    is_certain: bool
    reason: str

    @property
    def callee(self) -> Callee:
        """What the edge points to."""
        return callee_of(self.symbol)


class Graph:
    """The symbols and edges of an index, by path and position."""

    def __init__(self, reader: Reader, paths: set[str], kinds: Sequence[str]) -> None:
        self._reader = reader
        self._bases: dict[Callee, set[Callee]] = {}
        files = [file.file_id for file in reader.files()]
        self.symbols: dict[str, list[SymbolRow]] = defaultdict(list)
        for row in reader.rows_of_files(files):
            self.symbols[row.path].append(row)
        self.claims: dict[tuple[str, int, int], list[Claim]] = defaultdict(list)
        by_row = {row.row: row for rows in self.symbols.values() for row in rows}
        by_row |= {row.row: row for row in reader.names_of_files(files)}
        self._by_callee: dict[Callee, list[SymbolRow]] = defaultdict(list)
        self.named: dict[tuple[str, str], list[SymbolRow]] = defaultdict(list)
        for row in by_row.values():
            self._by_callee[callee_of(row)].append(row)
            self.named[row.path, row.name].append(row)
        for path in paths & set(self.symbols):
            for edge in reader.edges([row.row for row in self.symbols[path]], kinds, limit=10_000_000):
                claim = Claim(by_row[edge.target], edge.confidence in _CERTAIN, edge.reason)
                self.claims[path, edge.line, edge.column].append(claim)
        for claims in self.claims.values():
            if len({claim.callee for claim in claims}) == 1 and not any(claim.reason for claim in claims):
                claims[:] = [claim._replace(is_certain=True) for claim in claims]

    def overloads(self, claim: Claim) -> list[SymbolRow]:
        """Return the symbols that count as one with that of a claim."""
        return self._by_callee[claim.callee]

    def find(self, target: Site) -> SymbolRow | None:
        """Return the symbol of a target: the innermost of its name around its line."""
        around = [
            row
            for row in self.symbols.get(target["path"], ())
            if row.name == target["name"] and row.start_line <= target["line"] <= row.end_line
        ]
        return min(around, key=lambda row: row.end_line - row.start_line, default=None)

    def bases(self, method: SymbolRow) -> set[Callee]:
        """Return the methods through which dynamic dispatch may run this one."""
        callee = callee_of(method)
        if callee not in self._bases:
            self._bases[callee] = {callee_of(base) for base in overridden_methods(self._reader, method)}
        return self._bases[callee]


def judge(graph: Graph, site: Site, tally: Tally, show: bool) -> None:
    """Compare the edges at one site with what the oracle says of it."""
    claims = graph.claims.get((site["path"], site["line"], site["column"]), [])
    found_targets = [(graph.find(target), target) for target in site["targets"]]
    targets = {alias for symbol, _ in found_targets if symbol for alias in aliases(symbol)}
    symbols = [(symbol, t.get("dispatch", "")) for symbol, t in found_targets if "declaration" not in t]
    caller = (site["path"], site["caller"])
    position = (site["path"], site["line"], site["column"])
    certain = [claim for claim in claims if claim.is_certain]
    judged = [
        c for c in certain if not (is_constructor(c.symbol) and any(is_type(o.symbol) for o in certain))
    ]
    # A callee that is no symbol cannot be told from another: what the graph says instead is wrong.
    for claim in judged:
        is_right = bool(aliases(claim.symbol) & targets)
        tally.add("precision", caller, position, claim.callee, is_right)
        if show and not is_right:
            report("WRONG ", site, [claim])
    for claim in claims:
        if not claim.is_certain:
            is_right = bool(aliases(claim.symbol) & targets)
            tally.add("precision_possible", caller, position, claim.callee, is_right)
    for symbol, dispatch in symbols:
        if symbol is None:
            tally.not_symbols += dispatch != "value"  # most variables are no symbols
            continue
        found = [claim for claim in claims if aliases(claim.symbol) & aliases(symbol)]
        is_resolved = any(claim.is_certain for claim in found)
        is_possible = bool(found) or any(claim.callee in graph.bases(symbol) for claim in claims)
        if not dispatch:
            tally.add("recall_resolved", caller, position, callee_of(symbol), is_resolved)
        name = {"": "recall_possible", "method": "recall_dispatch", "value": "recall_value"}[dispatch]
        tally.add(name, caller, position, callee_of(symbol), is_possible)
        if dispatch != "value":
            tally.add("recall_all", caller, position, callee_of(symbol), is_possible)
        if show and not is_resolved and dispatch != "value" and not (dispatch and is_possible):
            report("unsure" if is_possible else "missed", site, claims)


def judge_reference(graph: Graph, site: Site, counts: dict[str, dict[str, list[bool]]], show: bool) -> None:
    """Compare the edges at the position of a reference with what the oracle says of it."""
    place = (site["path"], site["line"], site["column"])
    claims = [c for c in graph.claims.get(place, []) if c.symbol.kind not in NON_DEFINITION_KINDS]
    targets = site["targets"]
    right = {c.callee for c in claims if any(is_target(graph.overloads(c), target) for target in targets)}
    certain = {claim.callee for claim in claims if claim.is_certain}
    is_defined = any(is_target(graph.named.get((t["path"], t["name"]), ()), t) for t in targets)
    groups = ("all", targets[0]["kind"] if targets else "none", f"by {site['reference']}")
    for group in groups:
        counts[group]["precision"] += [callee in right for callee in certain]
        if targets:
            counts[group]["recall_resolved"].append(bool(certain & right))
            counts[group]["recall_possible"].append(bool(right))
            counts[group]["defined"].append(is_defined)
    if show and (certain - right or (targets and not certain & right)):
        missed = "missed" if is_defined else "absent"
        verdict = "WRONG " if certain - right else "unsure" if right else missed
        report(f"{verdict} {site['reference']} {groups[1]} {site['name']}", site, claims)


def is_target(symbols: Iterable[SymbolRow], target: Site) -> bool:
    """Whether one of some symbols is a target, or the constructor of one."""
    for each in symbols:
        owner = each.qualified_name.split(".")[-2:-1] if is_constructor(each) else []
        is_around = each.start_line <= target["line"] <= each.end_line
        if each.path == target["path"] and (
            (each.name == target["name"] and is_around) or owner == [target["name"]]
        ):
            return True
    return False


def callee_of(symbol: SymbolRow) -> Callee:
    """Return what a symbol is compared by."""
    return Callee(symbol.path, symbol.qualified_name)


def aliases(symbol: SymbolRow) -> set[Callee]:
    """Return what a symbol is compared by, and the class of a constructor."""
    own = callee_of(symbol)
    owner = own._replace(qualified_name=symbol.qualified_name.rpartition(".")[0])
    return {own, owner} if is_constructor(symbol) else {own}


class Tally:
    """Counts what is right and what is found, by edge and by site."""

    def __init__(self) -> None:
        self.not_symbols = 0
        self._edges: dict[str, dict[object, bool]] = defaultdict(dict)
        self._sites: dict[str, list[bool]] = defaultdict(list)

    def add(self, measure: str, caller: object, position: object, callee: Callee, is_good: bool) -> None:
        """Count one pair of site and callee."""
        edges, edge = self._edges[measure], (caller, callee)
        edges[edge] = edges.get(edge, False) or is_good
        self._sites[measure].append(is_good)

    def figures(self) -> dict[str, Any]:
        """Return every measure by edge and by site, with the counts."""
        names = [
            "precision",
            "precision_possible",
            "recall_resolved",
            "recall_possible",
            "recall_dispatch",
            "recall_all",
            "recall_value",
        ]
        return {
            "edges": {name: share(self._edges[name].values()) for name in names},
            "sites": {name: share(self._sites[name]) for name in names},
            "not_symbols": self.not_symbols,
        }


def share(good: Iterable[bool]) -> dict[str, float | int]:
    """Return the share of what is good, with both numbers."""
    values = list(good)
    return {
        "share": round(sum(values) / len(values), 4) if values else 1.0,
        "good": sum(values),
        "of": len(values),
    }


def report(verdict: str, site: Site, claims: Sequence[Claim]) -> None:
    """Print a site that is not as it should be."""
    said = [(c.symbol.path, c.symbol.start_line, c.symbol.qualified_name, c.is_certain) for c in claims[:4]]
    truth = [(t["path"], t["line"], t["name"], t.get("dispatch", "")) for t in site["targets"][:4]]
    print(verdict, f"{site['path']}:{site['line']}:{site['column']}", "truth", truth, "said", said)


def print_figures(name: str, figures: Figures) -> None:
    """Print a line for each group of measures: edges and sites, or kinds of references."""
    for group, measures in figures.items():
        if isinstance(measures, dict):
            cells = (
                f"{each} {row['share']:.3f} ({row['good']}/{row['of']})" for each, row in measures.items()
            )
            print(f"{name} {group}:", ", ".join(cells), flush=True)
    if "not_symbols" in figures:
        print(f"{name}: {figures['not_symbols']} targets are not symbols", flush=True)


if __name__ == "__main__":
    main()
