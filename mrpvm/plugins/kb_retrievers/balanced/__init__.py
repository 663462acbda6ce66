"""`kb-balanced`: a wider lexical search, reranked so that its results are not all of a kind."""

from mrpvm.plugins.kb_retrievers.balanced.plugin import BalancedKBRetriever

__all__ = ["BalancedKBRetriever"]
