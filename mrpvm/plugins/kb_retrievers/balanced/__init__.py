"""`kb-balanced`: lexical and semantic search, reranked for diversity."""

from mrpvm.plugins.kb_retrievers.balanced.plugin import BalancedKBRetriever

__all__ = ["BalancedKBRetriever"]
