"""Arity and return type of a function, read from its signature."""

from __future__ import annotations

import re
from functools import lru_cache

from dowse.parsing import declared_types
from dowse.parsing.declared_types import parse_declared_type as parse_declared
from dowse.parsing.facts import parse_type_name
from dowse.parsing.signature import MAX_SIGNATURE, result_start
from dowse.parsing.static_values import parse_static_type
from dowse.parsing.type_expressions import LITERAL, parse_type

_UNBOUNDED = 1 << 30
_OPTIONAL = re.compile(r"=(?!=|>)|\?\s*:|\\\\")
_VARIADIC = re.compile(r"\.\.\.|^params\s|^\*|^vararg\s")
_ARROW = re.compile(r"->\s*(.+?)\s*(?:where\b.*)?$")
_WITHOUT_PARAMETERS = re.compile(r"\bdef\s+\w+(?:\[[^\]]*\])?\s*:\s*(.+?)\s*$")
# `class A<T extends B>`, `def f[T: B]`, `class A(Base, Generic[T])`
_TYPE_PARAMETERS = re.compile(
    r"^[\w\s]*?[\w$]+\s*[<\[](.*?)[>\]]\s*(?:\(|=|extends\b|implements\b|:|$)"
    r"|[(,]\s*(?:\w+\.)?(?:Generic|Protocol)\[(.*?)\]"
    r"|^(?:[\w\s]*\s)?<((?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*)>\s"  # before the name, in Java and Kotlin
)
_DEFAULT = re.compile(r"\s=\s")
_BOUND = re.compile(r"\sextends\s|<:|:")
_WHERE = re.compile(r"\bwhere\s+(\w+)\s*:\s*([\w.]+(?:<[^<>]*>)?)")
# A method of an interface has neither the keyword nor a receiver.
_GO = re.compile(r"^(?:func\s*(?:\([^)]*\)\s*)?)?\w+(?:\[[^\]]*\])?")
# What precedes the name of a function of Java, C# or C++ and its type arguments.
_BEFORE_PARAMETERS = re.compile(
    r"([^(]*?[\w>\])&*?])[\s&*]+(?:(?:[\w:]*\b)?operator\s*(?:[^\w\s(]{1,3}|\(\))|[\w:~$.]+)"
    r"\s*(?:<(?:[^<>()]|<[^<>()]*>)*>)?\s*\("
)
# The type of a lambda of Kotlin, with or without a receiver, and the type of a parameter of Java or Kotlin.
_LAMBDA = re.compile(r":\s*[(\s]*(?:@\w+\s+|suspend\s+)*(?:([\w.]+(?:<[^()]*>)?)\??\.)?\(([^()]*)\)\s*->")
_PARAMETER = re.compile(r"^[^:]*:\s*([^=]+)|^(?:@\w+\s+|final\s+)*(.+?)\s+\w+$")
_NAMED = re.compile(r"^\s*\w+\s*:(?!:)")
_NOT_TYPES = frozenset("new return public private static def fun func override inline void else".split())


def accepts_argument_count(signature: str, count: int) -> bool:
    """Whether a function can be called with this number of arguments; True if the signature does not tell."""
    least, most = _arity(signature)
    return least <= count <= most


@lru_cache(maxsize=16384)
def return_type(language: str, signature: str) -> str:
    """Return the class that a function returns, joined with dots; "" if unknown, "!" if it is no class."""
    written = _written_return_type(language, signature)
    if language in ("python", "typescript"):
        return parse_type(written)
    if language in declared_types.LANGUAGES:
        return declared_types.parse_declared_type(written)
    if language in ("go", "rust"):
        return parse_static_type(language, written) if written != LITERAL else LITERAL
    return parse_type_name(written) if written else ""


