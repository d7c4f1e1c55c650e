"""Paths tell what part a file plays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.source.roles import file_role

ROLES = {
    "test": """
        tests/a.py test_a.py pkg/a_test.py a_test.go src/x.spec.ts x.test.jsx src/test/java/A.java
        FooTest.java FooTests.cs TestFoo.java spec/models/a.rb a_spec.rb a_test.exs
        src/__tests__/a.js __mocks__/a.js conftest.py tests/fixtures/a.json test/test-fs.c test-fs.c
        FooTests/A.swift My.App.Tests/A.cs testdata/x.txt t/a.t x.bats FooSpec.scala foo_unittest.cc
        crates/core-tests/a.rs Tests/A.swift docs/test_examples.py examples/a_test.go
    """,
    "example": """
        examples/a.py src/demo/a.js Samples/A.cs example.py docs/examples/a.py button.stories.tsx
        docs_src/a.py
    """,
    "vendored": """
        vendor/a/b.go third_party/x/test_a.py src/_vendor/a.py node_modules/a/index.js
        js/jquery-3.1.0.js
    """,
    "generated": """
        a_pb2.py a.pb.go lib/a.g.dart A.designer.cs dist/a.js src/__generated__/a.ts
        zz_generated.deep.go
    """,
    "docs": """
        docs/conf.py README.md CHANGELOG doc/a.txt guide.rst examples/README.md LICENSE.txt
    """,
    "benchmark": """
        bench/a.py benches/a.rs tests/benchmarks/test_a.py foo_bench.rs FooBenchmark.java
        test/benchmark-a.c
    """,
    "": """
        src/a.py latest.py contest.py Latest.java src/testing/a.py attestation/a.go doc.go
        benchmarking.py spec.py src/main/java/com/example/A.java distribution/a.py protest/a.py
        inspect.js a/build/b.py .github/ci.yml generator.py my_generated_thing/a.py Commit.java
        GIT.java
    """,
}
CASES = [(role, path) for role, paths in ROLES.items() for path in paths.split()]


@pytest.mark.parametrize(("role", "path"), CASES)
def test_roles(role, path):
    assert file_role(path) == role


@given(st.text())
def test_any_path_has_a_role(path):
    assert file_role(path) in ROLES
