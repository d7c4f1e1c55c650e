"""The published schemas are those of the declared types."""

from __future__ import annotations

import json
from pathlib import Path

from dowse.services.schemas import published_schemas

DOCS = Path(__file__).parents[2] / "docs"


def test_the_schemas_in_docs_are_up_to_date() -> None:
    for name, schema in published_schemas().items():
        assert json.loads((DOCS / name).read_text()) == schema, "run scripts/schemas"
