"""Parsers of import statements: the name in this file, what is imported, and from which module."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from dowse.parsing.limits import MAX_DEPTH, MAX_IMPORT_BYTES, MAX_NAME_BYTES

# (kind, name in this file, what is imported, the module as written). What is imported: a name, "" for the
# module itself, "*" for everything in it.
Import = tuple[str, str, str, str]

# An unterminated comment ends with the text: else, matching many of them would take quadratic time.
_COMMENT = re.compile(r"#[^\n]*|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_SLASH_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_SPACES = re.compile(r"\s{2,}")
_QUOTED = re.compile(r"""['"]([^'"]*)['"]""")
_AS = re.compile(r"\s+as\s+|\s*=>\s*")
# Headers of the standard library of C++ have no extension.
_INCLUDED = re.compile(r"""["<]([^">]*\.[^">]*)[">]""")
_CPP_USING = re.compile(
    r"(?:using\s)?\s*(namespace\s)?\s*(?:(\w+)\s?=)?\s?(?:typename\s)?\s?((?:::)?\w+(?:::\w+)*)\s?;?"
)
_PHP_KINDS = re.compile(r"^(?:function|const)\s+")


def parse_imports(language: str, statement: str) -> list[Import]:
    """Return the imports of one statement; nothing if the language or the statement is not supported."""
    reader = _READERS.get(language)
    if reader is None or len(statement) > MAX_IMPORT_BYTES:
        return []
    # Collapse white space: the patterns of the readers would try every blank of a run as the first.
    collapsed = _SPACES.sub(lambda run: "\n" if "\n" in run[0] else " ", statement)
    return [each for each in reader(collapsed) if len(each[3]) <= MAX_NAME_BYTES]


def _python(statement: str) -> Iterator[Import]:
    text = _COMMENT.sub("", statement).replace("\\\n", " ").strip()
    if text.startswith("from"):
        module, _, names = text[4:].partition(" import")
        module = module.strip()
        for name, alias in _names_and_aliases(names.strip(" ()\t\r\n")):
            yield "import", alias or name, name, module
        return
    for name, alias in _names_and_aliases(text.removeprefix("import")):
        if alias:
            yield "import", alias, "", name
        else:
            # `import a.b` binds a, and makes a.b one of its members.
            yield "import", name.partition(".")[0], "", name.partition(".")[0]


def _names_and_aliases(names: str) -> Iterator[tuple[str, str]]:
    """Yield names with their aliases, "" for none."""
    for each in names.split(","):
        name, *alias = _AS.split(each.strip())
        if name:
            yield name.strip(), alias[0].strip() if alias else ""


def _ecmascript(statement: str) -> Iterator[Import]:
    text = _SLASH_COMMENT.sub("", statement).strip()
    quoted = _QUOTED.findall(text)
    if not quoted:
        return
    module, kind = quoted[-1], "export" if text.startswith("export") else "import"
    clause = text[: text.rfind(module)].removeprefix(kind).rstrip(" '\"").removesuffix("from")
    clause = clause.strip().removeprefix("type ").strip()
    before, brace, names = clause.partition("{")
    for name, alias in _names_and_aliases(names.partition("}")[0]) if brace else ():
        name, alias = name.removeprefix("type ").strip(), alias.removeprefix("type ").strip()
        yield kind, alias or name, name, module
    for part in before.split(","):
        first, *other = _AS.split(part.strip())
        if first == "*":
            yield kind, other[0] if other else "*", "" if other else "*", module
        elif first:
            yield kind, first, "default", module


def _go(statement: str) -> Iterator[Import]:
    alias, _, path = statement.strip().rpartition(" ")
    module = path.strip('"`')
    alias = alias.strip()
    if alias == ".":
        yield "import", "*", "*", module
    elif alias != "_":
        yield "import", alias or _go_name(module), "", module


def _go_name(module: str) -> str:
    """Return the name of a package by its path, without a version."""
    parts = module.split("/")
    if len(parts) > 1 and re.fullmatch(r"v\d+", parts[-1]):
        parts.pop()
    return re.sub(r"\.v\d+$", "", parts[-1]).removeprefix("go-").removesuffix("-go")


def _jvm(statement: str) -> Iterator[Import]:
    text = statement.strip().removeprefix("import").strip(" ;\t\r\n")
    path, *alias = _AS.split(text.removeprefix("static ").strip())
    module, _, name = path.replace(" ", "").rpartition(".")
    if name == "*":
        # Members of a class or of a package.
        yield "import", "*", "*", module
    else:
        yield "import", alias[0] if alias else name, name, module


def _scala(statement: str) -> Iterator[Import]:
    clause = statement.strip().removeprefix("import").strip()
    module, brace, names = clause.partition("{")
    if not brace:
        for each in clause.split(","):
            path, *other = _AS.split(each.strip())
            before, _, name = path.rpartition(".")
            if name in ("_", "*"):
                yield "import", "*", "*", before
            else:
                yield "import", other[0] if other else name, name, before
        return
    for name, alias in _names_and_aliases(names.rstrip("} \n")):
        wild = name in ("_", "*")
        yield "import", "*" if wild else alias or name, "*" if wild else name, module.rstrip(". ")


def _rust(statement: str) -> Iterator[Import]:
    text = _COMMENT.sub("", statement).strip(" ;\n")
    if text.startswith(("extern", "pub extern")):
        name, *alias = _AS.split(text.rpartition("crate ")[2].strip())
        yield "import", alias[0] if alias else name, "", name
        return
    public = text.startswith("pub")
    tree = re.sub(r"^(?:pub(?:\s*\([^)]*\))?\s+)?use\s+", "", text)
    yield from _use_tree("export" if public else "import", "", tree.strip(), MAX_DEPTH)


def _use_tree(kind: str, prefix: str, tree: str, depth: int) -> Iterator[Import]:
    """Yield the leaves of `a::{b, c::{d as e}, f::*}`, none deeper than `depth`."""
    before, brace, inside = tree.partition("{")
    if brace and not depth:
        return
    if brace:
        path = _join_path(prefix, before.strip().removesuffix("::"))
        for each in _split_top_level(inside.strip().removesuffix("}")):
            yield from _use_tree(kind, path, each.strip(), depth - 1)
        return
    path, *alias = _AS.split(tree)
    module, _, name = path.strip().rpartition("::")
    module = _join_path(prefix, module)
    if name == "*":
        yield kind, "*", "*", module
    elif name == "self":
        yield kind, alias[0].strip() if alias else module.rpartition("::")[2], "", module
    elif name:
        yield kind, alias[0].strip() if alias else name, name, module


def _join_path(prefix: str, path: str) -> str:
    path = path.removeprefix("::")
    return f"{prefix}::{path}" if prefix and path else prefix or path


def _split_top_level(text: str) -> Iterator[str]:
    depth, start = 0, 0
    for at, char in enumerate(text):
        if char in "{}":
            depth += 1 if char == "{" else -1
        elif char == "," and not depth:
            yield text[start:at]
            start = at + 1
    if text[start:].strip():
        yield text[start:]


def _php(statement: str) -> Iterator[Import]:
    text = statement.strip().removeprefix("use").strip(" ;\n")
    text = _PHP_KINDS.sub("", text)
    prefix, brace, names = text.partition("{")
    for name, alias in _names_and_aliases(names.rstrip("} \n") if brace else text):
        path = (prefix + _PHP_KINDS.sub("", name) if brace else name).replace(" ", "").strip("\\")
        module, _, last = path.rpartition("\\")
        yield "import", alias or last, last, module.replace("\\", ".")


def _csharp(statement: str) -> Iterator[Import]:
    statement = statement.strip()
    kind = "export" if statement.startswith("global ") else "import"  # for all files of the project
    text = statement.removeprefix("global ").strip().removeprefix("using").strip(" ;\r\n")
    text = text.removeprefix("static ").strip()
    alias, equals, path = text.partition("=")
    if equals:
        module, _, name = path.strip().rpartition(".")
        yield kind, alias.strip(), name, module
    elif text:
        yield kind, "*", "*", text


def _elixir(statement: str) -> Iterator[Import]:
    word, _, arguments = statement.partition(" ")
    arguments = arguments.strip()
    path, _, options = arguments.partition(",") if "{" not in arguments else (arguments, "", "")
    if "{" in path:
        module, _, names = path.partition("{")
        for name in names.strip(" }\n").split(","):
            last = name.strip().rpartition(".")[2]
            yield "import", last, name.strip(), module.strip(" .")
        return
    module = path.strip()
    if word in ("import", "use"):
        yield "import", "*", "*" if word == "import" else "use", module
    if word == "alias":
        alias = re.search(r"as:\s*([\w.]+)", options)
        yield "import", alias[1] if alias else module.rpartition(".")[2], "", module


def _c(statement: str) -> Iterator[Import]:
    """Read `#include "a.h"`, `using namespace a::b`, `using a::b` and `namespace a = b::c`."""
    included = _INCLUDED.search(statement) if statement.startswith("#") else None
    if included:
        yield "import", "*", "*", included[1]
    using = _CPP_USING.fullmatch(statement)
    if using is None:
        return
    word, alias, path = using[1], using[2], using[3].replace("::", ".").strip(".")
    namespace, _, name = path.rpartition(".")
    if alias:
        yield "import", alias, "", path
    elif word:
        yield "import", "*", "namespace", path
    elif namespace:
        yield "import", name, name, namespace


def _ruby(statement: str) -> Iterator[Import]:
    quoted = _QUOTED.search(statement)
    if quoted:
        near = "./" if statement.startswith("require_relative") and not quoted[1].startswith(".") else ""
        yield "import", "*", "*", near + quoted[1]


_READERS: dict[str, Callable[[str], Iterator[Import]]] = {
    "python": _python,
    "javascript": _ecmascript,
    "typescript": _ecmascript,
    "go": _go,
    "java": _jvm,
    "kotlin": _jvm,
    "scala": _scala,
    "rust": _rust,
    "php": _php,
    "csharp": _csharp,
    "elixir": _elixir,
    "c": _c,
    "cpp": _c,
    "ruby": _ruby,
}
