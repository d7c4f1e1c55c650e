# ruff: noqa: E501 - sources of one line each
"""Files that a compiler or bundler wrote are told apart from sources, by their content."""

import pytest

from dowse.source.built import is_built
from dowse.source.content import classify_content

CODE = "function add(a, b) {\n  return a + b;\n}\n"
BUILT = {
    "source map": CODE + "//# sourceMappingURL=a.js.map\n",
    "old source map": CODE + "//@ sourceMappingURL=a.js.map",
    "source map of styles": "a { color: red }\n/*# sourceMappingURL=a.css.map */\n",
    "rollup umd": "/*! licence */\n(function (global, factory) {\n  typeof exports === 'object' && typeof module !== 'undefined' ? factory(exports) :\n  define(factory)\n}(this, function () {\n",
    "umd with require": ";(function (global, factory) {\n   typeof exports === 'object' && typeof module !== 'undefined'\n       && typeof require === 'function' ? factory(require('../a')) :\n",
    "commonjs of es modules": "'use strict';\n\nObject.defineProperty(exports, '__esModule', { value: true });\n"
    + CODE,
    "tsc helper": "var __extends = (this && this.__extends) || (function () {\n})();\n" + CODE,
    "webpack": "/******/ (() => { // webpackBootstrap\n/******/ 	function __webpack_require__(moduleId) {\n",
    "webpack chunk": '(self["webpackChunkapp"] = self["webpackChunkapp"] || []).push([["main"],{\n',
    "esbuild": "var __defProp = Object.defineProperty;\nvar __getOwnPropNames = Object.getOwnPropertyNames;\n"
    + CODE,
    "babel": CODE + "function _interopRequireDefault(e) { return e && e.__esModule ? e : { default: e }; }\n",
    "system": "System.register(['./a'], function (exports) {\n",
    "amd of tsc": 'define(["require", "exports", "./a"], function (require, exports, a) {\n',
}
SOURCES = {
    "plain": CODE,
    "umd by hand": "(function (root, factory) {\n  if (typeof define === 'function' && define.amd) {\n    define(factory);\n  } else if (typeof exports === 'object') {\n    module.exports = factory();\n  }\n}(this, function () {\n",
    "a bundler's template": "const runtime = [\n  'function __webpack_require__(moduleId) {',\n  \"var __extends = (this && this.__extends)\",\n];\n",
    "a writer of source maps": CODE + "out.push(`//# sourceMappingURL=${name}.map`);\n",
    "es module": "import a from './a.js';\nexport default function b() { return a(); }\n",
}


@pytest.mark.parametrize("name", BUILT)
def test_built_files_are_recognised(name):
    assert is_built(BUILT[name].encode(), "lib/a.css" if "styles" in name else "lib/a.js")
    assert classify_content(BUILT[name].encode(), "lib/a.js").generated


@pytest.mark.parametrize("name", SOURCES)
def test_sources_are_not(name):
    assert not is_built(SOURCES[name].encode(), "lib/a.js")


@pytest.mark.parametrize("name", BUILT)
def test_other_languages_only_quote_them(name):
    assert not is_built(BUILT[name].encode(), "tests/test_bundle.py")
