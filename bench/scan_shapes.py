"""Generated files that are hard to scan: for every language, one construct repeated up to a wanted size.

A shape is a head, a repeated unit, a tail, and what closes each unit (for nesting). `§` in a unit becomes a
number, so that every repetition has a name of its own.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

NUMBER = "§"
# Of the short lines that keep a file with one huge line from being left out as minified.
_PADDING_SHARE = 0.3


@dataclass(frozen=True)
class Shape:
    """One kind of file, in any size."""

    name: str
    path: str
    unit: str
    head: str = ""
    tail: str = ""
    close: str = ""

    def content(self, size: int) -> bytes:
        """Return the file with about so many bytes."""
        padding = "" if "\n" in self.unit else "\n" * int(size * _PADDING_SHARE)
        room = size - len(padding) - len(self.head) - len(self.tail)
        width = len(self.unit) + len(self.close) + 4 * self.unit.count(NUMBER)
        count = max(1, room // width)
        if NUMBER in self.unit:
            body = "".join([self.unit.replace(NUMBER, str(number)) for number in range(count)])
        else:
            body = self.unit * count
        return (self.head + body + self.tail + self.close * count + padding).encode(
            "utf-8", "surrogateescape"
        )


@dataclass(frozen=True)
class Snippets:
    """How a language writes what the shapes repeat; "" where it has no such thing."""

    path: str
    define: str  # one definition called NAME
    nest: tuple[str, str]  # a definition that holds the next one, and its end
    call: str = "f(a)\n"
    comment: str = "// words of a comment\n"
    block: tuple[str, str] = ("/*", "*/")
    attribute: str = ""
    imports: str = ""
    import_list: tuple[str, str, str] = ("", "", "")
    fields: tuple[str, str, str] = ("", "", "")
    parameters: tuple[str, str, str] = ("", "", "")
    chain: tuple[str, str, str] = ("x = a", ".b()", "\n")
    local: str = ""  # a variable that stands for something
    strings: tuple[str, ...] = ('"', "'")
    head: str = ""
    branch: tuple[str, str, str] = ("", "", "")
    more: dict[str, tuple[str, str, str, str]] = field(default_factory=dict)


_C = Snippets(
    path="a.c",
    define="int NAME(int a) { return a; }\n",
    nest=("int NAME(int a) { ", "}"),
    call="f(a);\n",
    attribute="__attribute__((unused))\n",
    imports='#include "m§.h"\n',
    fields=("struct s {\n", "int x§;\n", "};\n"),
    parameters=("int f(", "int a§, ", "int b) { return b; }\n"),
    chain=("int x = a", "->b()", ";\n"),
    local="struct s x§ = g();\n",
    branch=("int f() { ", "if (a) {} else ", "{} }\n"),
    more={
        "macros": ("", "#define M§(a) a\n", "", ""),
        "conditionals": ("", "#if A\n", "", "#endif\n"),
        "open conditionals": ("", "#ifdef A\n", "", ""),
        "declarators": ("int ", "*", "a;\n", ""),
        "braces": ("int a = ", "{", "", "}"),
        "backslash lines": ("#define A ", "a \\\n", "a\n", ""),
    },
)

_CPP = Snippets(
    path="a.cpp",
    define="int NAME(int a) { return a; }\n",
    nest=("namespace NAME { ", "}"),
    call="f(a);\n",
    attribute="[[nodiscard]]\n",
    imports='#include "m§.h"\n',
    fields=("class S {\n", "T x§;\n", "};\n"),
    parameters=("int f(", "T a§, ", "int b) { return b; }\n"),
    chain=("auto x = a", ".b()", ";\n"),
    local="auto x§ = g();\n",
    branch=("int f() { ", "if (a) {} else ", "{} }\n"),
    more={
        "template arguments": ("A", "<A", " a;\n", ">"),
        "open template arguments": ("", "A<", "", ""),
        "templates": ("", "template<class T> ", "int f() { return 1; }\n", ""),
        "lambdas": ("auto f = ", "[]() { return ", "1", "; }"),
        "classes": ("", "class A { ", "", "};"),
    },
)

_JAVASCRIPT = Snippets(
    path="a.js",
    define="function NAME(a) { return a }\n",
    nest=("function NAME(a) { ", "}"),
    attribute="@lead(a)\n",
    imports="import { a§ } from 'm§';\n",
    import_list=("import { ", "a§, ", "z } from 'm'\n"),
    fields=("class S { constructor(x) {\n", "this.x§ = x;\n", "} }\n"),
    parameters=("function f(", "a§, ", "b) { return b }\n"),
    local="const x§ = g();\n",
    strings=('"', "'", "`", "`${"),
    branch=("function f() { ", "if (a) {} else ", "{} }\n"),
    more={
        "arrows": ("const f = ", "a => ", "a\n", ""),
        "arrow parameters": ("", "a§ => a§.b();\n", "", ""),
        "object literals": ("const o = ", "{ a: ", "1", "}"),
        "object members": ("const o = {\n", "a§: () => 1,\n", "}\n", ""),
        "classes": ("", "class A { m() { ", "", "} }"),
        "templates": ("x = ", "`${", "a", "}`"),
        "open regular expressions": ("", "/a", "", ""),
        "open tags": ("x = ", "<a>", "", ""),
        "assignments": ("", "a = ", "1\n", ""),
        "member assignments": ("", "a.b = ", "c\n", ""),
    },
)

_TYPESCRIPT = Snippets(
    path="a.ts",
    define="function NAME(a: string): T { return a }\n",
    nest=("namespace NAME { ", "}"),
    attribute="@lead(a)\n",
    imports="import { a§ } from 'm§';\n",
    import_list=("import { ", "a§, ", "z } from 'm'\n"),
    fields=("class S {\n", "x§: T;\n", "}\n"),
    parameters=("function f(", "a§: T, ", "b: T) { return b }\n"),
    local="const x§: T = g();\n",
    strings=('"', "'", "`", "`${"),
    branch=("function f() { ", "if (a) {} else ", "{} }\n"),
    more={
        "type arguments": ("let a: A", "<A", "", ">"),
        "open type arguments": ("", "A<", "", ""),
        "unions": ("type A = ", "B§ | ", "C\n", ""),
        "conditional types": ("type A = ", "B extends C ? D : ", "E\n", ""),
        "constructor fields": ("class A { constructor(", "private a§: T, ", ") {} }\n", ""),
    },
)

_GO = Snippets(
    path="a.go",
    define="func NAME(a int) int { return a }\n",
    nest=("func NAME() { x := func() { ", "} }"),
    imports='import "m§"\n',
    import_list=("import (\n", '"m§"\n', ")\n"),
    fields=("type S struct {\n", "x§ T\n", "}\n"),
    parameters=("func f(", "a§ T, ", "b T) { }\n"),
    chain=("var x = a", ".b()", "\n"),
    local="x§ := g()\n",
    strings=('"', "'", "`"),
    head="package p\n",
    branch=("func f() { ", "if a {} else ", "{} }\n"),
    more={"methods": ("", "func (s *S) m§() { s.n() }\n", "", "")},
)

_JAVA = Snippets(
    path="A.java",
    define="class NAME { int m(int a) { return a; } }\n",
    nest=("class NAME { ", "}"),
    call="f(a);\n",
    attribute="@Lead(a = 1)\n",
    imports="import a.b.C§;\n",
    fields=("class S {\n", "T x§;\n", "}\n"),
    parameters=("class S { void f(", "T a§, ", "T b) { } }\n"),
    chain=("class S { T x = a", ".b()", "; }\n"),
    local="T x§ = g();\n",
    branch=("class S { void f() { ", "if (a) {} else ", "{} } }\n"),
    more={
        "type arguments": ("A", "<A", " a;\n", ">"),
        "lambdas": ("class S { T x = ", "a -> ", "a; }\n", ""),
        "constants": ("enum E { ", "A§, ", "}\n", ""),
    },
)

_PHP = Snippets(
    path="a.php",
    define="function NAME($a) { return $a; }\n",
    nest=("function NAME($a) { ", "}"),
    call="f($a);\n",
    attribute="#[Lead(1)]\n",
    imports="use A\\B§;\n",
    import_list=("use A\\{", "B§, ", "C};\n"),
    fields=("class S { function f($x) {\n", "$this->x§ = $x;\n", "} }\n"),
    parameters=("function f(", "T $a§, ", "$b) { }\n"),
    chain=("$x = $a", "->b()", ";\n"),
    local="$x§ = new T();\n",
    strings=('"', "'", "<<<A\n", "`"),
    head="<?php\n",
    branch=("", "if ($a) {} else ", "{}\n"),
    more={"tags": ("", "?><?php ", "", ""), "interpolation": ("", '"{$a}', "", "")},
)

_RUBY = Snippets(
    path="a.rb",
    define="def NAME(a)\n  a\nend\n",
    nest=("def NAME(a)\n", "end\n"),
    comment="# words of a comment\n",
    block=("=begin\n", "\n=end\n"),
    imports="require 'm§'\n",
    fields=("class S\ndef f(x)\n", "@x§ = x\n", "end\nend\n"),
    parameters=("def f(", "a§, ", "b)\nend\n"),
    local="x§ = T.new\n",
    strings=('"', "'", "<<A\n", "%w(", "`", '"#{'),
    branch=("if a\n", "elsif a\n", "end\n"),
    more={
        "modules": ("", "module A\n", "", "end\n"),
        "blocks": ("", "a do |b|\n", "", "end\n"),
        "heredocs": ("x(", "<<A§, ", ")\n", ""),
        "symbols": ("", ":a ", "\n", ""),
    },
)

_RUST = Snippets(
    path="a.rs",
    define="fn NAME(a: u8) -> u8 { a }\n",
    nest=("fn NAME() { ", "}"),
    call="f(a);\n",
    attribute="#[lead(a)]\n",
    imports="use a::b::c§;\n",
    import_list=("use a::{", "b§, ", "c};\n"),
    fields=("struct S {\n", "x§: T,\n", "}\n"),
    parameters=("fn f(", "a§: T, ", "b: T) { }\n"),
    chain=("const X: T = a", ".b()", ";\n"),
    local="let x§ = T::new();\n",
    branch=("fn f() { ", "if a {} else ", "{} }\n"),
    more={
        "impl blocks": ("struct A;\n", "impl A { fn f§(&self) { self.g() } }\n", "", ""),
        "impl blocks of one trait": ("", "impl T for A§ { }\n", "", ""),
        "nested imports": ("use ", "a::{", "b", "}"),
        "open nested imports": ("use ", "a::{b, ", "c;\n", ""),
        "type arguments": ("type A = A", "<A", ";\n", ">"),
        "raw strings": ("", 'r#"', "", ""),
        "macro arguments": ("m!", "(", "", ")"),
        "closures": ("fn f() { ", "|a| ", "a }\n", ""),
        "documented attributes": ("", "/// words\n#[lead]\n", "fn f() {}\n", ""),
        "nested comments": ("", "/* ", "", "*/ "),
    },
)

_CSHARP = Snippets(
    path="a.cs",
    define="class NAME { int M(int a) { return a; } }\n",
    nest=("namespace NAME { ", "}"),
    call="f(a);\n",
    attribute="[Lead(1)]\n",
    imports="using A.B§;\n",
    fields=("class S {\n", "T x§;\n", "}\n"),
    parameters=("class S { void F(", "T a§, ", "T b) { } }\n"),
    chain=("var x = a", ".b()", ";\n"),
    local="T x§ = g();\n",
    strings=('"', "'", '@"', '$"{', '"""'),
    branch=("class S { void F() { ", "if (a) {} else ", "{} } }\n"),
    more={
        "regions": ("", "#region a\n", "", "#endregion\n"),
        "type arguments": ("A", "<A", " a;\n", ">"),
        "conditionals": ("", "#if A\n", "", "#endif\n"),
    },
)

