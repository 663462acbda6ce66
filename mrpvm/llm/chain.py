"""The provider's own thread of answers: each request names the response that it follows [H6, H8].

An accelerator and nothing else: the whole bounded conversation is sent all the same.
"""

from dataclasses import dataclass


@dataclass(slots=True)
class Chain:
    """One turn's place in the provider's thread.

    `previous_id` is the response that the turn's requests follow, None at the thread's beginning; `response_id` is that
    of the turn's latest answer. `is_broken`: the provider did not know the response, so the request went out without.
    """

    previous_id: str | None = None
    response_id: str | None = None
    is_broken: bool = False

    def answered(self, response_id: str | None) -> None:
        """Note an answer; one without an id leaves the thread where it was [HV18]."""
        self.response_id = response_id or self.response_id

    def broke(self) -> None:
        """Note that the provider refused the response that was named."""
        self.previous_id, self.is_broken = None, True

    @property
    def next_id(self) -> str | None:
        """Return the response that the next turn's requests follow."""
        return self.response_id or self.previous_id
