"""The addresses below `/v1`, as OpenAI's clients call them."""

from django.urls import path, re_path

from sessions_app import addresses  # noqa: F401 (registers `id`)
from sessions_app.api.openai import conversations, models, one_response, responses
from sessions_app.api.openai.chat import OpenAIChatCompletions
from sessions_app.api.openai.views import UnknownOpenAIPath
from sessions_app.api.traces.endpoints import Traces

app_name = "openai"
_RESPONSE = "responses/<id:response_id>"
_CONVERSATION = "conversations/<id:conversation_id>"

urlpatterns = [
    path("chat/completions", OpenAIChatCompletions.as_view(), name="chat"),
    path("traces", Traces.as_view(), name="traces"),
    path("models", models.Models.as_view(), name="models"),
    path("models/<path:name>", models.OneModel.as_view(), name="model"),
    path("responses", responses.Responses.as_view(), name="responses"),
    re_path(r"^responses/(?:compact|input_tokens)$", UnknownOpenAIPath.as_view(), name="unknown"),
    path(_RESPONSE, one_response.OneResponse.as_view(), name="response"),
    path(f"{_RESPONSE}/cancel", one_response.CancelResponse.as_view(), name="cancel"),
    path(f"{_RESPONSE}/input_items", one_response.InputItems.as_view(), name="input-items"),
    path("conversations", conversations.Conversations.as_view(), name="conversations"),
    path(_CONVERSATION, conversations.OneConversation.as_view(), name="conversation"),
    path(f"{_CONVERSATION}/items", conversations.Items.as_view(), name="items"),
    path(f"{_CONVERSATION}/items/<id:item_id>", conversations.OneItem.as_view(), name="item"),
    re_path(r"", UnknownOpenAIPath.as_view(), name="unknown"),
]