_KOTLIN = Snippets(
    path="a.kt",
    define="fun NAME(a: Int): Int { return a }\n",
    nest=("fun NAME() { ", "}"),
    attribute="@Lead(1)\n",
    imports="import a.b.c§\n",
    fields=("class S {\n", "val x§: T = g()\n", "}\n"),
    parameters=("fun f(", "a§: T, ", "b: T) { }\n"),
    chain=("val x = a", ".b()", "\n"),
    local="val x§ = g()\n",
    strings=('"', "'", '"""', '"${'),
    branch=("fun f() { ", "if (a) {} else ", "{} }\n"),
    more={"lambdas": ("val f = ", "{ ", "", "}"), "type arguments": ("val a: A", "<A", "\n", ">")},
)

_SCALA = Snippets(
    path="a.scala",
    define="def NAME(a: Int): Int = { a }\n",
    nest=("object NAME { ", "}"),
    attribute="@lead(1)\n",
    imports="import a.b.C§\n",
    import_list=("import a.{", "b§, ", "c}\n"),
    fields=("class S {\n", "val x§: T = g()\n", "}\n"),
    parameters=("def f(", "a§: T, ", "b: T) = { }\n"),
    chain=("val x = a", ".b()", "\n"),
    local="val x§ = g()\n",
    strings=('"', "'", '"""', 's"${'),
    branch=("def f() = { ", "if (a) {} else ", "{} }\n"),
    more={
        "type arguments": ("val a: A", "[A", "\n", "]"),
        "cases": ("a match {\n", "case a§ => b\n", "}\n", ""),
        "indented": ("", "object A:\n  def b = 1\n", "", ""),
    },
)

