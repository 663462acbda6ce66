"""The provider's own thread of answers: each request names the response that it follows.

An accelerator and nothing else: the whole bounded conversation is sent anyway. The provider's ids are never
stored: stand-ins, equal for equal ids, take their place in what is.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FOLLOWED = "previous_response_id"
"""The field of a request's body that names the response which it follows."""
_STAND_IN_CHARS = 12


def stand_in(response_id: str) -> str:
    """Return what is in stored data for a response id of the provider's."""
    return f"response-{hashlib.sha256(response_id.encode()).hexdigest()[:_STAND_IN_CHARS]}"


def storable_body(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a request's body with a stand-in for the response that it follows."""
    return {**body, FOLLOWED: stand_in(body[FOLLOWED])} if body.get(FOLLOWED) else body


@dataclass(slots=True)
class ProviderThread:
    """One turn's place in the provider's thread.

    `previous_id` is the response that the turn's requests follow, None at the thread's beginning; `response_id` is that
    of the turn's latest answer. `lost_id` is a response that the provider did not know, so that the request went out
    without.
    """

    previous_id: str | None = None
    response_id: str | None = None
    lost_id: str | None = None

    def answered(self, response_id: str | None) -> None:
        """Note an answer; one without an id leaves the thread where it was."""
        self.response_id = response_id or self.response_id

    def broke(self) -> None:
        """Note that the provider refused the response that was named."""
        self.previous_id, self.lost_id = None, self.previous_id

    @property
    def is_broken(self) -> bool:
        """Return whether the provider did not know the response that was named."""
        return self.lost_id is not None

    @property
    def next_id(self) -> str | None:
        """Return the response that the next turn's requests follow."""
        return self.response_id or self.previous_id
