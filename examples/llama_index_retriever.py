"""A LlamaIndex retriever: `DowseRetriever(index, k=5).retrieve("retry with backoff")`."""

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from dowse import Answer, AsyncIndex, Index


class DowseRetriever(BaseRetriever):
    """Finds functions and classes of a repository."""

    def __init__(self, index: Index, k: int = 10) -> None:
        self._index, self._k = index, k
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(self._index.search(query_bundle.query_str, self._k, plain=True))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(await AsyncIndex(self._index).search(query_bundle.query_str, self._k, plain=True))


def _nodes(answer: Answer) -> list[NodeWithScore]:
    return [
        NodeWithScore(node=TextNode(id_=hit.symbol.id, text=hit.symbol.code, metadata=data), score=hit.score)
        for hit, data in zip(answer, answer.to_dicts(), strict=True)
    ]
