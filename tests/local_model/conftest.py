"""The product with the small local model, as `make model` and `make run` install it."""

from collections.abc import Iterator

import pytest
from openai import OpenAI

from tests.server import ServerProcess


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark every test of this folder."""
    item.add_marker(pytest.mark.model)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """Return a server whose validators check the model's answers."""
    with ServerProcess(tmp_path_factory.mktemp("data"), MRPVM_LOCAL_MODEL="1") as server:
        yield server


@pytest.fixture(scope="module")
def streaming(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """Return a server that streams the model's text unchecked."""
    variables = {"MRPVM_DISABLED_PLUGINS": "val-constraints,val-llm"}
    with ServerProcess(tmp_path_factory.mktemp("data"), MRPVM_LOCAL_MODEL="1", **variables) as server:
        yield server


def client_of(server: ServerProcess) -> OpenAI:
    """Return the SDK's client for a server."""
    return OpenAI(base_url=f"{server.url}/v1", api_key=server.api_key, timeout=120, max_retries=0)
