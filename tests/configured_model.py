"""A configured language model for tests with a database: the scripted provider as the process's endpoint."""

from tests.llm.provider import Asked, Behaviour, say

ACCEPTED = '{"verdict": "accepted", "reason": ""}'


def acting(solver: Behaviour) -> Behaviour:
    """Return a provider's behaviour: the given one for solvers, acceptance for the validator."""

    def answer(asked: Asked) -> None:
        told = asked.body.get("instructions") or asked.body["messages"][0]["content"]
        is_validator = "You check answers" in told
        (say(ACCEPTED) if is_validator else solver)(asked)

    return answer