_SWIFT = Snippets(
    path="a.swift",
    define="func NAME(a: Int) -> Int { return a }\n",
    nest=("func NAME() { ", "}"),
    attribute="@lead(1)\n",
    imports="import M§\n",
    fields=("class S {\n", "var x§: T = g()\n", "}\n"),
    parameters=("func f(", "a§: T, ", "b: T) { }\n"),
    chain=("let x = a", ".b()", "\n"),
    local="let x§ = g()\n",
    strings=('"', '"""', '"\\('),
    branch=("func f() { ", "if a {} else ", "{} }\n"),
    more={"closures": ("let f = ", "{ ", "", "}"), "type arguments": ("let a: A", "<A", "\n", ">")},
)

_ELIXIR = Snippets(
    path="a.ex",
    define="def NAME(a) do\n  a\nend\n",
    nest=("defmodule NAME do\n", "end\n"),
    comment="# words of a comment\n",
    block=("", ""),
    attribute='@doc "words"\n',
    imports="alias A.B§\n",
    import_list=("alias A.{", "B§, ", "C}\n"),
    parameters=("def f(", "a§, ", "b) do\nend\n"),
    local="x§ = g()\n",
    strings=('"', "'", '"""\n', "~s(", '"#{'),
    branch=("case a do\n", "a -> b\n", "end\n"),
    more={
        "clauses": ("", "def f(a), do: a\n", "", ""),
        "pipes": ("x = a ", "|> b() ", "\n", ""),
        "anonymous functions": ("x = ", "fn a -> ", "a", " end"),
        "keywords": ("x = [", "a: 1, ", "]\n", ""),
    },
)

