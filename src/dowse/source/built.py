"""Built files, recognised by their content: bundles, transpiled modules and what comes with a source map."""

from __future__ import annotations

import re

# Languages that are compiled to themselves or to each other.
_ENDINGS = (".js", ".mjs", ".cjs", ".jsx", ".css", ".ts", ".mts", ".cts")
# Wrappers and flags stand at the top, perhaps below a licence; the name of a source map at the end.
_HEAD, _TAIL = 4_096, 1_024
_SOURCE_MAP = re.compile(rb"^[ \t]*(?://|/\*)[#@][ \t]*sourceMappingURL=", re.MULTILINE)

# At the start of a line only: code of a bundler has these texts in strings.
_WRAPPERS = re.compile(
    rb"""^[ \t;!]*(?:
        # UMD as rollup writes it; by hand it is an `if`
        typeof\ exports\ ===?\ ['"]object['"]\ &&\ typeof\ module\ !==?\ ['"]undefined['"]\s*
            (?:&&\ typeof\ require\ ===?\ ['"]function['"]\s*)?\?
        # ES modules as CommonJS: tsc, Babel, rollup, swc
        | Object\.defineProperty\(exports,\ ?['"]__esModule['"],
        | exports\.__esModule\ =\ true;
        | System\.register\(\[
        | define\(\[['"]require['"],\ ['"]exports['"]
        # browserify
        | \(function\(?\)?\{function\ r\(e,n,t\)\{ | \(function\ e\(t,n,r\)\{function\ s\(o,u\)
    )""",
    re.MULTILINE | re.VERBOSE,
)

# What stands in every line that begins one of the helpers below, so that few files are searched for them.
_HELPER_WORDS = (
    *(b"__webpack_", b"webpackChunk", b"webpackJsonp", b"this && this.__", b"parcelRequire"),
    *(b"__getOwnPropNames", b"_interopRequire", b"$jscomp"),
)
_HELPERS = re.compile(
    rb"""^[ \t]*(?:
        /\*{3,}/.*__webpack_ | (?:function|var|const)\ __webpack_(?:require|modules|exports)__\b
        | \(?(?:self|window|global|globalThis|this)\[?\.?['"]?webpack(?:Chunk|Jsonp)
        | (?:var|const)\ __\w+\ =\ \(?this\ &&\ this\.__
        | (?:var|const)\ __getOwnPropNames\ =\ Object\.getOwnPropertyNames
        | function\ _interopRequire(?:Default|Wildcard)\(
        | (?:var|const|let)?\ ?\(?parcelRequire\w*\ =
        | var\ \$jscomp\b
    )""",
    re.MULTILINE | re.VERBOSE,
)


def is_built(data: bytes, path: str) -> bool:
    """Whether a compiler or bundler wrote a script, declaration or style file."""
    if not path.lower().endswith(_ENDINGS):
        return False
    if b"sourceMappingURL=" in data[-_TAIL:] and _SOURCE_MAP.search(data[-_TAIL:]):
        return True
    if _WRAPPERS.search(data[:_HEAD]):
        return True
    return any(word in data for word in _HELPER_WORDS) and _HELPERS.search(data) is not None
