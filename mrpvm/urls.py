"""Every address of the server: the API and its OpenAI dialect, the probes, the admin and the pages."""

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import include, path
from django.views import defaults

from sessions_app.actions.settings.api_keys import bearer_token
from sessions_app.api.metrics import metrics
from sessions_app.api.openai.errors import openai_error
from sessions_app.api.shell.errors import bad_request_body, error_body
from sessions_app.api.shell.health import health, ready
from sessions_app.web.shell import failures


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 400 as the address's clients read errors: the API, its OpenAI dialect, or a page."""
    if request.path.startswith("/api/"):
        return JsonResponse(bad_request_body(request, exception), status=400)
    if request.path.startswith("/v1/"):
        return JsonResponse(openai_error(bad_request_body(request, exception)), status=400)
    return failures.bad_request(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 404: to the holder of a key, who reads no pages, with the addresses of the APIs."""
    if bearer_token(request.headers.get("Authorization", "")) is None:
        return defaults.page_not_found(request, exception)
    message = f"There is no {request.path} here: the API is below /api, that for clients of OpenAI's API below /v1."
    return JsonResponse(error_body("NOT_FOUND", message), status=404)


handler400 = bad_request
handler403 = "sessions_app.admin.shell.denied.denied"
handler404 = not_found
handler500 = "sessions_app.web.shell.failures.server_error"
urlpatterns = [
    path("health", health, name="health"),
    path("ready", ready, name="ready"),
    path("metrics", metrics, name="metrics"),
    path("api/", include("sessions_app.api.urls")),
    path("v1/", include("sessions_app.api.openai.urls")),
    path("admin/", admin.site.urls),
    path("", include("sessions_app.web.urls")),
]
