"""Names of definitions: their segments, without type arguments."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.parsing.names import split_definition_name, type_name


@pytest.mark.parametrize(
    ("source", "segments"),
    [
        ("Foo", ("Foo",)),
        ("a::Foo<T>::bar", ("a", "Foo", "bar")),
        ("has_insert<O, T, void_t<decltype(get(std::declval<O&>()).insert({}))>>", ("has_insert",)),
        ("formatter<std::vector<std::pair<K, V>>, Char>", ("formatter",)),
        ("Buffer<(N > 0)>", ("Buffer",)),
        ("operator<", ("operator<",)),
        ("<=>", ("<=>",)),
        ("foldl'", ("foldl'",)),
        ("'quoted'", ("quoted",)),
    ],
)
def test_type_arguments_are_no_part_of_a_name(source, segments):
    assert split_definition_name(source.encode(), ("::",)) == segments


@given(st.recursive(st.sampled_from(["T", "std::x", "f()"]), lambda inner: inner.map(lambda t: f"a<{t}, b>")))
def test_however_deep_they_are(argument):
    assert split_definition_name(f"ns::Foo<{argument}>".encode(), ("::",))[-1] in ("Foo", "ns")


@pytest.mark.parametrize(
    "source", [b"S", b"&'a mut S", b"&'a dyn x::S<'b>", b"*const S", b"a::S<T>", b"*S[T]", b"(S a)", b"[S]"]
)
def test_the_name_in_a_type_expression(source):
    assert type_name(source) == "S"
