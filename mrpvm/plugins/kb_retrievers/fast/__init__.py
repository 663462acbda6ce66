"""`kb-fast`: one lexical search over the session's effective view."""

from mrpvm.plugins.kb_retrievers.fast.plugin import FastKBRetriever

__all__ = ["FastKBRetriever"]
