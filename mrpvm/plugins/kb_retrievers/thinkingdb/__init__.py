"""`kb-thinkingdb`: lexical search, and units linked to the question by triples, with proofs."""

from mrpvm.plugins.kb_retrievers.thinkingdb.plugin import ThinkingDBKBRetriever

__all__ = ["ThinkingDBKBRetriever"]