_HASKELL = Snippets(
    path="a.hs",
    define="NAME :: Int -> Int\nNAME a = a\n",
    nest=("f = let g = (", ")"),
    call="x = f a\n",
    comment="-- words of a comment\n",
    block=("{-", "-}"),
    attribute="{-# INLINE f #-}\n",
    imports="import A.B§\n",
    import_list=("import A (", "b§, ", "c)\n"),
    fields=("data S = S {\n", "x§ :: T,\n", "y :: T }\n"),
    parameters=("f ", "a§ ", "= b\n"),
    chain=("x = a ", ". b ", "\n"),
    local="x§ = g\n",
    branch=("f a\n", "  | a = b\n", "\n"),
    more={
        "clauses": ("", "f a = a\n", "", ""),
        "lambdas": ("f = ", "\\a -> ", "a\n", ""),
        "blocks": ("f = ", "do { ", "a", "}"),
        "layout": ("f = ", "do a\n  ", "b\n", ""),
        "operators": ("f = a ", "$ b ", "\n", ""),
    },
)

_LUA = Snippets(
    path="a.lua",
    define="function NAME(a) return a end\n",
    nest=("function NAME(a) ", "end "),
    comment="-- words of a comment\n",
    block=("--[[", "]]"),
    imports="local m§ = require('m§')\n",
    fields=("local S = {\n", "x§ = 1,\n", "}\n"),
    parameters=("function f(", "a§, ", "b) end\n"),
    local="local x§ = g()\n",
    strings=('"', "'", "[[", "[==["),
    branch=("if a then ", "elseif a then ", "end\n"),
    more={"methods": ("", "function S:m§(a) self:n() end\n", "", ""), "tables": ("x = ", "{", "", "}")},
)