@lru_cache(maxsize=16384)
def aliased_type(signature: str) -> str:
    """Return the type that an alias stands for, as written; "" if the signature is none of an alias.

    Its type parameters can have defaults.
    """
    if signature.startswith("typedef "):
        return signature.removeprefix("typedef ").strip(" ;").rpartition(" ")[0]
    return "=".join(_split_outside(signature, "=")[1:]).strip(" ;")


@lru_cache(maxsize=16384)
def type_parameters(signature: str) -> dict[str, str]:
    """Return the type parameters of a class or function, with their bounds."""
    match = _TYPE_PARAMETERS.search(signature)
    bounds = {name: parse_type(bound) for name, bound in _WHERE.findall(signature)}
    if match is None:
        return bounds
    for part in _split_parameters((match[1] or match[2] or match[3] or "") + ")"):
        words = _BOUND.split(part.partition(" = ")[0].strip(), maxsplit=1)
        name = words[0].strip().lstrip("*").removeprefix("const ").removeprefix("in ").removeprefix("out ")
        if name:
            bounds.setdefault(name, parse_type(words[1]) if len(words) > 1 else "")
    return bounds


@lru_cache(maxsize=16384)
def lambda_types(signature: str) -> tuple[str, tuple[str, ...], str]:
    """Return the receiver and the parameters of the lambda that a function of Kotlin takes last.

    The third is the declared type of the last parameter where that is no type of a function.
    """
    start = signature.find("(")
    parameters = _split_parameters(signature[start + 1 :]) if start >= 0 else []
    last = next((part.strip() for part in reversed(parameters) if part.strip()), "")
    match = _LAMBDA.search(last)
    if match:
        taken = tuple(parse_declared(_NAMED.sub("", part)) for part in _split_parameters(match[2] + ")"))
        return parse_declared(match[1] or ""), taken, ""
    declared = _PARAMETER.search(last)
    return "", (), parse_declared(declared[1] or declared[2]) if declared else ""


@lru_cache(maxsize=16384)
def parameter_types(signature: str) -> tuple[str, ...]:
    """Return the declared types of the parameters of a function of Java or Kotlin."""
    start = signature.find("(")
    parameters = _split_parameters(signature[start + 1 :]) if start >= 0 else []
    found = [_PARAMETER.search(parameter.strip()) for parameter in parameters]
    return tuple(parse_declared(each[1] or each[2]) if each else "" for each in found)


@lru_cache(maxsize=16384)
def written_parameter_type(signature: str, number: int) -> str:
    """Return the type of a parameter of a function or function type of TypeScript, as written."""
    start = _parameters_start(signature)
    parameters = _split_parameters(signature[start + 1 :]) if start >= 0 else []
    written = [_without_default(_after_colon(each)) for each in parameters]
    if not parameters or not parameters[-1].lstrip().startswith("...") or number < len(written) - 1:
        return written[number] if number < len(written) else ""
    rest = written[-1]  # an array, or a tuple
    if rest.startswith("[") and rest.endswith("]"):
        elements = [each.strip().removeprefix("...") for each in _split_outside(rest[1:-1], ",")]
        rest = elements[min(number - len(written) + 1, len(elements) - 1)]
    return rest.removesuffix("[]").strip()


@lru_cache(maxsize=16384)
def function_types(written: str) -> tuple[str, ...]:
    """Return the function types of a union of TypeScript, as written."""
    members = [part.strip() for part in _split_outside(written, "|") if part.strip()]
    if len(members) > 1:
        return tuple(function for member in members for function in function_types(member))
    written = members[0] if members else ""
    start = _parameters_start(written)
    if start != 0 and not written.startswith("<"):
        return ()
    end = start + 1 + len(",".join(_split_parameters(written[start + 1 :])))
    if written[end + 1 :].lstrip().startswith("=>"):
        return (written,)
    return function_types(written[1:end]) if start == 0 and end == len(written) - 1 else ()


def _parameters_start(text: str) -> int:
    """Return the offset of the first round bracket outside type arguments, -1 for none."""
    depth = 0
    for index, char in enumerate(text):
        if char == "(" and not depth:
            return index
        depth += (char == "<") - (char == ">" and text[index - 1 : index] != "=")
    return -1


