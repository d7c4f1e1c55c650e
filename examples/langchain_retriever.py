"""A LangChain retriever: `DowseRetriever(index=index, k=5).invoke("retry with backoff")`."""

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from dowse import Answer, AsyncIndex, Index


class DowseRetriever(BaseRetriever):
    """Finds functions and classes of a repository."""

    index: Index
    k: int = 10

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return _documents(self.index.search(query, self.k, plain=True))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return _documents(await AsyncIndex(self.index).search(query, self.k, plain=True))


def _documents(answer: Answer) -> list[Document]:
    hits = zip(answer, answer.to_dicts(), strict=True)
    return [Document(hit.symbol.code, id=hit.symbol.id, metadata=fields) for hit, fields in hits]
