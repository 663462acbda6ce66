"""The objects of OpenAI's API, as this server sends them; fields of our own come last."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from sessions_app.api.turns.responses import UsageObject


class InputText(TypedDict):
    """What a client said, as a part of an item."""

    type: Literal["input_text"]
    text: str


class OutputText(TypedDict):
    """What was answered, as a part of an item."""

    type: Literal["output_text"]
    text: str
    annotations: list[object]
    logprobs: list[object]


class MessageItem(TypedDict):
    """A message of a conversation, or the output of a response."""

    id: str
    type: Literal["message"]
    role: str
    status: str
    content: Sequence[InputText | OutputText]


class CachedTokens(TypedDict):
    """Of the tokens of the input."""

    cached_tokens: int
    cache_write_tokens: int


class ReasoningTokens(TypedDict):
    """Of the tokens of the output."""

    reasoning_tokens: int


class ResponseUsage(TypedDict):
    """The tokens of a response; `estimated` where the provider told none."""

    input_tokens: int
    input_tokens_details: CachedTokens
    output_tokens: int
    output_tokens_details: ReasoningTokens
    total_tokens: int
    estimated: NotRequired[bool]


class ResponseError(TypedDict):
    """Why a response failed."""

    code: str
    message: str


class IncompleteDetails(TypedDict):
    """Why a response ended early."""

    reason: str


class NamedConversation(TypedDict):
    """The conversation that a response belongs to."""

    id: str


class TextFormat(TypedDict):
    """How the text of a response is formatted."""

    format: Mapping[str, str]


class ResponseObject(TypedDict):
    """A turn as a response."""

    id: str
    object: Literal["response"]
    created_at: int
    completed_at: int | None
    status: str
    background: bool
    error: ResponseError | None
    incomplete_details: IncompleteDetails | None
    instructions: str | None
    max_output_tokens: int | None
    model: str
    output: list[MessageItem]
    parallel_tool_calls: bool
    previous_response_id: str | None
    conversation: NamedConversation
    store: bool
    temperature: float | None
    text: TextFormat
    tool_choice: str
    tools: list[object]
    top_p: float | None
    truncation: str
    usage: ResponseUsage | None
    user: str | None
    metadata: Mapping[str, str]
    session_id: str
    request_id: str
    answer_basis: str | None
    warnings: list[str]


class ConversationObject(TypedDict):
    """A session as a conversation."""

    id: str
    object: Literal["conversation"]
    created_at: int
    metadata: Mapping[str, str]
    session_id: str


class OpenAIModel(TypedDict):
    """What can be named as `model`; clients that know `name` show it in place of the id."""

    id: str
    name: str
    object: Literal["model"]
    created: int
    owned_by: str


class ListObject(TypedDict):
    """A page of the items of a conversation or a response."""

    object: Literal["list"]
    data: Sequence[MessageItem]
    first_id: str | None
    last_id: str | None
    has_more: bool


class Beside(TypedDict):
    """What is beside OpenAI's own fields: where the answer can be explained, and what had no effect."""

    session_id: str
    request_id: str
    warnings: list[str]


class ChatCompletionMessage(TypedDict):
    """The answer of a chat completion."""

    role: Literal["assistant"]
    content: str
    refusal: str | None
    annotations: list[object]


class ChatCompletionChoice(TypedDict):
    """The one choice of a chat completion."""

    index: int
    message: ChatCompletionMessage
    logprobs: None
    finish_reason: str


class CompletionObject(Beside):
    """A turn as a chat completion."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[ChatCompletionChoice]
    usage: UsageObject
    service_tier: str | None
    system_fingerprint: str | None
    answer_basis: str | None


class Delta(TypedDict, total=False):
    """What a chunk adds to the answer."""

    role: Literal["assistant"]
    content: str


class ChunkChoice(TypedDict):
    """The one choice of a chunk."""

    index: int
    delta: Delta
    logprobs: None
    finish_reason: str | None


class ChunkObject(TypedDict):
    """A chunk of a streamed chat completion."""

    id: str
    object: Literal["chat.completion.chunk"]
    created: int
    model: str
    choices: list[ChunkChoice]


class OpenAIError(TypedDict):
    """What went wrong; `details` holds what OpenAI's shape has no place for."""

    message: str
    type: str
    param: str | None
    code: str
    details: Mapping[str, Any]
    request_id: str | None
    session_id: str | None


class OpenAIErrorResponse(TypedDict):
    """The body of a refusal."""

    error: OpenAIError
