"""What the server can work with, plugins and models, and what it is measured by."""

from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm import registry
from mrpvm.contracts import Descriptor
from mrpvm.wire import to_wire
from mrpvm.wrappers.wrapper import Wrapper
from sessions_app.api.shell import schemas
from sessions_app.api.shell.requests import PluginListQuery
from sessions_app.api.shell.responses import PluginObject, WrapperObject
from sessions_app.api.shell.views import ApiView
from sessions_app.language_model import NO_MODEL, is_configured, model_names
from sessions_app.queries.settings.evaluation_sources import evaluation_sources


def descriptor_payload(descriptor: Descriptor) -> PluginObject:
    """Return a plugin's descriptor as it is spelled on the wire, and whether the plugin can be used now."""
    available = not descriptor.uses_llm or is_configured()
    return {
        "id": descriptor.id,
        "type": descriptor.type,
        "name": descriptor.name,
        "version": descriptor.version,
        "description": descriptor.description,
        "costClass": descriptor.cost_class,
        "usesLLM": descriptor.uses_llm,
        "modelRoles": list(descriptor.model_roles),
        "maxLLMCalls": descriptor.max_llm_calls,
        "tags": list(descriptor.tags),
        "timeoutMs": descriptor.timeout_ms,
        "plannerHints": to_wire(descriptor.planner_hints),
        "provides": list(descriptor.provides),
        "accepts": list(descriptor.accepts),
        "available": available,
        "unavailableReason": None if available else NO_MODEL,
    }


def wrapper_payload(wrapper: Wrapper) -> WrapperObject:
    """Return what an external program says of itself; where it lies and how it is started is the operator's."""
    manifest = wrapper.manifest
    return {
        "id": manifest.id,
        "name": manifest.name,
        "version": manifest.version,
        "description": manifest.description,
        "capabilities": list(manifest.capabilities),
        "keywords": list(manifest.keywords),
        "timeoutMs": manifest.timeout_ms,
        "priority": manifest.priority,
        "exclusive": manifest.exclusive,
        "maxInputSizeBytes": manifest.max_input_bytes,
    }


class Plugins(ApiView):
    @schemas.plugin_list
    def get(self, request: Request) -> Response:
        """List descriptors by type, then id; an unknown type gives none. Without a type, wrappers too."""
        wanted = self.parameters(PluginListQuery).get("type") or None
        listed = [descriptor_payload(item) for item in registry.installed.descriptors(wanted)]
        wrappers = [] if wanted else [wrapper_payload(item) for item in registry.installed.wrappers]
        return Response({"plugins": listed, "wrappers": wrappers})


class LanguageModels(ApiView):
    @schemas.model_list
    def get(self, request: Request) -> Response:
        """List the configured model and those of its provider; none unless one is configured."""
        names = model_names()
        models = [
            {
                "id": name,
                "provider": "configured" if place == 0 else "listed",
                "tags": ["default"] if place == 0 else [],
            }
            for place, name in enumerate(names)
        ]
        return Response({"models": models})


class EvaluationSources(ApiView):
    """The stories of the evaluation."""

    @schemas.evaluation_source_list
    def get(self, request: Request) -> Response:
        """List them by suite, with their texts: what is asked about them can be tried here."""
        return Response({"sources": evaluation_sources()})
