"""The resolution rules of each language family."""

from __future__ import annotations

from dowse.graph.lookups import Lookups
from dowse.graph.resolve.ecmascript import EcmascriptRules
from dowse.graph.resolve.global_names import CRules, ElixirRules, PlainRules, RubyRules
from dowse.graph.resolve.go import GoRules
from dowse.graph.resolve.jvm import CsharpRules, JvmRules, PhpRules
from dowse.graph.resolve.python import PythonRules
from dowse.graph.resolve.rules import Rules
from dowse.graph.resolve.rust import RustRules

_RULES: dict[str, type[Rules]] = {
    "python": PythonRules,
    "ecmascript": EcmascriptRules,
    "go": GoRules,
    "jvm": JvmRules,
    "rust": RustRules,
    "csharp": CsharpRules,
    "php": PhpRules,
    "c": CRules,
    "ruby": RubyRules,
    "elixir": ElixirRules,
}


class RulesByFamily(dict[str, Rules]):
    """The rules of each language family, made when the first file needs them."""

    def __init__(self, lookups: Lookups) -> None:
        super().__init__()
        self._lookups = lookups

    def __missing__(self, family: str) -> Rules:
        rules = self[family] = _RULES.get(family, PlainRules)(self._lookups)
        return rules
