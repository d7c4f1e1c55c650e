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
