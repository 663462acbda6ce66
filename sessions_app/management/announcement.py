"""What the server prints when it is ready: where to go, and the first call to make."""

from django.conf import settings

from sessions_app.management.bootstrap import Bootstrapped
from sessions_app.public_address import public_address

EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 (named, not bound)


def base_url(host: str, port: int) -> str:
    """Return the address that a browser on this machine opens, or the public one in production."""
    if (public := public_address()) is not None:
        return public
    name = EVERY_ADDRESS.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}"


def announcement(started: Bootstrapped, host: str, port: int) -> str:
    """Return the block of lines that greets a newcomer."""
    url = base_url(host, port)
    link, link_line = f"{url}{started.login_url_path}", "this link works once"
    if started.login_url_path is None:
        link, link_line = f"{url}/", "the command `user NAME` prints a link that works once"
    if started.api_key:
        key, key_line = started.api_key, f"{started.api_key}  (shown this once)"
    elif started.is_given_key_revoked:
        key, key_line = "$MRPVM_API_KEY", "the one in MRPVM_API_KEY was revoked; make another under API keys"
    elif settings.MRPVM_API_KEY:
        key, key_line = "$MRPVM_API_KEY", "the one in MRPVM_API_KEY"
    else:
        key, key_line = "$MRPVM_API_KEY", "yours from the first start; make another under API keys when logged in"
    return f"""
mrpvm is ready.

  Log in     {link}
             ({link_line})
  API key    {key_line}
  Listens    {host}:{port}{", for the proxy in front of it" if settings.PRODUCTION else ""}
  Data       {_data_location()}
  Agents     "mrpvm": {{"type": "http", "url": "{url}/mcp", "headers": {{"Authorization": "Bearer {key}"}}}}
             (an entry for a coding agent's list of MCP servers)
  Stop       Ctrl-C

  Your first turn:
    curl {url}/api/chat/completions \\
      -H "Authorization: Bearer {key}" -H "Content-Type: application/json" \\
      -d '{{"messages": [{{"role": "user", "content": "My dog is called Rex."}}]}}'
"""


def _data_location() -> str:
    database = settings.DATABASES["default"]
    if database["ENGINE"] == "django.db.backends.sqlite3":
        return str(settings.MRPVM_DATA_DIR)
    return f"{settings.MRPVM_DATA_DIR}, rows in PostgreSQL ({database['NAME']} on {database['HOST'] or 'this machine'})"
