"""`/v1/models`: ours, one for each base, and the provider's."""

from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm.llm.roles import NO_PREFERENCE
from sessions_app.api.openai.objects import OpenAIModel
from sessions_app.api.openai.parameters import BASE_MODEL, base_of_model, unknown_model
from sessions_app.api.openai.views import OpenAIView
from sessions_app.language_model import model_names
from sessions_app.models import KnowledgeBase
from sessions_app.queries.knowledge.bases import knowledge_bases

_FIRST_DAY = 1_767_225_600  # 2026-01-01; providers tell no date that could be trusted


def _model(name: str, shown: str | None = None, owner: str = "mrpvm") -> OpenAIModel:
    """Return a model; `shown` is the name that clients show in place of its id."""
    return {"id": name, "name": shown or name, "object": "model", "created": _FIRST_DAY, "owned_by": owner}


def _model_of_base(name: str, base: KnowledgeBase) -> OpenAIModel:
    return _model(name, f"{NO_PREFERENCE}: {base.name}")


class Models(OpenAIView):
    """What can be named as `model`."""

    takes_chat_keys = True

    def get(self, request: Request) -> Response:
        """List `mrpvm`, which asks the default base, then the other bases and what the provider lists."""
        bases = knowledge_bases(self.project).filter(is_default=False)
        asked = [_model(NO_PREFERENCE), *(_model_of_base(f"{BASE_MODEL}{base.kb_id}", base) for base in bases)]
        of_provider = [_model(name, owner="provider") for name in model_names()]
        return Response({"object": "list", "data": [*asked, *of_provider]})


class OneModel(OpenAIView):
    takes_chat_keys = True

    def get(self, request: Request, name: str) -> Response:
        """Read it.

        Raises:
            NotFound: `model_not_found`.
        """
        if name.startswith(BASE_MODEL):
            return Response(_model_of_base(name, base_of_model(self.project, name)))
        if name != NO_PREFERENCE and name not in model_names():
            raise unknown_model(name)
        return Response(_model(name, owner="mrpvm" if name == NO_PREFERENCE else "provider"))