_BASH = Snippets(
    path="a.sh",
    define="NAME() { echo a; }\n",
    nest=("NAME() { ", "}"),
    call="f a\n",
    comment="# words of a comment\n",
    block=("", ""),
    imports="source m§.sh\n",
    parameters=("f ", "a§ ", "\n"),
    chain=("x=", "$(b) ", "\n"),
    local="x§=$(g)\n",
    strings=('"', "'", "`", "$(", "${", "$((", "<<A\n", '"$('),
    branch=("if a; then b\n", "elif a; then b\n", "fi\n"),
    more={
        "pipes": ("a ", "| b ", "\n", ""),
        "substitutions": ("x=", "$(", "a", ")"),
        "heredocs": ("", "cat <<A§\n", "", ""),
        "cases": ("case a in\n", "a§) b ;;\n", "esac\n", ""),
        "tests": ("", "[[ a && ", "", ""),
        "expansions": ("", "${a:-", "", "}"),
    },
)

_ZIG = Snippets(
    path="a.zig",
    define="fn NAME(a: u8) u8 { return a; }\n",
    nest=("const NAME = struct { ", "};"),
    call="f(a);\n",
    block=("", ""),
    imports='const m§ = @import("m§.zig");\n',
    fields=("const S = struct {\n", "x§: T,\n", "};\n"),
    parameters=("fn f(", "a§: T, ", "b: T) void { }\n"),
    chain=("const x = a", ".b()", ";\n"),
    local="const x§ = g();\n",
    strings=('"', "'", "\\\\\n"),
    branch=("fn f() void { ", "if (a) {} else ", "{} }\n"),
    more={"pointers": ("const a: ", "*", "u8;\n", "")},
)

_PYTHON = Snippets(
    path="a.py",
    define="def NAME(a):\n    return a\n",
    nest=("class NAME: x = lambda: (", ")"),
    comment="# words of a comment\n",
    block=("", ""),
    attribute="@lead(1)\n",
    imports="import a.b§ as c§\n",
    import_list=("from a import (", "b§, ", "c)\n"),
    fields=("class S:\n  def f(self, x):\n", "    self.x§ = x\n", "\n"),
    parameters=("def f(", "a§: T, ", "b): pass\n"),
    local="x§ = g()\n",
    strings=('"', "'", '"""', "'''", 'f"{', 'r"'),
    branch=("if a: pass\n", "elif a: pass\n", "else: pass\n"),
    more={
        "docstrings": ("", 'def f():\n  """words"""\n', "", ""),
        "open docstrings": ("", 'def f():\n  """words\n', "", ""),
        "open short docstrings": ("", "def f():\n  'words\\'\n", "", ""),
        "lambdas": ("x = ", "lambda a: ", "a\n", ""),
        "lambda arguments": ("", "f(lambda a§: a§.b())\n", "", ""),
        "assignments": ("", "a = ", "1\n", ""),
        "one-line definitions": ("", "def f(): pass\n", "", ""),
        "subscripts": ("a: A", "[A", "\n", "]"),
        "modules of imports": ("from ", "a.", "b import c, d, e\n", ""),
        "global lines": ("", "a§ = b§.c(\n)\n", "", ""),
    },
)

