"""The reference of the settings: the fields of `dowse.Settings`, with the comments of their source."""

from __future__ import annotations

import ast
import inspect

from dowse import config


def settings_reference() -> str:
    """Return the page."""
    rows = [
        "# Settings",
        "A flag overrides `DOWSE_NAME` in the environment, then `.dowse.toml` in the repository, then "
        "`~/.config/dowse/config.toml`. Those marked *repository* count in a `.dowse.toml` that you have not "
        "[trusted](../SECURITY.md), up to the maximum.",
        "| setting | type | default | meaning | repository |\n|---|---|---|---|---|",
    ]
    lines = inspect.getsource(config.Settings).splitlines()
    (tree,) = ast.parse("\n".join(lines)).body
    assert isinstance(tree, ast.ClassDef)  # noqa: S101 - the source of a class
    fields = [node for node in tree.body if isinstance(node, ast.AnnAssign)]
    return "\n\n".join(rows) + "\n" + "".join(_row(field, lines) for field in fields)


def _row(field: ast.AnnAssign, lines: list[str]) -> str:
    name = ast.unparse(field.target)
    default = ast.unparse(field.value) if field.value else ""
    meaning = " ".join(_comments(field, lines))
    if choices := config._CHOICES.get(name):
        meaning += f" One of {', '.join(f'`{choice}`' if choice else 'nothing' for choice in choices)}."
    limit = config.PROJECT_SETTINGS.get(name)
    allowed = "" if name not in config.PROJECT_SETTINGS else "yes" if limit is None else f"up to {limit}"
    cells = [f"`{name}`", f"`{ast.unparse(field.annotation)}`", f"`{default}`", meaning.strip(), allowed]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _comments(field: ast.AnnAssign, lines: list[str]) -> list[str]:
    """Return the comments directly above a field and behind it."""
    first, last = field.lineno - 1, (field.end_lineno or field.lineno) - 1
    above = []
    while first and lines[first - 1].strip().startswith("#"):
        first -= 1
        above.insert(0, lines[first].strip().removeprefix("# "))
    behind = lines[last][field.end_col_offset or 0 :].partition("# ")[2]
    return [*above, *([behind[0].upper() + behind[1:] + "."] if behind else [])]
