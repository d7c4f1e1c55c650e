"""semble as an agent uses it: questions as lines of JSON on standard input, answers of its tool on output.

Started by agent.py with the Python that has semble; the first line of output is what its server keeps in an
agent's context.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import semble.mcp
from semble.index import SembleIndex, create, dense
from semble.utils import format_results


class DowseVectors:
    """An encoder of dowse in the place of semble's model, where that can't be fetched."""

    def __init__(self, name: str) -> None:
        from dowse.encoders.registry import load_encoder

        self._encoder = load_encoder(name, view="text")
        self.dim = self._encoder.dimension

    def encode(self, texts: list[str], **_: object) -> Any:  # noqa: ANN401 - an array
        """Encode questions."""
        return np.asarray(self._encoder.encode_queries(texts), dtype=np.float32)

    def encode_chunks(self, _: object, chunks: list[Any]) -> Any:  # noqa: ANN401 - an array
        """Encode chunks of code, in the place of `embed_chunks`."""
        from dowse.encoders.document import Document

        if not chunks:
            return np.empty((0, self.dim), dtype=np.float32)
        documents = [
            Document("", "", "", each.content, each.language or "", each.file_path) for each in chunks
        ]
        return np.asarray(self._encoder.encode_documents(documents), dtype=np.float32)


def main() -> None:
    """Index a tree, and answer every question with so many hits."""
    root, vectors = Path(sys.argv[1]), sys.argv[2]
    if vectors:
        model = DowseVectors(vectors)
        create.embed_chunks = model.encode_chunks
        dense._load_cached = lambda _: model
    index = SembleIndex.from_path(root, model_path=f"dowse-{vectors}" if vectors else None)
    print(json.dumps(resident()), flush=True)
    for line in sys.stdin:
        question = json.loads(line)
        found = index.search(question["query"], top_k=question["top_k"], max_snippet_lines=10)
        answer = format_results(question["query"], found, 10, index.sources)
        print(json.dumps(json.dumps(answer)), flush=True)


def resident() -> str:
    """Return what an agent keeps in its context: the instructions, and the tools with their schemas."""
    server = semble.mcp.create_server(semble.mcp._IndexCache())
    tools = [each.model_dump(by_alias=True, exclude_none=True) for each in asyncio.run(server.list_tools())]
    return f"{server.instructions}\n{json.dumps(tools, separators=(',', ':'), ensure_ascii=False)}"


if __name__ == "__main__":
    main()
