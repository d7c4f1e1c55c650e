"""The call sites of a C or C++ repository as clang's AST has them, one JSON object a line.

    python clang.py CHECKOUT BUILD_FOLDER CLANG_CALLS > calls.jsonl

BUILD_FOLDER has the `compile_commands.json` of CMake, CLANG_CALLS is the built `clang_calls.cpp`. A function
is where its body is, or else its declaration. Code that this build leaves out (another platform, an `#if`,
a template without instantiations) has no sites. References other than calls are those of C.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

_PROCESSES = 4

Fact = dict[str, Any]


def main() -> None:
    """Print the calls of a checkout."""
    checkout, build, program = Path(sys.argv[1]).resolve(), Path(sys.argv[2]), Path(sys.argv[3]).resolve()
    commands = json.loads((build / "compile_commands.json").read_text())
    sources = {str((Path(each["directory"]) / each["file"]).resolve()) for each in commands}
    inside = sorted(source for source in sources if source.startswith(f"{checkout}/"))
    command = [str(program), "-p", str(build), "--root", str(checkout)]
    parts = [inside[start::_PROCESSES] for start in range(_PROCESSES)]
    with ThreadPoolExecutor(_PROCESSES) as pool:
        printed = list(pool.map(lambda part: run([*command, *part]), filter(None, parts)))
    facts = [json.loads(line) for text in printed for line in text.splitlines()]
    for site in join(facts, checkout):
        print(json.dumps(site))


def run(command: list[str]) -> bytes:
    """Return what a command prints."""
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout


def join(facts: Iterable[Fact], checkout: Path) -> Iterator[Fact]:
    """Yield the sites: over all compilations, a call has the callees of all of them."""
    definitions: dict[str, list[Fact]] = defaultdict(list)
    overrides: dict[str, list[str]] = defaultdict(list)
    calls: dict[tuple[str, int, int], list[Fact]] = defaultdict(list)
    references: dict[tuple[str, int, int], list[Fact]] = defaultdict(list)
    for fact in facts:
        if "define" in fact:
            definitions[fact["define"]].append(fact)
        elif "override" in fact:
            overrides[fact["base"]].append(fact["override"])
        elif "refer" in fact:
            references[fact["path"], fact["line"], fact["column"]].append(fact)
        else:
            calls[fact["path"], fact["line"], fact["column"]].append(fact)
    paths = {key[0] for key in [*calls, *references]}
    texts = {path: (checkout / path).read_bytes().split(b"\n") for path in paths}
    for (path, line, column), found in sorted(references.items()):
        if texts[path][line - 1][column:].startswith(found[0]["name"].encode()):
            kind, usrs = {"kind": found[0]["kind"]}, {fact["refer"] for fact in found}
            named = unique(each for usr in usrs for each in targets_of(definitions.get(usr, [])))
            yield {**found[0], "targets": [{**target, **kind} for target in named]}
    for (path, line, column), found in sorted(calls.items()):
        usrs = sorted({call["call"] for call in found if call["call"]})
        named = unique(target for usr in usrs for target in targets_of(definitions[usr]))
        written = texts[path][line - 1][column:].decode(errors="replace")
        if named and not any(written.startswith(target["name"].lstrip("~")) for target in named):
            continue  # implicit
        virtual = sorted({call["call"] for call in found if call["virtual"]})
        possible = unique(t for usr in below(virtual, overrides) for t in targets_of(definitions[usr]))
        dispatched = [{**target, "dispatch": "method"} for target in possible if target not in named]
        yield {
            **{"path": path, "line": line, "column": column, "caller": found[0]["caller"]},
            **{"kind": "dynamic" if dispatched else "static", "targets": named + dispatched},
        }


def targets_of(declared: list[Fact]) -> list[Fact]:
    """Return where a function has its body, and its prototypes as such; those alone if there is no body."""
    has_body = any("body" in fact for fact in declared)
    return [
        {"path": fact["path"], "line": fact["line"], "name": fact["name"]}
        | ({"declaration": True} if has_body and "body" not in fact else {})
        for fact in declared
    ]


def below(virtual: list[str], overrides: dict[str, list[str]]) -> list[str]:
    """Return the methods that override these, directly or not."""
    found: dict[str, None] = {}
    waiting = list(virtual)
    while waiting:
        for usr in overrides.get(waiting.pop(), ()):
            if usr not in found:
                found[usr] = None
                waiting.append(usr)
    return list(found)


def unique(targets: Iterable[Fact]) -> list[Fact]:
    """Return each target once, ordered."""
    return [dict(items) for items in sorted({tuple(target.items()) for target in targets})]


if __name__ == "__main__":
    main()
