"""sd-llm-*: one call, at most one correction, valid documents."""

import json
from typing import Any

import pytest

from mrpvm.contracts import ChunkInput, DetectInput, Detection, Normalisation
from mrpvm.errors import ModelTimeout
from mrpvm.kernel.admission import admit_detection
from mrpvm.lang import admit
from mrpvm.plugins.seed_detectors.llm import deep_detector, fast_detector
from mrpvm.testing import ScriptedModel, call_context
from mrpvm.values import ACTS, PHASE_SCOPES, RELATIONS, ROLES, HistoryMessage

INTENTS = '@i1 intent identify "What does Rex eat?"\n@o1 set $i1 output answer\n@s1 seed $i1 direct identify "food"'
UNITS = (
    '@k1 ku atomic "session::turn::unit-000"\n@k2 set $k1 sourceId "session"\n@k3 set $k1 chunkId "session::turn"\n'
    '@k4 set $k1 role Description\n@k5 set $k1 topic "Rex"\n@k6 set $k1 claim "Rex is a dog."'
)
GOOD = f"--- intents ---\n{INTENTS}\n--- context ---\n{UNITS}\n"
BAD = GOOD.replace("identify", "ponder").replace("role Description", "role Sage")


def detected(*replies: Any) -> tuple[Detection, ScriptedModel]:
    model = ScriptedModel(*replies)
    asked = DetectInput(
        message="Rex is a dog. What does he eat?",
        history=(HistoryMessage(role="user", content="Hello."),),
        session_model="usual",
    )
    return fast_detector().detect(asked, call_context(model=model)), model


@pytest.mark.rule("TURN-7", "PLUGIN-8", "BUILTIN-13")
def test_one_call_gives_both_documents() -> None:
    detection, model = detected(GOOD)
    assert (detection.status, detection.metadata.llm_calls, detection.metadata.model_role) == (
        "success", 1, "seed-fast",
    )  # fmt: skip
    admitted = admit_detection(detection, "req-1")
    assert [intent.target for intent in admitted.intents] == ["What does Rex eat?"]
    assert [unit.id for unit in admitted.units] == ["session::req-1::unit-000"]
    (prompt,) = model.prompts
    assert json.loads(prompt.messages[0].content) == {
        "history": [{"role": "user", "content": "Hello."}],
        "message": "Rex is a dog. What does he eat?",
    }
    assert prompt.wish == "usual"


@pytest.mark.rule("BUILTIN-13", "BUILTIN-15")
def test_the_shipped_prompt_is_what_is_sent() -> None:
    """It has every value of the language, and a valid example."""
    prompt = detected(GOOD)[1].prompts[0].system
    for value in (*ACTS, *ROLES, *PHASE_SCOPES, *RELATIONS):
        assert value in prompt
    assert "{{" not in prompt
    example = prompt[prompt.rindex("--- intents ---") :]
    intents, context = example.removeprefix("--- intents ---").split("--- context ---")
    assert len(admit(intents.strip(), "intent").intents) == 1
    assert len(admit(context.strip(), "context").kus) == 2


@pytest.mark.rule("PLUGIN-8", "BUILTIN-14")
def test_a_refused_reply_is_corrected_once_with_every_diagnostic() -> None:
    detection, model = detected(BAD, GOOD)
    assert (detection.status, detection.metadata.llm_calls) == ("success", 2)
    said = model.prompts[1].messages
    assert [item.role for item in said] == ["user", "assistant", "user"]
    assert said[1].content == BAD
    assert "INVALID_ACT_VALUE" in said[2].content
    assert "INVALID_ROLE_VALUE" in said[2].content


@pytest.mark.rule("LANG-4", "BUILTIN-14")
@pytest.mark.parametrize(
    "second", [BAD, "I am sorry.", "--- intents ---\n--- context ---", f"--- context ---\n{UNITS}"]
)
def test_a_second_refusal_is_the_end(second: str) -> None:
    detection, model = detected(BAD, second)
    assert detection.error is not None
    assert (detection.status, detection.error.code) == ("error", "CONTROL_LANGUAGE_INVALID")
    assert detection.error.details["diagnostics"]
    assert (detection.metadata.llm_calls, len(model.prompts)) == (2, 2)


def test_a_provider_that_fails_is_not_corrected() -> None:
    detection, _ = detected(BAD, ModelTimeout("too slow"))
    assert detection.error is not None
    assert (detection.error.code, detection.metadata.llm_calls) == ("LLM_TIMEOUT", 2)


@pytest.mark.parametrize(
    "reply",
    [
        GOOD.replace("--- intents ---\n", "--- Intents ---\n```text\n").replace("\n--- context", "\n```\n--- context"),
        f"Here you are:\n{GOOD}",
        GOOD.replace("\n", "\r\n"),
        f"--- intents ---\n{INTENTS}\n--- context ---\n",
    ],
)
def test_wrapping_is_no_fault(reply: str) -> None:
    assert detected(reply)[0].status == "success"


def test_what_only_asks_leaves_no_units() -> None:
    assert detected(f"--- intents ---\n{INTENTS}\n--- context ---\n\n")[0].context_document is None


def test_nothing_to_read_costs_nothing() -> None:
    model = ScriptedModel(GOOD)
    detection = deep_detector().detect(DetectInput(message="?!"), call_context(model=model))
    assert (detection.status, model.prompts) == ("unsupported", [])


def normalised(*replies: Any, text: str = "Rex is a dog.") -> tuple[Normalisation, ScriptedModel]:
    model = ScriptedModel(*replies)
    chunk = ChunkInput(text=text, source_id="src-secret", source_name="a.md", chunk_id="src-secret::chunk-000")
    return deep_detector().normalise(chunk, call_context(model=model)), model


@pytest.mark.rule("BUILTIN-2")
def test_a_chunk_is_read_under_the_role_of_ingestion() -> None:
    found, model = normalised(f"--- context ---\n{UNITS}")
    assert (found.status, found.metadata.model_role) == ("success", "kb-ingest")
    assert model.prompts[0].keeps_role
    assert "src-secret" not in model.prompts[0].messages[0].content
    assert admit(found.context_document or "", "context").kus


def test_a_chunk_is_corrected_once_too() -> None:
    found, _ = normalised("no section", f"--- context ---\n{UNITS}")
    assert (found.status, found.metadata.llm_calls) == ("success", 2)
    refused, _ = normalised("no section", "none again")
    assert refused.error is not None
    assert refused.error.code == "CONTROL_LANGUAGE_INVALID"


def test_a_chunk_without_words_or_with_too_many() -> None:
    assert normalised("never", text="---")[0] == Normalisation(status="success")
    found, model = normalised("never", text="a" * 8_001)
    assert found.error is not None
    assert (found.error.code, model.prompts) == ("PLUGIN_INPUT_TOO_LARGE", [])
