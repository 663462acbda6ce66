"""Addresses of the WebSockets."""

from django.urls import path

from sessions_app.web.consumers import SessionConsumer

websocket_urlpatterns = [path("live/sessions/<str:session_id>", SessionConsumer.as_asgi())]
