"""The server in production settings behind Debian's nginx, with the configuration of deploy/."""

import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx2 as httpx
import pytest
from websockets.sync.client import connect

from tests.server import ROOT, ServerProcess
from tests.services.node import KEY, kinds_until
from tests.services.own_servers import free_port, wait_for
from tests.web.test_raw_requests import UNCLEAR

pytestmark = pytest.mark.services

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The proxy's addresses with and without TLS, the certificate to trust, and a one-time login link."""

    url: str
    plain_url: str
    trust: ssl.SSLContext
    login_path: str

    def client(self, **headers: str) -> httpx.Client:
        """Return a client that trusts the certificate."""
        return httpx.Client(base_url=self.url, headers=headers, verify=self.trust, timeout=60)

    def api(self) -> httpx.Client:
        """Return a client with the API key."""
        return self.client(Authorization=f"Bearer {KEY}")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Return the running pair of nginx and server."""
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx is None:
        pytest.skip("nginx is not installed")
    place = tmp_path_factory.mktemp("site")
    place.chmod(0o755)
    make_certificate(place)
    data = place / "data"
    data.mkdir()
    production = {"MRPVM_ENV": "production", "ALLOWED_HOSTS": "localhost", "SECRET_KEY": "proxied-" + "x" * 60}
    production["MRPVM_LOGINS_PER_MINUTE"] = "1"
    with ServerProcess(data, MRPVM_API_KEY=KEY, **production) as server:
        ports = free_port(), free_port()
        configured = place / "nginx.conf"
        configured.write_text(configuration(place, urlsplit(server.url).netloc, *ports))
        process = subprocess.Popen([nginx, "-c", str(configured), "-p", str(place), "-e", "stderr"])
        wait_for(ports[0], "nginx")
        yield Site(
            url=f"https://localhost:{ports[0]}",
            plain_url=f"http://localhost:{ports[1]}",
            trust=ssl.create_default_context(cafile=str(place / "mrpvm.crt")),
            login_path=urlsplit(server.login_link).path,
        )
        process.terminate()
        process.wait(20)


def make_certificate(place: Path) -> None:
    """Create a key and a self-signed certificate for localhost."""
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
            "-keyout", place / "mrpvm.key", "-out", place / "mrpvm.crt",
        ],
        check=True,
        capture_output=True,
    )  # fmt: skip


def configuration(place: Path, upstream: str, port: int, plain_port: int) -> str:
    """Return the configuration of deploy/ with the test's names and ports, as a complete file for nginx."""
    shipped = (ROOT / "deploy/nginx.conf").read_text()
    for written, own in (
        ("server 127.0.0.1:8000;", f"server {upstream};"),
        ("listen 80;", f"listen 127.0.0.1:{plain_port};"),
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("mrpvm.example", "localhost"),
        ("/etc/ssl/mrpvm", str(place / "mrpvm")),
    ):
        assert written in shipped
        shipped = shipped.replace(written, own)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{kind}_temp_path {place}/{kind};\n" for kind in kinds)
    user = "user root;\n" if os.getuid() == 0 else ""  # which may write to the test's directory
    return (
        f"{user}daemon off;\npid {place}/nginx.pid;\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}{shipped}\n}}\n"
    )


@pytest.fixture(scope="module")
def browser(site: Site) -> Iterator[httpx.Client]:
    """Return a browser that has logged in by the printed link."""
    with site.client() as client:
        asked = client.get(site.login_path, follow_redirects=True)
        assert asked.is_success, asked.text
        yield client


@pytest.mark.parametrize("host", ["localhost", "elsewhere.example"])
def test_plain_http_is_sent_to_https_by_the_proxy(site: Site, host: str) -> None:
    answer = httpx.get(f"{site.plain_url}/sessions?q=a", headers={"Host": host}, timeout=30)
    assert (answer.status_code, answer.headers["Location"]) == (301, "https://localhost/sessions?q=a")


def test_pages_come_over_http_with_secure_cookies(site: Site, browser: httpx.Client) -> None:
    page = browser.get("/")
    assert page.status_code == 200
    assert page.headers["Strict-Transport-Security"]
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert page.headers["Content-Encoding"] == "gzip"
    assert {"no-store", "private"} <= set(page.headers["Cache-Control"].split(", "))
    assert {cookie.name for cookie in browser.cookies.jar if cookie.secure} >= {"mrpvm_session", "mrpvm_csrf"}


def test_a_form_is_taken_from_the_proxys_own_address_alone(site: Site, browser: httpx.Client) -> None:
    token = browser.cookies["mrpvm_csrf"]
    made = {
        origin: browser.post(
            "/api/sessions", json={"title": origin}, headers={"X-CSRFToken": token, "Origin": origin, "Referer": origin}
        ).status_code
        for origin in (site.url, "https://elsewhere.example")
    }
    assert made == {site.url: 201, "https://elsewhere.example": 403}