LANGUAGES = {
    "python": _PYTHON,
    "javascript": _JAVASCRIPT,
    "typescript": _TYPESCRIPT,
    "go": _GO,
    "java": _JAVA,
    "php": _PHP,
    "ruby": _RUBY,
    "rust": _RUST,
    "c": _C,
    "cpp": _CPP,
    "csharp": _CSHARP,
    "kotlin": _KOTLIN,
    "scala": _SCALA,
    "swift": _SWIFT,
    "elixir": _ELIXIR,
    "haskell": _HASKELL,
    "lua": _LUA,
    "bash": _BASH,
    "zig": _ZIG,
}


def _of_language(language: str, snippets: Snippets) -> Iterator[Shape]:
    """Give the shapes that every language has."""

    def shape(name: str, unit: str, head: str = "", tail: str = "", close: str = "") -> Shape:
        return Shape(f"{language}: {name}", snippets.path, unit, snippets.head + head, tail, close)

    one = snippets.define.replace("NAME", "f")
    yield shape("definitions of one name", one)
    yield shape("definitions", snippets.define.replace("NAME", "f" + NUMBER))
    yield shape("definitions in one line", one.replace("\n", " "))
    yield shape("calls of one name", snippets.call, head=one)
    yield shape("calls in one line", snippets.call.replace("\n", " "))
    yield shape("nested definitions", snippets.nest[0].replace("NAME", "A"), close=snippets.nest[1])
    yield shape("open definitions", snippets.nest[0].replace("NAME", "A"))
    yield shape("call chain", snippets.chain[1], snippets.chain[0], snippets.chain[2])
    yield shape("long name", "a", *one.split("f", 1))
    yield shape("comments above a definition", snippets.comment, tail=one)
    yield shape("comments in one line", f"{snippets.block[0]} a {snippets.block[1]} ", tail=one)
    for bracket, closing in ("()", "[]", "{}"):
        yield shape(f"nested {bracket}{closing}", bracket, head="x = ", close=closing)
        yield shape(f"open {bracket}", bracket)
    yield shape("closing brackets", ")")
    yield shape("blank lines", "\n", tail=one)
    yield shape("blank lines and blanks", " \r\n", tail=one)
    yield shape("control characters", "a\0\x01\x02\n", head="a" * 9000 + "\n")
    yield shape("letters of other scripts", "Ж é 漢 ")
    for number, opener in enumerate(snippets.strings):
        yield shape(f"open string {number}", opener + "a\n")
        yield shape(f"open string {number} in one line", opener + " ")
    if snippets.block[0]:
        yield shape("open comments", snippets.block[0] + " a\n")
        yield shape("blocks above a definition", f"{snippets.block[0]} a {snippets.block[1]}\n", tail=one)
        yield shape("closing comments", "a " + snippets.block[1] + "\n" + one)
    if snippets.attribute:
        yield shape("attributes", snippets.attribute, tail=one)
        yield shape("attributes in one line", snippets.attribute.replace("\n", " "), tail=one)
        yield shape("attributes and comments", snippets.comment + snippets.attribute, tail=one)
    if snippets.imports:
        yield shape("imports", snippets.imports)
    if snippets.local:
        yield shape("variables", snippets.local)
        yield shape("used variables", snippets.local + snippets.call)
    for name, (head, unit, tail) in (
        ("one long import", snippets.import_list),
        ("fields", snippets.fields),
        ("parameters", snippets.parameters),
        ("branches", snippets.branch),
    ):
        if unit:
            yield shape(name, unit, head, tail)
    for name, (head, unit, tail, close) in snippets.more.items():
        yield shape(name, unit, head, tail, close)
    noise = random.Random(language)
    symbols = "".join(noise.choice("(){}[]<>\"'`\\/|#$@!?:;,.=+-*&^%~\n a1") for _ in range(997))
    yield shape("noise", symbols)


