"""Redaction removes the secrets of a recorded request and nothing else."""

import copy
import json
import time
import timeit
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.llm import redaction
from mrpvm.llm.redaction import REDACTED, redacted
from tests.planted import Planted, planted_secrets

JWT = "eyJhbGciOi.eyJzdWIiOi.SflKxwRJSM"


@pytest.mark.rule("CONTEXT-61")
@pytest.mark.parametrize(
    "key",
    [
        "apiKey", "api_key", "api-key", "APIKEY", "authorization", "Authorization", "secret", "password", "token",
        "supabaseAnonKey", "supabase_service_key", "openai_api_key", "access_token", "refreshToken", "secretKey",
        "client_secret", "x-api-key", "DB_PASSWORD", "set-cookie",
    ],
)  # fmt: skip
def test_texts_under_a_secret_key_go(key: str) -> None:
    """Compound names, lists and nested objects are redacted too."""
    assert redacted({key: "x"}) == {key: REDACTED}
    assert redacted({key: ["x", {"a": "y"}]}) == {key: [REDACTED, {"a": REDACTED}]}
    assert redacted({key: 7, "b": {key: None}}) == {key: 7, "b": {key: None}}


@pytest.mark.rule("CONTEXT-64")
@pytest.mark.parametrize(
    "key", ["previous_response_id", "max_tokens", "tokens", "key", "secretary", "model", "monkey", "prompt_tokens"]
)
def test_other_keys_stay(key: str) -> None:
    assert redacted({key: "value"}) == {key: "value"}


@pytest.mark.rule("CONTEXT-62", "WINDOW-27")
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("use sk-abcdefghijklmnopqrstuvwxyz now", "use [REDACTED] now"),
        ("sk-short", "[REDACTED]"),
        (f"a {JWT} b", "a [REDACTED] b"),
        ("mrp_0123456789abcdef", "[REDACTED]"),
        ("Bearer abcdef0123456789", "Bearer [REDACTED]"),
        ("Bearer eyJa.bb.cc", "Bearer [REDACTED]"),
        ("Bearer $ABCDEF-0123456789", "Bearer [REDACTED]"),
        ("Authorization: Bearer ${Abcdef0123}", "Authorization: Bearer [REDACTED]"),
        ('-H "Authorization: Bearer $MRPVM_API_KEY"', '-H "Authorization: Bearer $MRPVM_API_KEY"'),
        ("Authorization: ${API_KEY_2}", "Authorization: ${API_KEY_2}"),
        ("https://x-1.supabase.co/rest/v1/t?select=a", "[REDACTED]?select=a"),
        ("postgres://me:secret@db/x", "postgres://[REDACTED]@db/x"),
        ("redis://:secret@db/0", "redis://[REDACTED]@db/0"),
        ("sk_live_0123456789", "[REDACTED]"),
        ("https://host/x?a=b&token=abcdef", "https://host/x?a=b&token=[REDACTED]"),
        ("https://host/login/link/abc-DEF_123", "https://host/login/link/[REDACTED]"),
        ("the scope mrp-plan-plugin", "the scope mrp-plan-plugin"),
        ("task-abcdefghijklmnopqrstuvwxyz", "task-abcdefghijklmnopqrstuvwxyz"),
        ("https://supabase.com/docs", "https://supabase.com/docs"),
        ("https://supabase.community", "https://supabase.community"),
        ("risk-averse people ask-around", "risk-averse people ask-around"),
        ("eyJust a word.", "eyJust a word."),
    ],
)
def test_secrets_inside_texts_go_and_nothing_else(text: str, left: str) -> None:
    """Texts that only resemble secrets are kept."""
    assert redacted({"content": [text]}) == {"content": [left]}


@pytest.mark.rule("WINDOW-25", "WINDOW-28")
def test_a_request_keeps_what_it_follows_and_its_numbers() -> None:
    sent = {"apiKey": "abc", "previous_response_id": "resp_1"}
    assert redacted(sent) == {"apiKey": REDACTED, "previous_response_id": "resp_1"}
    assert redacted({"max_tokens": 5, "tokens": "x"}) == {"max_tokens": 5, "tokens": "x"}


def test_named_secrets_go_wherever_they_are() -> None:
    said = ["one is tiger-paw.", {"a": "tiger-paw"}]
    assert redacted(said, ["tiger-paw", ""]) == ["one is [REDACTED].", {"a": REDACTED}]


