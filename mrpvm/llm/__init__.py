"""The one bridge to language models.

    plugin -> port (LanguageModel) -> bridge -> dialect (chat or responses) -> endpoint (the SDK, one attempt)
                                        roles: which model        recorder, redaction: what was really said

Nothing here is imported from the SDK before the first call or `warm()`: it takes longer to load than a turn takes.
"""