def _of_text() -> Iterator[Shape]:
    """Give the shapes of files without a grammar."""
    for name, path in (("markdown", "a.md"), ("text", "a.txt"), ("html", "a.html"), ("json", "package.json")):
        yield Shape(f"{name}: blank lines", path, "\n", tail="a\n")
        yield Shape(f"{name}: one word", path, "a")
        yield Shape(f"{name}: blanks", path, " ", tail="a")
        yield Shape(f"{name}: NUL after the head", path, "a\0b\n", head="a\n" * 5000)
        yield Shape(f"{name}: invalid UTF-8", path, "a \udcff\udcfe\n")
        yield Shape(f"{name}: line ends", path, "a\r\nb\rc\n")
        yield Shape(f"{name}: byte order marks", path, "\ufeff\n")
        yield Shape(f"{name}: words", path, "word§ ")
    for level in ("#", "###", "######"):
        yield Shape(f"markdown: headings {level}", "a.md", f"{level} a\n")
    yield Shape("markdown: distinct headings", "a.md", "## a§\n\nwords\n\n")
    yield Shape("markdown: headings and fences", "a.md", "# a\n```\n# b\n```\n")
    yield Shape("markdown: open fences", "a.md", "```a\n~~~ b\n")
    yield Shape("markdown: fences with blanks", "a.md", "    ```\n")
    yield Shape("markdown: heading marks in one line", "a.md", "# ", tail="x\n")
    yield Shape("markdown: blanks in one heading", "a.md", " ", head="# a", tail="x\n")
    yield Shape("markdown: nested headings", "a.md", "# a\n## b\n### c\n#### d\n##### e\n###### f\n")
    yield Shape("html: tags", "a.html", "<div>")
    yield Shape("html: nested tags", "a.html", "<div>\n", close="</div>\n")
    yield Shape("html: open comments", "a.html", "<!-- \n")
    yield Shape("json: nested lists", "a.json", "[\n", close="]\n")
    yield Shape("json: name marks", "package.json", '\n "name" :\n')
    yield Shape("json: one long string", "a.json", "a", head='{"a": "', tail='"}\n')
    yield Shape(
        "notebook: cells", "a.ipynb", '{"cell_type": "code", "source": ["a"]},\n', head='{"cells": [\n'
    )
    yield Shape("notebook: one picture", "a.ipynb", "iVBORw0KGgo", head='{"image/png": "')
    yield Shape("crate: packages", "Cargo.toml", "[package]\nname =\n")
    yield Shape("crate: names", "Cargo.toml", "name\n", head="[package]\n")
    yield Shape("go module: words", "go.mod", "module\n")
    yield Shape("header: blank lines", "a.h", "\n")
    yield Shape("header: class words", "a.h", "class\n")
    yield Shape("header: template words", "a.h", "template \n")
    yield Shape("generated: marks", "a.txt", "# generated\n")
    for codec in ("cp037", "punycode", "utf-7", "idna", "unicode_escape", "shift_jis", "gb18030", "latin-1"):
        yield Shape(f"declared {codec}", "a.py", "x = '\udce9'\n", head=f"# coding: {codec}\n")


def all_shapes() -> list[Shape]:
    """Return every shape, each name once."""
    shapes = [shape for name, snippets in LANGUAGES.items() for shape in _of_language(name, snippets)]
    return shapes + list(_of_text())
