"""What is kept of a request holds no secret and is otherwise what it was [H60 to H64]."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.llm import redaction
from mrpvm.llm.redaction import REDACTED, redacted

JWT = "eyJhbGciOi.eyJzdWIiOi.SflKxwRJSM"


@pytest.mark.parametrize(
    "key",
    [
        "apiKey", "api_key", "api-key", "APIKEY", "authorization", "Authorization", "secret", "password", "token",
        "supabaseAnonKey", "supabase_service_key", "openai_api_key", "access_token", "refreshToken", "secretKey",
        "client_secret", "x-api-key", "DB_PASSWORD", "set-cookie",
    ],
)  # fmt: skip
def test_texts_under_a_secret_key_go(key: str) -> None:
    """[H61], and the misses of [H63]: compound names, lists and nested objects."""
    assert redacted({key: "x"}) == {key: REDACTED}
    assert redacted({key: ["x", {"a": "y"}]}) == {key: [REDACTED, {"a": REDACTED}]}
    assert redacted({key: 7, "b": {key: None}}) == {key: 7, "b": {key: None}}


@pytest.mark.parametrize(
    "key", ["previous_response_id", "max_tokens", "tokens", "key", "secretary", "model", "monkey", "prompt_tokens"]
)
def test_other_keys_stay(key: str) -> None:
    """[H64]"""
    assert redacted({key: "value"}) == {key: "value"}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("use sk-abcdefghijklmnopqrstuvwxyz now", "use [REDACTED] now"),
        ("sk-short", "[REDACTED]"),
        (f"a {JWT} b", "a [REDACTED] b"),
        ("mrp_0123456789abcdef", "[REDACTED]"),
        ("Bearer abcdef0123456789", "Bearer [REDACTED]"),
        ("Bearer eyJa.bb.cc", "Bearer [REDACTED]"),
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
    """[H62, HV27], and the false hits of [H63]."""
    assert redacted({"content": [text]}) == {"content": [left]}


def test_a_request_keeps_what_it_follows_and_its_numbers() -> None:
    """[HV25, HV28]"""
    sent = {"apiKey": "abc", "previous_response_id": "resp_1"}
    assert redacted(sent) == {"apiKey": REDACTED, "previous_response_id": "resp_1"}
    assert redacted({"max_tokens": 5, "tokens": "x"}) == {"max_tokens": 5, "tokens": "x"}


def test_named_secrets_go_wherever_they_are() -> None:
    assert redacted(["my key is hunter2.", {"a": "hunter2"}], ["hunter2", ""]) == [
        "my key is [REDACTED].",
        {"a": REDACTED},
    ]


def test_what_the_server_names_as_secret_goes_unless_it_is_a_mere_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_named", [])
    redaction.name_secrets(["gsk_abcd", "gsk_abcd.efgh", "ollama", ""])
    told = "gsk_abcd.efgh and gsk_abcd at ollama"
    assert redaction.without_secrets(told) == redacted(told) == "[REDACTED] and [REDACTED] at ollama"
    redaction.name_secrets([])
    assert redaction.without_secrets(told) == told


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)


def shape(value: Any) -> Any:
    """Return a value with its texts left out."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shape(item) for item in value]
    return "text" if isinstance(value, str) else value


@given(VALUES)
def test_the_copy_has_the_shape_of_the_original_which_stays(value: Any) -> None:
    before = copy.deepcopy(value)
    copied = redacted(value)
    assert value == before
    assert shape(copied) == shape(value)
    assert redacted(copied) == copied
