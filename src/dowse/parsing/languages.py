"""The table of languages: to add one, add a row here and a query file in `queries`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dowse.lazy_classes import dataclass, field

# What makes a header C++ rather than C. The blanks before a word must not cross lines: else a search of many
# blank lines would take quadratic time.
_CPP_SYNTAX = re.compile(
    rb"^[^\S\n]*(?:class\s+\w|template\s*<|namespace\s+\w|namespace\s*\{|using\s+\w|public:|private:)"
    rb"|\bconstexpr\b|\bstd::|\bvirtual\s|\bnoexcept\b",
    re.MULTILINE,
)

# Prose in them has the same words.
_C_COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*", re.DOTALL)

# What makes a header Objective-C.
_OBJECTIVE_C_SYNTAX = re.compile(rb"^[^\S\n]*@(?:interface|protocol|implementation)\b", re.MULTILINE)
# What makes a file MATLAB rather than Objective-C, and Verilog rather than V.
_MATLAB_SYNTAX = re.compile(rb"^[^\S\n]*(?:%|function\b|classdef\b)", re.MULTILINE)
_VERILOG_SYNTAX = re.compile(
    rb"^[^\S\n]*(?:endmodule|endfunction|`timescale|`define|module\s+\w+\s*[#(;])", re.MULTILINE
)

# Extensions of several languages: the one that the table below gives, and others with such lines.
_BY_CONTENT = {
    "h": (("objective-c", _OBJECTIVE_C_SYNTAX), ("cpp", _CPP_SYNTAX)),
    "m": (("objective-c", _OBJECTIVE_C_SYNTAX), ("matlab", _MATLAB_SYNTAX)),
    "v": (("verilog", _VERILOG_SYNTAX),),
}


@dataclass(frozen=True, slots=True)
class Grammar:
    """The name of a tree-sitter grammar in `semble-grammars`, and the query files for it."""

    name: str
    queries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Language:
    """A language with a grammar: how it is detected, parsed and commented."""

    name: str
    grammar: Grammar
    extensions: tuple[str, ...]
    filenames: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    line_comments: tuple[str, ...] = ("//",)
    block_comments: tuple[tuple[str, str], ...] = (("/*", "*/"),)
    separators: tuple[str, ...] = (".",)  # between the segments of a qualified name
    merges_clauses: bool = False  # adjacent clauses of one function are one definition
    hyphens: bool = False  # names may have hyphens and other marks in them
    sigils: str = ""  # marks before the names of variables that are no part of them
    docstrings: bool = False  # a string at the start of a body documents it
    lead_keywords: tuple[str, ...] = ()  # leading attributes that hold documentation
    variants: Mapping[str, Grammar] = field(default_factory=dict)  # by extension

    def grammar_for(self, path: str) -> Grammar:
        """Return the grammar for a path: dialects have an extension of their own."""
        for extension, grammar in self.variants.items():
            if path.endswith(extension):
                return grammar
        return self.grammar


_TABLE = (
    Language(
        "python",
        Grammar("python", ("python",)),
        (".py", ".pyi", ".pyw"),
        ("SConstruct", "SConscript", "wscript"),
        ("python", "pypy"),
        line_comments=("#",),
        block_comments=(),
        docstrings=True,
    ),
    Language(
        "javascript",
        Grammar("javascript", ("ecmascript", "javascript", "jsx")),
        (".js", ".jsx", ".mjs", ".cjs"),
        ("Jakefile",),
        ("node", "deno", "bun"),
    ),
    Language(
        "typescript",
        Grammar("typescript", ("ecmascript", "typescript")),
        (".ts", ".tsx", ".mts", ".cts"),
        variants={".tsx": Grammar("tsx", ("ecmascript", "typescript", "jsx"))},
    ),
    Language("go", Grammar("go", ("go",)), (".go",)),
    Language("java", Grammar("java", ("java",)), (".java",)),
    Language(
        "php",
        Grammar("php", ("php",)),
        (".php", ".phtml", ".php5"),
        interpreters=("php",),
        line_comments=("//", "#"),
        separators=("\\", "::", "->"),
    ),
    Language(
        "ruby",
        Grammar("ruby", ("ruby",)),
        (".rb", ".rake", ".gemspec", ".ru"),
        ("Rakefile", "Gemfile", "Guardfile", "Vagrantfile"),
        ("ruby", "rake"),
        line_comments=("#",),
        block_comments=(("=begin", "=end"),),
        separators=("::", "."),
    ),
    Language("rust", Grammar("rust", ("rust",)), (".rs",), separators=("::", ".")),
    Language("c", Grammar("c", ("c",)), (".c", ".h")),
    Language(
        "cpp",
        Grammar("cpp", ("c", "cpp")),
        (".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".h++", ".ipp", ".inl", ".cu", ".cuh"),
        separators=("::",),
    ),
    Language("csharp", Grammar("csharp", ("csharp",)), (".cs", ".csx")),
    Language("kotlin", Grammar("kotlin", ("kotlin",)), (".kt", ".kts")),
    Language("scala", Grammar("scala", ("scala",)), (".scala", ".sc", ".sbt")),
    Language("swift", Grammar("swift", ("swift",)), (".swift",)),
    Language(
        "elixir",
        Grammar("elixir", ("elixir",)),
        (".ex", ".exs"),
        interpreters=("elixir",),
        line_comments=("#",),
        block_comments=(),
        merges_clauses=True,
        lead_keywords=("@doc", "@typedoc"),
    ),
    Language(
        "haskell",
        Grammar("haskell", ("haskell",)),
        (".hs",),
        interpreters=("runhaskell",),
        line_comments=("--",),
        block_comments=(("{-", "-}"),),
        separators=(),
        merges_clauses=True,
    ),
    Language(
        "lua",
        Grammar("lua", ("lua",)),
        (".lua", ".rockspec"),
        interpreters=("lua", "luajit"),
        line_comments=("--",),
        block_comments=(("--[[", "]]"),),
        separators=(".", ":"),
    ),
    Language(
        "bash",
        Grammar("bash", ("bash",)),
        (".sh", ".bash", ".zsh", ".ksh", ".bats"),
        (".bashrc", ".bash_profile", ".profile", ".zshrc", "PKGBUILD"),
        ("sh", "bash", "zsh", "ksh", "dash"),
        line_comments=("#",),
        block_comments=(),
        separators=(),
    ),
    Language("zig", Grammar("zig", ("zig",)), (".zig",), block_comments=()),
    Language("dart", Grammar("dart", ("dart",)), (".dart",)),
    Language(
        "perl",
        Grammar("perl", ("perl",)),
        (".pl", ".pm", ".t"),
        interpreters=("perl",),
        line_comments=("#",),
        block_comments=(("=pod", "=cut"),),
        separators=("::",),
        sigils="$@%",
    ),
    Language(
        "r",
        Grammar("r", ("r",)),
        (".r",),
        interpreters=("Rscript",),
        line_comments=("#",),
        block_comments=(),
        separators=(),
    ),
    Language(
        "julia",
        Grammar("julia", ("julia",)),
        (".jl",),
        interpreters=("julia",),
        line_comments=("#",),
        block_comments=(("#=", "=#"),),
    ),
    Language(
        "clojure",
        Grammar("clojure", ("clojure",)),
        (".clj", ".cljs", ".cljc", ".edn"),
        line_comments=(";",),
        block_comments=(),
        separators=(),
        hyphens=True,
    ),
    Language(
        "erlang",
        Grammar("erlang", ("erlang",)),
        (".erl", ".hrl"),
        interpreters=("escript",),
        line_comments=("%",),
        block_comments=(),
        separators=(),
        merges_clauses=True,
    ),
    Language(
        "ocaml",
        Grammar("ocaml", ("ocaml",)),
        (".ml", ".mli"),
        interpreters=("ocaml",),
        line_comments=(),
        block_comments=(("(*", "*)"),),
    ),
    Language("objective-c", Grammar("objc", ("c", "objc")), (".m", ".mm")),
    Language("groovy", Grammar("groovy", ("groovy",)), (".groovy", ".gradle"), ("Jenkinsfile",), ("groovy",)),
    Language(
        "powershell",
        Grammar("powershell", ("powershell",)),
        (".ps1", ".psm1", ".psd1"),
        interpreters=("pwsh",),
        line_comments=("#",),
        block_comments=(("<#", "#>"),),
        separators=(),
        hyphens=True,
        sigils="$",
    ),
    Language(
        "fortran",
        Grammar("fortran", ("fortran",)),
        (".f", ".f90", ".f95", ".f03", ".f08", ".for"),
        line_comments=("!",),
        block_comments=(),
        separators=("%",),
    ),
    Language("solidity", Grammar("solidity", ("solidity",)), (".sol",)),
    Language(
        "starlark",
        Grammar("starlark", ("starlark",)),
        (".bzl", ".bazel", ".star"),
        ("BUILD", "WORKSPACE"),
        line_comments=("#",),
        block_comments=(),
        docstrings=True,
    ),
    Language(
        "vim",
        Grammar("vim", ("vim",)),
        (".vim",),
        (".vimrc",),
        line_comments=('"',),
        block_comments=(),
        separators=("#",),
    ),
    Language(
        "scheme",
        Grammar("scheme", ("scheme",)),
        (".scm", ".ss", ".sld"),
        interpreters=("guile",),
        line_comments=(";",),
        block_comments=(("#|", "|#"),),
        separators=(),
        hyphens=True,
    ),
    Language(
        "racket",
        Grammar("racket", ("scheme",)),
        (".rkt",),
        interpreters=("racket",),
        line_comments=(";",),
        block_comments=(("#|", "|#"),),
        separators=(),
        hyphens=True,
    ),
)

LANGUAGES: dict[str, Language] = {language.name: language for language in _TABLE}


def _data(name: str, grammar: str) -> Language:
    """Return a language of data: nothing documents its keys, and a dot in one separates nothing."""
    return Language(name, Grammar(grammar, (name,)), (), line_comments=(), block_comments=(), separators=())


# Data and schemas: files are chunked into windows of lines, and a grammar tells the names in them.
DATA_LANGUAGES = {
    each.name: each
    for each in (
        _data("json", "json"),
        _data("protobuf", "proto"),
        _data("graphql", "graphql"),
    )
}

# Files that hold code of another language: their symbols are those of the code in them.
EMBEDDING_LANGUAGES = {
    "vue": "typescript",
    "svelte": "typescript",
    "astro": "typescript",
    "notebook": "python",
}

# Languages without a grammar: named for `lang:` filters, chunked into windows of lines.
_PLAIN_EXTENSIONS = {
    "markdown": ".md .markdown .mdx .mkd .rmd .qmd",
    "restructuredtext": ".rst",
    "asciidoc": ".adoc .asciidoc",
    "text": ".txt .text",
    "json": ".json .jsonc .json5 .jsonl .ndjson .geojson .webmanifest",
    "yaml": ".yaml .yml",
    "toml": ".toml",
    "ini": ".ini .cfg .conf .properties .editorconfig",
    "xml": ".xml .xsd .xsl .xslt .svg .plist .csproj .props .targets .resx .xaml",
    "html": ".html .htm .xhtml",
    "css": ".css",
    "scss": ".scss .sass",
    "less": ".less",
    "vue": ".vue",
    "svelte": ".svelte",
    "astro": ".astro",
    "sql": ".sql .psql",
    "graphql": ".graphql .gql",
    "protobuf": ".proto",
    "thrift": ".thrift",
    "fsharp": ".fs .fsx .fsi",
    "batch": ".bat .cmd",
    "fish": ".fish",
    "lisp": ".lisp .lsp .cl",
    "emacs-lisp": ".el",
    "nim": ".nim",
    "crystal": ".cr",
    "d": ".d",
    "v": ".v",
    "verilog": ".sv .svh",
    "vhdl": ".vhd .vhdl",
    "assembly": ".asm .s",
    "pascal": ".pas .pp",
    "ada": ".adb .ads",
    "cobol": ".cob .cbl",
    "visual-basic": ".vb .vbs",
    "tcl": ".tcl",
    "awk": ".awk",
    "terraform": ".tf .tfvars .hcl",
    "nix": ".nix",
    "cmake": ".cmake",
    "m4": ".m4 .ac",
    "make": ".mk .mak",
    "dockerfile": ".dockerfile",
    "tex": ".tex .sty .cls .bib",
    "jinja": ".j2 .jinja .jinja2",
    "erb": ".erb",
    "heex": ".heex .eex .leex",
    "razor": ".cshtml .razor",
    "csv": ".csv .tsv",
    "diff": ".diff .patch",
    "notebook": ".ipynb",
    "gleam": ".gleam",
    "elm": ".elm",
    "purescript": ".purs",
    "reason": ".re .rei",
    "coffeescript": ".coffee",
    "pug": ".pug",
    "handlebars": ".hbs .handlebars",
    "cython": ".pyx .pxd .pxi",
    "literate-haskell": ".lhs",
    "jsonnet": ".jsonnet .libsonnet",
    "just": ".just",
    "kdl": ".kdl",
    "typst": ".typ",
    "org": ".org",
    "wat": ".wat",
    "gotmpl": ".gotmpl .tmpl",
    "dtd": ".dtd",
    "env": ".env",
    "glsl": ".glsl .vert .frag .hlsl .wgsl .metal",
}

_PLAIN_FILENAMES = {
    "dockerfile": "Dockerfile Containerfile",
    "make": "Makefile GNUmakefile makefile Makefile.am Makefile.in",
    "cmake": "CMakeLists.txt",
    "text": "README LICENSE COPYING NOTICE AUTHORS CHANGELOG CONTRIBUTORS INSTALL TODO",
    "ini": ".gitconfig .gitmodules .npmrc .flake8 .pylintrc",
    "json": ".babelrc .eslintrc .prettierrc composer.lock",
    "go-module": "go.mod go.sum go.work",
    "just": "justfile Justfile",
    "env": ".env .env.example .env.sample .env.template .env.test .env.local",
}

_PLAIN_INTERPRETERS = {"awk": "awk", "fish": "fish", "tclsh": "tcl"}


def _invert(attribute: str, plain: Mapping[str, str]) -> dict[str, str]:
    """Return a table from extension, file name or interpreter to language."""
    table = {key: name for name, keys in plain.items() for key in keys.split()}
    table.update((key, language.name) for language in _TABLE for key in getattr(language, attribute))
    return table


_EXTENSIONS = _invert("extensions", _PLAIN_EXTENSIONS)
_FILENAMES = _invert("filenames", _PLAIN_FILENAMES)
_INTERPRETERS = {**_PLAIN_INTERPRETERS, **_invert("interpreters", {})}


def has_symbols(language: str) -> bool:
    """Whether files of a language have symbols, not windows of lines alone."""
    return language in LANGUAGES or language in EMBEDDING_LANGUAGES


def language_names() -> tuple[str, ...]:
    """Return every name that `detect_language` can give, in order."""
    by_content = (other for others in _BY_CONTENT.values() for other, _ in others)
    return tuple(sorted({*_EXTENSIONS.values(), *_FILENAMES.values(), *_INTERPRETERS.values(), *by_content}))


def known_extensions() -> tuple[str, ...]:
    """Return every extension that tells a language, with its dot, in order."""
    return tuple(sorted(_EXTENSIONS))


def detect_language(path: str, head: bytes = b"") -> str:
    """Return the language of a file by its name, else by the shebang in `head`; "" if unknown."""
    name = path.rpartition("/")[2]
    if name in _FILENAMES:
        return _FILENAMES[name]
    stem, dot, extension = name.rpartition(".")
    if not dot or not stem:
        return _by_shebang(head) or ("dockerfile" if name.startswith("Dockerfile") else "")
    language = _EXTENSIONS.get("." + extension) or _EXTENSIONS.get("." + extension.lower(), "")
    for other, syntax in _BY_CONTENT.get(extension, ()):
        if syntax.search(head) and (extension != "h" or syntax.search(_C_COMMENT.sub(b"", head))):
            return other
    return language or _by_shebang(head)


def _by_shebang(head: bytes) -> str:
    """Return the language of a script by the interpreter in its shebang."""
    if not head.startswith(b"#!"):
        return ""
    words = head.split(b"\n", 1)[0][2:].decode("utf-8", "replace").split()
    while words and (words[0].endswith("/env") or words[0].startswith("-") or "=" in words[0]):
        words.pop(0)
    program = words[0].rpartition("/")[2].rstrip("0123456789.") if words else ""
    return _INTERPRETERS.get(program, "")
