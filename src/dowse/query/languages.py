"""Names of languages and kinds of symbols in filters."""

from __future__ import annotations

# Aliases that people type besides the name of a language and its file extensions.
LANGUAGE_ALIASES = {
    "py": "python", "python3": "python", "pyi": "python",
    "js": "javascript", "jsx": "javascript", "mjs": "javascript", "node": "javascript",
    "ts": "typescript", "tsx": "typescript",
    "golang": "go", "rb": "ruby", "rs": "rust", "h": "c", "kt": "kotlin", "kts": "kotlin",
    "c++": "cpp", "cc": "cpp", "cxx": "cpp", "hpp": "cpp",
    "c#": "csharp", "cs": "csharp", "dotnet": "csharp",
    "ex": "elixir", "exs": "elixir", "hs": "haskell",
    "sh": "bash", "shell": "bash", "zsh": "bash",
    "md": "markdown", "yml": "yaml", "htm": "html", "txt": "text", "plain": "text",
}  # fmt: skip

# The most common ones, for suggestions and lists.
LANGUAGES = (
    "bash", "c", "cpp", "csharp", "css", "elixir", "go", "haskell", "html", "java", "javascript", "json",
    "kotlin", "lua", "markdown", "php", "python", "ruby", "rust", "scala", "sql", "swift", "text", "toml",
    "typescript", "yaml", "zig",
)  # fmt: skip

KINDS = (
    "class", "constant", "enum", "function", "interface", "macro",
    "method", "module", "struct", "text", "trait", "type",
    # of names alone
    "alias", "column", "enumerator", "field", "key", "namespace", "property", "prototype",
    "table", "variable",
)  # fmt: skip


def filter_languages() -> tuple[str, ...]:
    """Return the languages that lang: accepts; the most common first."""
    from dowse.parsing.languages import language_names

    return (*LANGUAGES, *(name for name in language_names() if name not in LANGUAGES))


def canonical_language(name: str, known: tuple[str, ...]) -> str | None:
    """Return the known language with a name, an alias or a file extension."""
    from dowse.parsing.languages import detect_language

    name = name.lower().removeprefix(".")
    candidates = (name, LANGUAGE_ALIASES.get(name), detect_language(f"x.{name}"))
    return next((candidate for candidate in candidates if candidate in known), None)
