"""`python -m bench.table.bare`: one synchronous Django view without middleware, on the product's kind of server."""

import socket

import uvicorn
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.http import HttpRequest, JsonResponse
from django.urls import path


def bare(request: HttpRequest) -> JsonResponse:
    """Return a small JSON."""
    return JsonResponse({"status": "ok"})


urlpatterns = [path("bare", bare)]


def main() -> None:
    """Serve on a free port of loopback, and print the port."""
    settings.configure(ROOT_URLCONF="bench.table.bare", ALLOWED_HOSTS=["127.0.0.1"], SECRET_KEY="bare", USE_I18N=False)
    application = get_asgi_application()
    bound = socket.create_server(("127.0.0.1", 0))
    print(f"127.0.0.1:{bound.getsockname()[1]}", flush=True)
    config = uvicorn.Config(application, lifespan="off", log_config=None, access_log=False, server_header=False)
    uvicorn.Server(config).run(sockets=[bound])


if __name__ == "__main__":
    main()
