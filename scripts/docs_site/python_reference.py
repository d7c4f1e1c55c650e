"""The reference of the Python API: what `dowse` exports, by signatures and docstrings."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from types import FunctionType

import dowse
from dowse.index.contents import Contents
from dowse.index.graph import Graph
from dowse.index.vectors import Vectors

_WIDTH = 90


def python_reference() -> str:
    """Return the page."""
    parts = ["# Python API", "What `from dowse import …` offers."]
    for name in dowse.__all__:
        exported = getattr(dowse, name)
        if inspect.isclass(exported):
            parts += _class(exported)
        elif isinstance(exported, FunctionType):
            parts += [f"## {name}", f"```python\n{_signature(exported)}\n```", inspect.getdoc(exported) or ""]
    for group in (Graph, Contents, Vectors):
        parts += _class(group)
    return "\n\n".join(parts) + "\n"


def _class(kind: type) -> Iterator[str]:
    yield f"## {kind.__name__}"
    yield inspect.getdoc(kind) or ""
    if kind is dowse.Settings:
        yield "The fields are listed in [Settings](../SETTINGS.md)."
        return
    if is_dataclass(kind):
        yield "\n".join(f"- `{field.name}: {field.type}`" for field in fields(kind))
    for name, member in vars(kind).items():
        if name.startswith("_"):
            continue
        # A property has its function in `fget`, a class method in `__func__`.
        function = getattr(member, "fget", getattr(member, "__func__", member))
        if isinstance(function, FunctionType):
            mark = "@property\n" if isinstance(member, property) else ""
            yield f"### {kind.__name__}.{name}\n\n```python\n{mark}{_signature(function)}\n```"
            yield inspect.getdoc(member) or ""


def _signature(function: FunctionType) -> str:
    """Return a signature as the source has it, one parameter a line where it is long."""
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)  # noqa: S101 - the source of a function
    node.body, node.decorator_list = [ast.Pass()], []
    text = ast.unparse(node).removeprefix("async ").removeprefix("def ").rpartition(":")[0]
    if len(text) <= _WIDTH:
        return text
    node.returns, returns = None, node.returns
    text = ast.unparse(node).removeprefix("async ").removeprefix("def ").rpartition(":")[0]
    name, _, parameters = text.removesuffix(")").partition("(")
    result = f" -> {ast.unparse(returns)}" if returns else ""
    return f"{name}(\n{textwrap.indent(textwrap.fill(parameters, _WIDTH), '    ')}\n){result}"