@pytest.mark.parametrize("placeholder", ["x", "none", "ollama", "no-key"])
def test_a_placeholder_for_a_key_is_not_redacted(placeholder: str) -> None:
    said = [f"{placeholder} is in no text a secret: exxon, none.", {"a": placeholder}]
    assert redacted(said, [placeholder]) == said


def test_named_secrets_are_redacted_unless_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_named", [])
    redaction.name_secrets(["gsk_abcd", "gsk_abcd.efgh", "ollama", ""])
    told = "gsk_abcd.efgh and gsk_abcd at ollama"
    assert redaction.without_secrets(told) == redacted(told) == "[REDACTED] and [REDACTED] at ollama"
    redaction.name_secrets([])
    assert redaction.without_secrets(told) == told


@pytest.mark.parametrize("planted", planted_secrets(seed=7, a_form=3), ids=lambda planted: planted.form)
def test_every_form_goes_from_a_text_and_from_json(planted: Planted) -> None:
    left = redaction.without_secrets(planted.text)
    assert planted.secret not in left
    assert REDACTED in left
    for value in (planted.text, {"nested": [{"said": f"First line.\n{planted.text}"}]}, json.dumps([planted.text])):
        data = json.dumps(value).encode()
        kept = redaction.redacted_json(data)
        assert planted.secret.encode() not in kept
        json.loads(kept)


@pytest.mark.parametrize(
    "value",
    [
        {"headers": [["x-api-key", "abc"], ["accept", "def"]]},
        {"headers": [{"name": "X-Api-Key", "value": "abc"}, {"name": "Accept", "value": "def"}]},
        {"apiKey": ["abc"], "accept": "def"},
    ],
)
def test_headers_are_known_however_they_are_nested(value: object) -> None:
    kept = redaction.redacted_json(json.dumps(value).encode()).decode()
    assert "abc" not in kept
    assert "def" in kept


@pytest.mark.parametrize(
    "text",
    [
        "The password is wrong, and the token: a small coin.",
        "The bearer instruments are secret: nobody knows why. Is the key to success is patience?",
        "Asia is the largest continent; a task-oriented ask-around is at http://example.com/a:b/c@d.",
        "secretary: Ms Brown. Tokens = words. The cookie: crisp. keyboard = black. monkey: grey.",
        "The passport is in the drawer, key: front door.",
    ],
)
def test_sentences_about_secrets_stay(text: str) -> None:
    assert redaction.without_secrets(text) == text
    data = json.dumps({"said": text}).encode()
    assert redaction.redacted_json(data) is data


@pytest.mark.parametrize(
    "piece",
    ["api_key=", "password=", "password: ", "sk-", "://a:", "-----BEGIN PRIVATE KEY-----", "cookie: a=", "eyJ."],
)
def test_a_long_text_of_beginnings_takes_linear_time(piece: str) -> None:
    def seconds(count: int) -> float:
        text = piece * count
        return min(timeit.repeat(lambda: redaction.without_secrets(text), time.thread_time, number=1, repeat=3))

    # With 256 times the pieces, linear time is 256 times as long, quadratic 65,536 times. The bound is 16 times from
    # either, because a busy machine slows long runs more than short ones.
    assert seconds(64_000) < 4_096 * seconds(250)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)


def shape(value: Any) -> Any:
    """Return a value without its texts."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shape(item) for item in value]
    return "text" if isinstance(value, str) else value


@pytest.mark.rule("CONTEXT-60", "CONTEXT-64")
@given(VALUES)
def test_the_copy_has_the_shape_of_the_original_which_stays(value: Any) -> None:
    before = copy.deepcopy(value)
    copied = redacted(value)
    assert value == before
    assert shape(copied) == shape(value)
    assert redacted(copied) == copied


@given(
    st.lists(
        st.sampled_from([item.text for item in planted_secrets(seed=11, a_form=2)])
        | st.sampled_from(
            ["token", "api_key=", "secret: ", "sk-", "key", "=", ": ", "_", "9", "a", " ", '"', "\\", "\n", "K"]
        )
        | st.text(max_size=3),
        max_size=6,
    )
)
def test_json_is_redacted_as_its_values_are(pieces: list[str]) -> None:
    value = {"said": "".join(pieces), "nested": ["", *pieces]}
    assert json.loads(
        redaction.redacted_json(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    ) == redacted(value)