def _after_colon(parameter: str) -> str:
    return parameter[len(_split_outside(parameter, ":")[0]) + 1 :].strip()


def _without_default(written: str) -> str:
    """Return a type without the default value that follows it."""
    return _DEFAULT.split(written, maxsplit=1)[0].strip()


def _split_outside(text: str, separator: str) -> list[str]:
    """Split at separators outside brackets; what follows the arrow of a function type belongs to it."""
    depth, start, parts = 0, 0, list[str]()
    for index, char in enumerate(text):
        is_arrow = char == ">" and text[index - 1 : index] == "="
        if is_arrow and not depth:
            break
        depth += (char in "([{<") - (char in ")]}>" and not is_arrow)
        if char == separator and not depth:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


@lru_cache(maxsize=16384)
def _arity(signature: str) -> tuple[int, int]:
    start = signature.find("(")
    if start < 0 or len(signature) >= MAX_SIGNATURE:
        return 0, _UNBOUNDED
    parameters = [part.strip() for part in _split_parameters(signature[start + 1 :])]
    parameters = [part for part in parameters if part and part != "void"]
    if parameters and parameters[0].startswith("this "):
        # An extension method takes its first argument before the dot, or as an argument.
        return max(0, len(parameters) - 1 - sum(map(_is_optional, parameters))), len(parameters)
    most = _UNBOUNDED if any(_VARIADIC.search(part) for part in parameters) else len(parameters)
    return sum(1 for part in parameters if not _is_optional(part)), most


def _is_optional(parameter: str) -> bool:
    return _VARIADIC.search(parameter) is not None or _OPTIONAL.search(parameter) is not None


def _split_parameters(text: str) -> list[str]:
    """Split at the commas outside brackets, up to the closing bracket."""
    depth, start, parts = 0, 0, list[str]()
    for index, char in enumerate(text):
        if char in "([{<":
            depth += 1
        elif char in ")]}>" and not (char == ">" and text[index - 1 : index] in ("-", "=")):
            if not depth:
                return [*parts, text[start:index]]
            depth -= 1
        elif char == "," and not depth:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


def _written_return_type(language: str, signature: str) -> str:
    if language in ("python", "rust", "swift"):
        match = _ARROW.search(signature)
        return match[1] if match else LITERAL if language == "rust" else ""
    if language in ("typescript", "kotlin", "php", "scala"):
        start = result_start(signature)
        if start < 0 and language == "scala" and (match := _WITHOUT_PARAMETERS.search(signature)):
            return match[1]
        return signature[start + 1 :].lstrip(" :").removesuffix("=>").strip() if start >= 0 else ""
    if language == "go":
        return _go_return_type(signature)
    if language in ("java", "csharp", "cpp", "c"):
        return _type_before_name(signature if "(" in signature or language != "csharp" else signature + "(")
    return ""


def _type_before_name(signature: str) -> str:
    """Return the type that precedes the name and the parameters of a function."""
    head = _BEFORE_PARAMETERS.match(signature)
    if head is None or head[1].startswith("#"):
        return ""
    before = head[1]
    depth, start = 0, len(before)
    while start and (depth or not before[start - 1].isspace()):
        start -= 1
        depth += (before[start] in ">)]") - (before[start] in "<([")
    written = before[start:]
    if written == "auto":
        result = _ARROW.search(signature)
        return result[1] if result else ""
    return "" if written in _NOT_TYPES else written


def _go_return_type(signature: str) -> str:
    """Return the results of a Go function, in brackets if there are several."""
    head = _GO.match(signature)
    if not head:
        return ""
    results = signature[head.end() :]
    depth = 0
    for index, char in enumerate(results):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == ")" and not depth:
            results = results[index + 1 :].strip()
            break
    return results or LITERAL
