"""`kb-thinkingdb`: lexical search, and units that triples link to the question, with proofs."""

from mrpvm.plugins.kb_retrievers.thinkingdb.plugin import ThinkingDBKBRetriever

__all__ = ["ThinkingDBKBRetriever"]
