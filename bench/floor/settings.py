"""The product's settings with the floor's one URL."""

from mrpvm.settings import *  # noqa: F403

ROOT_URLCONF = "bench.floor.urls"
LOGIN_URL = "/"
