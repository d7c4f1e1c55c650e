"""Copies of other projects, by where they are and whether they have a licence of their own."""

from __future__ import annotations

from dowse import Index

from helpers import write_tree

CODE = "int knead(int grams) { return grams; }\n"


def test_a_folder_of_deps_with_a_licence_is_a_copy(tmp_path):
    files = {
        "LICENSE": "ours\n",
        "deps/dough/COPYING": "theirs\n",
        "deps/dough/src/knead.c": CODE,
        "deps/local/knead.c": CODE,  # the project's own: without a licence
        "packages/oven/LICENSE": "ours\n",
        "packages/oven/knead.c": CODE,
        "external/LICENSE": "ours\n",
        "external/knead.c": CODE,
    }
    root = write_tree(tmp_path / "code", files)
    with Index.open(root, index_dir=str(tmp_path / "index"), encoder="none") as index:
        index.update()
        with index.backend.reader() as reader:
            roles = {row.path: row.role for row in reader.rows_named(["knead"], 10)}
    assert {path for path, role in roles.items() if role == "vendored"} == {"deps/dough/src/knead.c"}