def test_a_page_is_told_of_a_turn_by_its_socket(site: Site, browser: httpx.Client) -> None:
    with site.api() as api:
        session_id = api.post("/api/sessions", json={}).json()["session_id"]
        cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        address = f"{site.url.replace('https', 'wss', 1)}/live/sessions/{session_id}?since=0"
        headers = {"Cookie": cookie, "Origin": site.url}
        with connect(address, additional_headers=headers, ssl=site.trust) as live:
            told = {"session_id": session_id, "messages": [{"role": "user", "content": "My dog is called Rex."}]}
            assert api.post("/api/chat/completions", json=told).status_code == 200
            assert "turn.committed" in [kind for _, kind in kinds_until(live, "units.promoted")]


def test_a_stream_passes_unbuffered(site: Site) -> None:
    """The first events arrive before the rest is sent; a buffer would delay them until it is full."""
    with site.api() as api:
        told = {"messages": [{"role": "user", "content": "My dog is called Rex."}], "stream": True}
        with api.stream("POST", "/api/chat/completions", json=told) as answer:
            assert answer.headers["Content-Type"].startswith("text/event-stream")
            assert "Content-Encoding" not in answer.headers
            pieces = list(answer.iter_raw())
    assert pieces[0].startswith(b"event: progress")
    assert b"event: response.meta" not in pieces[0]
    assert b"event: response.completed" in b"".join(pieces)


def test_an_upload_passes_and_the_servers_own_limit_answers(site: Site) -> None:
    line = b"The pump of hall %d is painted blue and stands beside the door.\n\n"
    with site.api() as api:
        text = b"".join(line % number for number in range(30_000))
        assert len(text) > MIB
        taken = api.post("/api/kbs/default/sources", files={"file": ("pumps.txt", text)})
        assert taken.json().get("error", {}).get("code") != "BODY_TOO_LARGE"
        refused = api.post("/api/kbs/default/sources", files={"file": ("large.txt", b"x" * (21 * MIB))})
    assert (refused.status_code, refused.json()["error"]["code"]) == (413, "BODY_TOO_LARGE")


def test_a_tag_that_the_proxy_weakened_still_says_unchanged(site: Site) -> None:
    with site.api() as api:
        told = {"messages": [{"role": "user", "content": "My cat is called Tom."}]}
        turn = api.post("/api/chat/completions", json=told).json()
        address = f"/api/sessions/{turn['session_id']}/turns/{turn['request_id']}"
        whole = api.get(address)
        assert (whole.headers["Content-Encoding"], whole.headers["ETag"][:2]) == ("gzip", "W/")
        assert api.get(address, headers={"If-None-Match": whole.headers["ETag"]}).status_code == 304


def test_a_caller_cannot_pretend_to_come_from_elsewhere(site: Site) -> None:
    """Logins are counted by address; a forged address in a header must not start a new count."""
    with site.client() as client:
        form = client.get("/login")
        token = client.cookies["mrpvm_csrf"]
        headers = {"Referer": site.url, "X-CSRFToken": token}
        tried = [
            client.post(
                "/login",
                data={"username": "admin", "password": "wrong"},
                headers=headers | {"X-Forwarded-For": f"10.0.0.{number}"},
            ).status_code
            for number in range(3)
        ]
    assert form.is_success
    assert 429 in tried


@pytest.mark.parametrize("name", UNCLEAR)
def test_no_request_is_smuggled_past_the_proxy(site: Site, name: str) -> None:
    """Whatever the proxy does with it, later requests over the same connections get their own answers."""
    headers, body = UNCLEAR[name]
    head = f"POST /api/sessions HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n"
    smuggled = "GET /api/health HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: smuggled\r\n\r\n"
    address = urlsplit(site.url)
    with (
        socket.create_connection((address.hostname, address.port), 10) as plain,
        site.trust.wrap_socket(plain, server_hostname="localhost") as connection,
    ):
        connection.sendall(f"{head}{body}{smuggled}".encode())
        assert b"HTTP/1.1 " in connection.recv(4_096)
        with site.client() as other:
            for number in range(8):  # more connections to the server than nginx could have left open
                answer = other.get("/api/health", headers={"X-Request-Id": f"own-{number}"})
                assert (answer.status_code, answer.headers["X-Request-Id"]) == (200, f"own-{number}")


@pytest.mark.parametrize("target", ["/login", "https://elsewhere.example/login"])
def test_another_name_gets_no_page(site: Site, target: str) -> None:
    """Links in answers contain the requested host, so only the server's own is accepted."""
    address = urlsplit(site.url)
    with (
        socket.create_connection((address.hostname, address.port), 10) as plain,
        site.trust.wrap_socket(plain, server_hostname="localhost") as connection,
    ):
        connection.sendall(f"GET {target} HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n".encode())
        assert connection.recv(4_096).startswith(b"HTTP/1.1 400 ")


def test_metrics_are_not_for_the_proxys_clients(site: Site) -> None:
    with site.api() as api:
        assert api.get("/metrics").status_code == 404
