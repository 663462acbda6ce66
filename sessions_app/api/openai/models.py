"""`/v1/models`: ours and the provider's."""

from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm.llm.roles import NO_PREFERENCE
from sessions_app.api.openai.objects import OpenAIModel
from sessions_app.api.openai.parameters import unknown_model
from sessions_app.api.openai.views import OpenAIView
from sessions_app.language_model import model_names

_FIRST_DAY = 1_767_225_600  # 2026-01-01; providers tell no date that could be trusted


def _model(name: str) -> OpenAIModel:
    owner = "mrpvm" if name == NO_PREFERENCE else "provider"
    return {"id": name, "object": "model", "created": _FIRST_DAY, "owned_by": owner}


class Models(OpenAIView):
    """What can be named as `model`."""

    takes_chat_keys = True

    def get(self, request: Request) -> Response:
        """List `mrpvm`, then what the provider lists."""
        return Response({"object": "list", "data": [_model(name) for name in (NO_PREFERENCE, *model_names())]})


class OneModel(OpenAIView):
    takes_chat_keys = True

    def get(self, request: Request, name: str) -> Response:
        """Read it.

        Raises:
            NotFound: `model_not_found`.
        """
        if name != NO_PREFERENCE and name not in model_names():
            raise unknown_model(name)
        return Response(_model(name))
