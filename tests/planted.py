"""Generated secrets of 20 forms, in sentences."""

import base64
import json
import random
import string
from collections.abc import Callable
from dataclasses import dataclass

_LETTERS = string.ascii_letters + string.digits


@dataclass(frozen=True, slots=True)
class Planted:
    """A sentence with a secret; `secret` must not be stored, `form` names its kind."""

    form: str
    text: str
    secret: str


def _random(source: random.Random, length: int) -> str:
    # Random keys nearly always have a digit near the start.
    return f"{source.choice(_LETTERS)}{source.randint(0, 9)}{''.join(source.choices(_LETTERS, k=length - 2))}"


def _json_web_token(source: random.Random) -> str:
    parts = (base64.urlsafe_b64encode(json.dumps({"alg": _random(source, 12)}).encode()).decode().rstrip("="),) * 2
    return ".".join((*parts, _random(source, 43)))


_KEYS: dict[str, Callable[[random.Random], str]] = {
    "openai": lambda source: f"sk-proj-{_random(source, 40)}",
    "this server": lambda source: f"mrp_{_random(source, 43)}",
    "stripe": lambda source: f"sk_live_{_random(source, 24)}",
    "aws id": lambda source: f"AKIA{''.join(source.choices(string.ascii_uppercase + string.digits, k=16))}",
    "github": lambda source: f"ghp_{_random(source, 36)}",
    "gitlab": lambda source: f"glpat-{_random(source, 20)}",
    "slack": lambda source: f"xoxb-{source.randint(10**10, 10**11)}-{_random(source, 24)}",
    "google": lambda source: f"AIza{_random(source, 35)}",
    "hugging face": lambda source: f"hf_{_random(source, 34)}",
    "json web token": _json_web_token,
}
_PHRASES: dict[str, tuple[str, int]] = {
    "bearer header": ("curl -H 'Authorization: Bearer {}' https://api.example/v1", 40),
    "basic header": ("The header is Authorization: Basic {}", 28),
    "key header": ("send X-Api-Key: {} with it", 32),
    "query string": ("open https://api.example/items?page=2&access_token={}&sort=up", 30),
    "address": ("connect to postgres://admin:{}@db.example:5432/main", 16),
    "environment": ("export DB_PASSWORD={}", 14),
    "json": ('the body was {{"user": "ann", "password": "{}", "tries": 3}}', 14),
    "pairs": ('headers = [["Accept", "text/plain"], ["X-Auth-Token", "{}"]]', 30),
    "sentence": ("My password is {}.", 12),
    "cookie": ("it sent Cookie: theme=dark; sid={}", 32),
}


def planted_secrets(seed: int, a_form: int) -> list[Planted]:
    """Return `a_form` sentences for each of the 20 forms."""
    source = random.Random(seed)
    found: list[Planted] = []
    for _ in range(a_form):
        for form, key in _KEYS.items():
            secret = key(source)
            found.append(Planted(form, f"Please use the key {secret} for the robot.", secret))
        for form, (phrase, length) in _PHRASES.items():
            secret = _random(source, length)
            found.append(Planted(form, phrase.format(secret), secret))
    return found
