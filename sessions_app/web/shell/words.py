"""Texts for codes and steps, for users who have not read the specification."""

from collections.abc import Mapping

CODES: Mapping[str, str] = {
    "PLUGIN_STAGE_EXHAUSTED": "no plugin of a stage delivered a result",
    "PLAN_STAGE_EXHAUSTED": "no planner delivered a plan",
    "DECOMPOSER_EMPTY_RESULT": "nothing to answer was found in the message",
    "VALIDATION_REJECTED": "the validators refused every answer that was found",
    "FRAME_DEPTH_EXCEEDED": "the question was split more often than allowed",
    "ENGINE_BUDGET_EXCEEDED": "the model calls of the turn ran out",
    "ENGINE_TIMEOUT": "the turn's time ran out",
    "TURN_CANCELLED": "the turn was stopped",
    "TURN_INTERRUPTED": "the server stopped while the turn was running",
    "LLM_NOT_AVAILABLE": "a plugin needs a language model and none is set",
    "LLM_PROVIDER_ERROR": "the language model's provider failed",
    "LLM_TIMEOUT": "the language model timed out",
    "ANSWER_DENIED": "the language model's answer was one that policy denies",
    "SERVER_INTERNAL_ERROR": "the server met an error of its own",
    "chain_broken": "the provider no longer knew the response that the request followed; it was sent again without",
    "session_expired_restarted": "the session had expired, so a new one goes on from its transcript",
    "index_outdated": "the index was written by another version, so some words are not found in it; the operator's"
    " command `reindex` brings it up to date",
    "conversation_ambiguous": "several sessions could have had this conversation, so a new one goes on from it",
    "history_partly_read": "only the newest messages that the client brought along were searched for facts",
    "summary_failed": "the model did not summarise the older messages, so rules did",
    "rewriting_failed": "the message could not be rewritten for the search and was searched for unchanged",
    "memory_failed": "the session's memory could not be updated with this turn",
}

FAMILIES: Mapping[str, tuple[str, str]] = {
    "sd-plugin": ("Seed detectors", "Read the message: its questions and its statements."),
    "mrp-plan-plugin": ("Planners", "Choose which plugins are tried, and in which order."),
    "kb-plugin": ("KB plugins", "Find the units that may answer, in the session and in the mounted knowledge base."),
    "gs-plugin": ("Goal solvers", "Answer from what was found."),
    "val-plugin": ("Response validators", "Check the answer before it is given."),
}
"""The plugin families in the order of one turn: their name on screen, and what they do."""

STORES: Mapping[str, str] = {
    "current-turn": "this message",
    "session": "this session",
    "draft": "the draft",
    "kb": "the knowledge base",
}

CHOSEN_BY: Mapping[str, str] = {"session": "this session", "project": "the project", "server": "the server"}
"""Where the value of a policy comes from."""

END_WORDS: Mapping[str, str] = {
    "failed": "Failed",
    "cancelled": "Stopped",
    "interrupted": "Interrupted",
    "running": "Running",
    "succeeded": "Answered",
}


def why(reason: str) -> str:
    """Return a reason in words: a code becomes a sentence, words stay."""
    return CODES.get(reason, reason)


OUTCOME_WORDS: Mapping[str | None, str] = {
    "no-context": "No answer found",
    "quoted": "Closest passage",
    "nothing-asked": "Nothing asked",
    "noted": "Noted",
}
BASIS_WORDS: Mapping[str, tuple[str, str]] = {
    "stated": ("Stated", "A cited sentence states it."),
    "composed": ("Composed", "Put together from the cited sentences."),
    "quoted": ("Quoted", "No sentence states it; the closest passage is shown."),
    "none": ("No basis", "No stated fact and no source answers it."),
}
"""What an answer rests on: a word, and what it means."""


OUTCOMES: Mapping[str, str] = {
    "answered": "Answered",
    "noted": "Noted",
    "quoted": "Closest passage",
    "no-answer": "No answer",
    "nothing-asked": "Nothing asked",
    "failed": "Failed",
    "stopped": "Stopped",
    "interrupted": "Interrupted",
    "command": "Command",
}
"""Outcomes of turns in lists."""


def outcome_words(outcome: str, status: str) -> str:
    """Return a turn's outcome in lists; without a stored outcome its status."""
    return OUTCOMES.get(outcome) or END_WORDS.get(status, status)


def ending(status: str, outcome: str | None, kind: str) -> str:
    """Return how a turn ended, in a few words; `outcome` is that of its question."""
    if kind == "command":
        return "Command"
    if status == "succeeded" and outcome in OUTCOME_WORDS:
        return OUTCOME_WORDS[outcome]
    return END_WORDS.get(status, status)
