"""No signature, whatever a repository holds, makes the linker fail."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dowse.graph.resolve.signatures import (
    accepts_argument_count,
    aliased_type,
    function_types,
    return_type,
    type_parameters,
    written_parameter_type,
)

_PIECES = st.sampled_from(
    "class def func fun fn template struct where extends implements Generic Protocol A B T f x "
    "< > [ ] ( ) : , = -> => . * & ? ... void auto const".split()
)
_SIGNATURES = st.builds(str.join, st.sampled_from(["", " "]), st.lists(_PIECES, max_size=14))
_LANGUAGES = st.sampled_from("python typescript go rust java kotlin csharp cpp c swift scala php".split())


@given(_SIGNATURES | st.text(max_size=60), _LANGUAGES)
def test_any_signature_is_read(signature: str, language: str) -> None:
    names = type_parameters(signature)
    assert all(isinstance(bound, str) for bound in names.values())
    assert isinstance(return_type(language, signature), str)
    accepts_argument_count(signature, 1)
    for function in (signature, *function_types(signature), *function_types(aliased_type(signature))):
        assert all(isinstance(written_parameter_type(function, number), str) for number in range(4))


def test_empty_type_parameters() -> None:
    assert type_parameters("template <> struct hash<Key>") == {}
    assert type_parameters("class A<T extends B>") == {"T": "B"}


def test_function_types_of_typescript() -> None:
    signature = "function on<T extends (a: A) => B>(name?: Map<K, V>, f: (x: X, y?: Y) => void = g, { c }: C)"
    types = [written_parameter_type(signature, number) for number in range(4)]
    assert types == ["Map<K, V>", "(x: X, y?: Y) => void", "C", ""]
    assert [written_parameter_type("(a: A, ...b: B[])", number) for number in range(4)] == [*"ABBB"]
    assert [written_parameter_type("(...b: [A, ...B[]])", number) for number in range(3)] == [*"ABB"]
    assert function_types("null | ((x: X) => A | B) | <T>(y: T) => void") == (
        "(x: X) => A | B",
        "<T>(y: T) => void",
    )
    assert function_types("(A | B)[]") == function_types("Foo<(x: X) => void>") == ()
    assert aliased_type("type F<T = A, U extends B = C> = (x: T) => U;") == "(x: T) => U"


def test_results_after_brackets_in_parameters() -> None:
    assert return_type("typescript", "f(g: () => A, o: { h(): B }): C<D>") == "C[D]"
    assert return_type("typescript", "f(a: A): T extends B ? (C) : D") == "C|D"
    assert return_type("typescript", "get<A extends { b(): C }, (x): D") == "D"  # cut before its result
