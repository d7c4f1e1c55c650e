"""Names of languages and kinds as people write them in filters."""

from __future__ import annotations

# What people type besides a language's own name and its file extensions.
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

LANGUAGES = (
    "bash", "c", "cpp", "csharp", "css", "elixir", "go", "haskell", "html", "java", "javascript", "json",
    "kotlin", "lua", "markdown", "php", "python", "ruby", "rust", "scala", "sql", "swift", "text", "toml",
    "typescript", "yaml", "zig",
)  # fmt: skip

# Known to the indexer by name only: no grammar, so files come as windows of text.
PLAIN_LANGUAGES = (
    "ada", "asciidoc", "assembly", "astro", "awk", "batch", "clojure", "cmake", "cobol", "coffeescript",
    "crystal", "csv", "cython", "d", "dart", "diff", "dockerfile", "elm", "emacs-lisp", "erb", "erlang",
    "fish", "fortran", "fsharp", "gleam", "glsl", "go-module", "graphql", "groovy", "handlebars",
    "heex", "ini", "jinja", "julia", "less", "lisp", "literate-haskell", "make", "nim", "nix",
    "notebook", "objective-c", "ocaml", "pascal", "perl", "powershell", "protobuf", "pug", "purescript",
    "r", "razor", "reason", "restructuredtext", "scheme", "scss", "solidity", "starlark", "svelte",
    "tcl", "terraform", "tex", "thrift", "v", "verilog", "vhdl", "vim", "visual-basic", "vue", "xml",

)  # fmt: skip

KINDS = (
    "class", "constant", "enum", "function", "interface", "macro",
    "method", "module", "struct", "text", "trait", "type",
)  # fmt: skip


def canonical_language(name: str, known: tuple[str, ...]) -> str | None:
    """Return the known language that a name, an alias or a file extension stands for."""
    from dowse.parsing.languages import detect_language

    name = name.lower().removeprefix(".")
    candidates = (name, LANGUAGE_ALIASES.get(name), detect_language(f"x.{name}"))
    return next((candidate for candidate in candidates if candidate in known), None)
