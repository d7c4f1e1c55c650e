"""Signatures: one line, without the comments between their parts."""

from __future__ import annotations

import pytest

from dowse.parsing.parser import parse_file

SOURCES = {
    "python": (
        'def get(\n    self,  # the shop\n    key: str = "#1",  # noqa: E1\n    url="http://x#y",\n'
        ") -> int:  # type: ignore\n    return 1\n",
        'def get( self, key: str = "#1", url="http://x#y", ) -> int',
    ),
    "typescript": (
        'export function f(\n  a: string, // first\n  /* second */ b = "http://x//y",\n): void {\n}\n',
        'export function f( a: string, b = "http://x//y", ): void',
    ),
    "rust": (
        "fn f<'a>(\n    // first\n    x: &'a str, // why\n    y: u8,\n) -> &'a str {\n    x\n}\n",
        "fn f<'a>( x: &'a str, y: u8, ) -> &'a str",
    ),
    "go": (
        "func F(\n\ta int, // one\n\tb string, /* two */\n) error {\n\treturn nil\n}\n",
        "func F( a int, b string, ) error",
    ),
    "ruby": ("def f(a, # one\n      b = '#x')\n  a\nend\n", "def f(a, b = '#x')"),
    "php": (
        '<?php\nfunction f(\n  #[Attr] int $a, # one\n  string $b = "//x"\n): void {\n}\n',
        'function f( #[Attr] int $a, string $b = "//x" ): void',
    ),
    "haskell": ("f :: Int -- one\n  -> Int\nf x = x\n", "f :: Int -> Int"),
}


@pytest.mark.parametrize("language", SOURCES)
def test_signatures_have_no_comments(language: str) -> None:
    source, signature = SOURCES[language]
    parsed = parse_file(source.encode(), language, "file")
    assert parsed.definitions[0].signature == signature
