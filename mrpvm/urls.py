"""Every address of the server: the API and its OpenAI dialect, the probes, the admin and the pages."""

from django.contrib import admin
from django.urls import include, path

from sessions_app.api.metrics import metrics
from sessions_app.api.shell.health import health, ready

handler400 = "sessions_app.web.shell.failures.bad_request"
handler403 = "sessions_app.admin.shell.denied.denied"
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
