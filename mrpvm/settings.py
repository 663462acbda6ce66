"""Django's settings, all from environment variables with working defaults (docs/settings.md).

A variable that cannot be used is noted in ENVIRONMENT_PROBLEMS and stops the start with one line each
(sessions_app/checks.py). Each limit is one line here and may be set by a variable of the same name, unless it
stands under "Limits that no variable changes".
"""

import os
import re
from pathlib import Path
from typing import Any

import platformdirs
from django.utils.csp import CSP

from sessions_app.environment import Environment

# templates/, static/, skills/ and the like: inside the package where it is installed, else beside manage.py.
_INSIDE_PACKAGE = Path(__file__).resolve().parent / "shipped"
INSTALLED = _INSIDE_PACKAGE.is_dir()
BASE_DIR = _INSIDE_PACKAGE if INSTALLED else Path(__file__).resolve().parent.parent
ENVIRONMENT = Environment(os.environ)
ENVIRONMENT_PROBLEMS = ENVIRONMENT.problems
MRPVM_VERSION = "0.1.0"
PRODUCTION = ENVIRONMENT.choice("MRPVM_ENV", ("development", "production")) == "production"

# --- Where the server listens and keeps its data --------------------------------------------------------

HOST = ENVIRONMENT.text("HOST") or "127.0.0.1"
PORT = ENVIRONMENT.whole_number("PORT", 8000, highest=65535)  # 0 takes any free port
MRPVM_DATA_DIR = ENVIRONMENT.data_directory(
    "MRPVM_DATA_DIR", BASE_DIR / "var" if not INSTALLED else platformdirs.user_data_path("mrpvm", appauthor=False)
)
MRPVM_SHIPPED_DIR = BASE_DIR  # skills/, personas/ and agents/ that come with the server
MRPVM_WORKER_COUNT = ENVIRONMENT.whole_number("WEB_CONCURRENCY", 1, lowest=1)
MRPVM_DEMO = ENVIRONMENT.flag("MRPVM_DEMO", default=True)  # load the demo on the first start
MRPVM_METRICS = ENVIRONMENT.choice("MRPVM_METRICS", ("off", "key", "open"))  # who may read /metrics
MRPVM_LOG_FORMAT = ENVIRONMENT.choice("MRPVM_LOG_FORMAT", ("auto", "plain", "json"))  # auto: JSON in production
OTEL_SERVICE_NAME = ENVIRONMENT.text("OTEL_SERVICE_NAME") or "mrpvm"
# Where turns are sent as traces; how is for the SDK to read (OTEL_EXPORTER_OTLP_*, OTEL_BSP_*).
_COLLECTORS = [
    ENVIRONMENT.web_address("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
    ENVIRONMENT.web_address("OTEL_EXPORTER_OTLP_ENDPOINT"),
]
MRPVM_TRACES_OUT = any(_COLLECTORS) and not ENVIRONMENT.flag("OTEL_SDK_DISABLED", default=False)
MRPVM_TRACES_CONTENT = ENVIRONMENT.flag("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", default=False)
MRPVM_API_KEY = ENVIRONMENT.text("MRPVM_API_KEY")  # used instead of a generated key, never printed
if MRPVM_API_KEY and not re.fullmatch(r"mrp_[!-~]{32,}", MRPVM_API_KEY):
    ENVIRONMENT.refuse("MRPVM_API_KEY", "mrp_ and 32 or more characters that a header can hold", secret=True)  #

# --- Limits of a turn -----------------------------------------------------------------------------------

MRPVM_REQUEST_TIMEOUT_MS = ENVIRONMENT.whole_number("MRPVM_REQUEST_TIMEOUT_MS", 60_000, lowest=1)  #
MRPVM_PLUGIN_TIMEOUT_MS = ENVIRONMENT.whole_number("MRPVM_PLUGIN_TIMEOUT_MS", 30_000, lowest=1)  #
MRPVM_LEASE_EXTRA_MS = ENVIRONMENT.whole_number("MRPVM_LEASE_EXTRA_MS", 10_000)  # beyond the timeout
MRPVM_MAX_WAIT_MS = ENVIRONMENT.whole_number("MRPVM_MAX_WAIT_MS", 60_000)  # for a busy session
MRPVM_HEARTBEAT_MS = ENVIRONMENT.whole_number("MRPVM_HEARTBEAT_MS", 10_000, lowest=1)  # of pages' sockets
MRPVM_SHUTDOWN_GRACE_MS = ENVIRONMENT.whole_number("MRPVM_SHUTDOWN_GRACE_MS", 1_500)  #
MRPVM_TRACE_FLUSH_MS = ENVIRONMENT.whole_number("MRPVM_TRACE_FLUSH_MS", 100, lowest=1)  #
MRPVM_MAX_RUNNING_TURNS = ENVIRONMENT.whole_number("MRPVM_MAX_RUNNING_TURNS", 16, lowest=1)  # in one process
MRPVM_MAX_LLM_CALLS = ENVIRONMENT.whole_number("MRPVM_MAX_LLM_CALLS", 5)  #
MRPVM_MAX_PLUGINS_PER_STAGE = ENVIRONMENT.whole_number("MRPVM_MAX_PLUGINS_PER_STAGE", 4, lowest=1)  #
MRPVM_MAX_FRAME_DEPTH = ENVIRONMENT.whole_number("MRPVM_MAX_FRAME_DEPTH", 3)  #
MRPVM_COMPARISON = ENVIRONMENT.flag("MRPVM_COMPARISON", default=True)  # off: every level acts as 0
MRPVM_LEARN = ENVIRONMENT.flag("MRPVM_LEARN", default=True)  # off: planners' statistics are frozen
MRPVM_LEARN_DELAY_MS = ENVIRONMENT.whole_number("MRPVM_LEARN_DELAY_MS", 5_000)
MRPVM_MAX_PARALLEL_SEEDS = ENVIRONMENT.whole_number("MRPVM_MAX_PARALLEL_SEEDS", 4, lowest=1)  #

# --- Limits of messages, sessions and what is kept -------------------------------------------------------

MRPVM_MAX_MESSAGE_CHARS = ENVIRONMENT.whole_number("MRPVM_MAX_MESSAGE_CHARS", 8_000, lowest=1)  #
MRPVM_HISTORY_MAX_TURNS = ENVIRONMENT.whole_number("MRPVM_HISTORY_MAX_TURNS", 10, lowest=1, highest=500)  #
MRPVM_MAX_HISTORY_CHARS = ENVIRONMENT.whole_number("MRPVM_MAX_HISTORY_CHARS", 16_000)  #
MRPVM_HISTORY_SUMMARIZATION = ENVIRONMENT.flag("MRPVM_HISTORY_SUMMARIZATION", default=True)  #
MRPVM_VERBATIM_MAX_TURNS = ENVIRONMENT.whole_number("MRPVM_VERBATIM_MAX_TURNS", 4, lowest=1, highest=500)  #
MRPVM_VERBATIM_MAX_TOKENS = ENVIRONMENT.whole_number("MRPVM_VERBATIM_MAX_TOKENS", 800, lowest=100, highest=100_000)
MRPVM_SUMMARY_MAX_TOKENS = ENVIRONMENT.whole_number("MRPVM_SUMMARY_MAX_TOKENS", 200, lowest=50, highest=10_000)
MRPVM_QUOTES = ENVIRONMENT.flag("MRPVM_QUOTES", default=True)
MRPVM_SKILL_SELECTION = ENVIRONMENT.flag("MRPVM_SKILL_SELECTION", default=False)  #
MRPVM_QUERY_REWRITING = ENVIRONMENT.flag("MRPVM_QUERY_REWRITING", default=True)  #
MRPVM_SESSION_MEMORY = ENVIRONMENT.flag("MRPVM_SESSION_MEMORY", default=True)  #
MRPVM_SESSION_MEMORY_TTL_HOURS = ENVIRONMENT.whole_number("MRPVM_SESSION_MEMORY_TTL_HOURS", 4, highest=8_760)  #
MRPVM_DOCUMENT_BIAS = ENVIRONMENT.choice("MRPVM_DOCUMENT_BIAS", ("follow-ups", "off", "always"))  #
MRPVM_GUIDANCE_PROMOTION = ENVIRONMENT.choice("MRPVM_GUIDANCE_PROMOTION", ("session-wide", "all"))  #
MRPVM_MAX_SESSIONS = ENVIRONMENT.limit_or_none("MRPVM_MAX_SESSIONS")  # off by default
MRPVM_SESSION_IDLE_TTL_MINUTES = ENVIRONMENT.limit_or_none("MRPVM_SESSION_IDLE_TTL_MINUTES")  # off
MRPVM_KEEP_EXPIRED_DAYS = ENVIRONMENT.whole_number("MRPVM_KEEP_EXPIRED_DAYS", 0, highest=36_500)  # 0: for ever
MRPVM_SWEEP_INTERVAL_MS = ENVIRONMENT.whole_number("MRPVM_SWEEP_INTERVAL_MS", 60_000, lowest=1)  #
MRPVM_SEARCHED_ROWS = ENVIRONMENT.whole_number("MRPVM_SEARCHED_ROWS", 5_000, lowest=1)  # of a list with a filter
MRPVM_READ_APART_BYTES = ENVIRONMENT.whole_number("MRPVM_READ_APART_BYTES", 32_768)  # in a process of its own
MRPVM_UNITS_AT_ONCE = ENVIRONMENT.whole_number("MRPVM_UNITS_AT_ONCE", 200)  # a larger change is made in many steps
MRPVM_UNITS_A_TRANSACTION = ENVIRONMENT.whole_number("MRPVM_UNITS_A_TRANSACTION", 50, lowest=1)  # of those steps
MRPVM_MAX_SESSION_UNITS = ENVIRONMENT.whole_number("MRPVM_MAX_SESSION_UNITS", 10_000, lowest=1)  #
MRPVM_MAX_EXPLAINABILITY_ENTRIES = ENVIRONMENT.whole_number("MRPVM_MAX_EXPLAINABILITY_ENTRIES", 1_000, lowest=1)  #
MRPVM_DAILY_COPIES = ENVIRONMENT.whole_number("MRPVM_DAILY_COPIES", 7, highest=366)  # of SQLite's database; 0 is off
MRPVM_KEEP_PAYLOADS_DAYS = ENVIRONMENT.whole_number("MRPVM_KEEP_PAYLOADS_DAYS", 0, highest=36_500)  # 0 is for ever
MRPVM_KEEP_TRIALS_DAYS = ENVIRONMENT.whole_number("MRPVM_KEEP_TRIALS_DAYS", 30, highest=36_500)  # 0 is for ever
MRPVM_KEEP_AUDIT_DAYS = ENVIRONMENT.whole_number("MRPVM_KEEP_AUDIT_DAYS", 0, highest=36_500)  # 0 is for ever
MRPVM_REQUIRE_TESTS = ENVIRONMENT.flag("MRPVM_REQUIRE_TESTS", default=False)  # before saves and restores
MRPVM_TRIAL_BUDGET = ENVIRONMENT.whole_number("MRPVM_TRIAL_BUDGET", 200_000)  # tokens
MRPVM_MAX_RUNNING_EXPERIMENTS = ENVIRONMENT.whole_number("MRPVM_MAX_RUNNING_EXPERIMENTS", 2, lowest=1)  # a process
MRPVM_INLINE_DETAIL_BYTES = ENVIRONMENT.whole_number("MRPVM_INLINE_DETAIL_BYTES", 65_536, lowest=1)  #
MRPVM_MAX_DETAIL_BYTES = ENVIRONMENT.whole_number("MRPVM_MAX_DETAIL_BYTES", 8_388_608, lowest=1)  #

# --- Limits of requests and sources ---------------------------------------------------------------------

MRPVM_MAX_BODY_BYTES = ENVIRONMENT.whole_number("MRPVM_MAX_BODY_BYTES", 2_097_152, lowest=1)  #
MRPVM_CLIENT_TIMEOUT_MS = ENVIRONMENT.whole_number("MRPVM_CLIENT_TIMEOUT_MS", 60_000, lowest=1, highest=2**31 - 1)
# Bytes a second: a body that comes faster, and an answer that is read faster, if not at first, are never too slow.
CLIENT_LOWEST_RATE = 1_000
MRPVM_MAX_UPLOAD_BYTES = ENVIRONMENT.whole_number("MRPVM_MAX_UPLOAD_BYTES", 20_971_520, lowest=1)  #
MRPVM_MAX_SOURCE_CHUNKS = ENVIRONMENT.whole_number("MRPVM_MAX_SOURCE_CHUNKS", 5_000, lowest=1)  #
MRPVM_MAX_SOURCE_UNITS = ENVIRONMENT.whole_number("MRPVM_MAX_SOURCE_UNITS", 20_000, lowest=1)  #
MRPVM_MAX_BASE_UNITS = ENVIRONMENT.whole_number("MRPVM_MAX_BASE_UNITS", 2_000_000, lowest=1)  #
MRPVM_MAX_BASE_SOURCES = ENVIRONMENT.whole_number("MRPVM_MAX_BASE_SOURCES", 500, lowest=1)  #
MRPVM_MAX_BASE_TEXT_BYTES = ENVIRONMENT.whole_number("MRPVM_MAX_BASE_TEXT_BYTES", 1_073_741_824, lowest=1)  #
MRPVM_MAX_BUNDLE_BYTES = ENVIRONMENT.whole_number("MRPVM_MAX_BUNDLE_BYTES", 134_217_728, lowest=1)
MRPVM_INGEST_TIMEOUT_MS = ENVIRONMENT.whole_number("MRPVM_INGEST_TIMEOUT_MS", 300_000, lowest=1)  #
MRPVM_LOGINS_PER_MINUTE = ENVIRONMENT.whole_number("MRPVM_LOGINS_PER_MINUTE", 10)  # 0 is off
MRPVM_CHATS_PER_MINUTE = ENVIRONMENT.whole_number("MRPVM_CHATS_PER_MINUTE", 600)  # 0 is off

# --- Limits that no variable changes ---------------------------------------------------------------

MRPVM_SESSIONS_SHOWN = 25  # rows that a page or field shows before "more"
MRPVM_BASES_SHOWN = 100
MRPVM_BASES_OFFERED = 200
MRPVM_SOURCES_SHOWN = 200
MRPVM_BASE_SESSIONS_SHOWN = 20  # sessions that mount the base, on its page
MRPVM_USES_SHOWN = 30  # turns that a unit was used in
MRPVM_FORKS_NAMED = 20  # of a base, by name
MRPVM_FORKS_SHOWN = 8  # in the picture of its lineage
MRPVM_DOTS_SHOWN = 12  # revisions of each base there
MRPVM_GENERATIONS_SHOWN = 4
MRPVM_SESSIONS_LOOKED_AT = 200  # those that mount a base, for where a unit was used
MRPVM_UNITS_COMPARED = 200  # on the page that compares two turns
MRPVM_RUNS_SHOWN = 200
MRPVM_RUNS_SHOWN_WHOLE = 60  # up to so many rows, equal ones are listed too
MRPVM_PAYLOADS_COMPARED = 400
MRPVM_ROWS_COUNTED = 1_000  # of a table, on the admin's index
MRPVM_ROWS_A_PIECE = 500  # of a file that is streamed
MRPVM_MCP_PAGE_CHARS = 16_000
MRPVM_KEY_CACHE_SECONDS = 1.0  # an API key that another process revokes works that much longer
MRPVM_ACCESS_SECONDS = 1.0  # between two looks whether the reader of a stream or socket may still read
MRPVM_PING_SECONDS = 15.0  # of silence, before a comment shows proxies that the stream lives
MRPVM_STREAM_POLL_SECONDS = 0.5
MRPVM_PROGRESS_SECONDS = 0.1  # between two events of a streamed upload
MRPVM_LOADING_EVENT_SECONDS = 0.5  # between two events of a source that a turn loads
MRPVM_MAX_DELIVERIES = 1_000  # to the channel layer at once; beyond, pages read the rows at their next heartbeat
MRPVM_DELIVERY_SECONDS = 5
MRPVM_REJOIN_PAUSE_SECONDS = 1  # after the first failure of the channel layer
MRPVM_MAX_INVITATIONS = 100  # open ones of a project
MRPVM_MAX_PLUGIN_FAILURES = 1_000  # kept, the newest
MRPVM_MAX_PAGES_MEASURED = 2_000_000  # SQLite's `dbstat` reads every page: a larger file (8 GB) is estimated
MRPVM_MAX_SPANS_A_REQUEST = 10_000
MRPVM_MAX_SPANS_A_TRACE = 2_000
MRPVM_TRACE_REQUEST_BYTES = 1_000_000  # half of what another mrpvm takes by default
MRPVM_SPREAD_UTTERANCES = 1_000  # of a search's hits, the best ones, whose neighbours are looked at
MRPVM_PACKED_FROM_UNITS = 1_000  # of its own in a sealed layer; a smaller one is read as fast row by row
MRPVM_LONGEST_READ_SECONDS = 5.0  # in which pages and predicted turns may still search a replaced index
MRPVM_PRECOMPUTE_UNITS = 20_000  # larger layers are embedded lazily
MRPVM_PACING_SECONDS = 0.25  # the longest pause of background work for turns
MRPVM_DERIVED_FROM_CHARS = 8_000  # of the text that a model sums up

# --- How sources are cut; a normaliser takes 8,000 characters --------------------------------

MRPVM_CHUNK_WHOLE_CHARS = ENVIRONMENT.whole_number("MRPVM_CHUNK_WHOLE_CHARS", 7_000, highest=8_000)
MRPVM_CHUNK_TARGET_CHARS = ENVIRONMENT.whole_number("MRPVM_CHUNK_TARGET_CHARS", 6_000, lowest=300, highest=8_000)
MRPVM_CHUNK_MIN_CHARS = ENVIRONMENT.whole_number("MRPVM_CHUNK_MIN_CHARS", 800, highest=8_000)
MRPVM_CHUNK_OVERLAP_SENTENCES = ENVIRONMENT.whole_number("MRPVM_CHUNK_OVERLAP_SENTENCES", 1, highest=20)
MRPVM_CHUNK_WINDOW_CHARS = ENVIRONMENT.whole_number("MRPVM_CHUNK_WINDOW_CHARS", 6_000, lowest=300, highest=8_000)
MRPVM_CHUNK_WINDOW_OVERLAP_CHARS = ENVIRONMENT.whole_number("MRPVM_CHUNK_WINDOW_OVERLAP_CHARS", 600, highest=4_000)

# --- The language model, if there is one -----------------------------------------------------------

MRPVM_LLM_BASE_URL = ENVIRONMENT.web_address("MRPVM_LLM_BASE_URL")
MRPVM_LLM_API_KEY = ENVIRONMENT.text("MRPVM_LLM_API_KEY")
MRPVM_LLM_MODEL = ENVIRONMENT.text("MRPVM_LLM_MODEL")
MRPVM_LLM_API = ENVIRONMENT.choice("MRPVM_LLM_API", ("chat", "responses"))
MRPVM_LLM_INPUT_PRICE = ENVIRONMENT.whole_number("MRPVM_LLM_INPUT_PRICE", 0)  # hundredths a million tokens
MRPVM_LLM_OUTPUT_PRICE = ENVIRONMENT.whole_number("MRPVM_LLM_OUTPUT_PRICE", 0)  #
MRPVM_LLM_TIMEOUT_MS = ENVIRONMENT.whole_number("MRPVM_LLM_TIMEOUT_MS", 30_000, lowest=1)  # one attempt
MRPVM_LLM_MAX_RETRIES = ENVIRONMENT.whole_number("MRPVM_LLM_MAX_RETRIES", 2)  # of the transport
MRPVM_LLM_CHAIN = ENVIRONMENT.flag("MRPVM_LLM_CHAIN", default=True)  #
MRPVM_LLM_CACHE = ENVIRONMENT.flag("MRPVM_LLM_CACHE", default=False)  #
MRPVM_LOCAL_MODEL = ENVIRONMENT.choice("MRPVM_LOCAL_MODEL", ("auto", "1", "0"))  # auto: in development, if installed
MRPVM_MODEL_PRICES = ENVIRONMENT.model_prices("MRPVM_MODEL_PRICES")  # of a million tokens, taken/written
MRPVM_OPENAI_ANY_MODEL = ENVIRONMENT.choice("MRPVM_OPENAI_ANY_MODEL", ("auto", "1", "0"))  #
MRPVM_GROUNDING = ENVIRONMENT.choice("MRPVM_GROUNDING", ("open", "strict"))  # unless project or session say
MRPVM_GUARDRAILS = ENVIRONMENT.flag("MRPVM_GUARDRAILS", default=True)  # refuse what policy denies
MRPVM_WRAPPERS = ENVIRONMENT.name_list("MRPVM_WRAPPERS")  # external programs that may run, by id or name
MRPVM_WRAPPERS_DIR = ENVIRONMENT.path("MRPVM_WRAPPERS_DIR", MRPVM_DATA_DIR / "wrappers")
MRPVM_DISABLED_PLUGINS = ENVIRONMENT.name_list("MRPVM_DISABLED_PLUGINS")  # shipped ones, by id

# --- Whom alerts tell -----------------------------------------------------------------------------------

MRPVM_PRIVATE_WEB_HOOKS = ENVIRONMENT.flag("MRPVM_PRIVATE_WEB_HOOKS", default=False)  # hosts of private networks
_MAIL_HOST = ENVIRONMENT.text("EMAIL_HOST")
_MAIL_PORT = ENVIRONMENT.whole_number("EMAIL_PORT", 587, lowest=1, highest=65535)
_MAIL_USER = ENVIRONMENT.text("EMAIL_HOST_USER")
_MAIL_PASSWORD = ENVIRONMENT.text("EMAIL_HOST_PASSWORD")
_MAIL_SECURITY = ENVIRONMENT.choice("EMAIL_SECURITY", ("starttls", "tls", "none"))
DEFAULT_FROM_EMAIL = ENVIRONMENT.text("DEFAULT_FROM_EMAIL") or "mrpvm@localhost"
MRPVM_MAIL = bool(_MAIL_HOST)  # nothing is sent without
MAILERS: dict[str, Any] = {
    "default": {
        "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "OPTIONS": {
            "host": _MAIL_HOST or "localhost",
            "port": _MAIL_PORT,
            "username": _MAIL_USER,
            "password": _MAIL_PASSWORD,
            "use_tls": _MAIL_SECURITY == "starttls",
            "use_ssl": _MAIL_SECURITY == "tls",
            "timeout": 10,
        },
    }
}

# --- Safety ---------------------------------------------------------------------------------------------

DEBUG = False
SECRET_KEY = ENVIRONMENT.secret_key("SECRET_KEY", MRPVM_DATA_DIR, required=PRODUCTION)
ALLOWED_HOSTS = ENVIRONMENT.host_names("ALLOWED_HOSTS")
if PRODUCTION and not ALLOWED_HOSTS:
    ENVIRONMENT.refuse("ALLOWED_HOSTS", "the names this server is reached by, such as mrpvm.example")
ALLOWED_HOSTS += ["127.0.0.1", "localhost", "[::1]"]  # probes and tools on this machine
if not PRODUCTION and HOST not in {"0.0.0.0", "::", *ALLOWED_HOSTS}:  # noqa: S104 (compared, not bound)
    ALLOWED_HOSTS.append(HOST)

SECURE_CSP = {  # one policy for every page, the admin and the API documentation included
    "default-src": [CSP.NONE],
    "script-src": [CSP.SELF, CSP.NONCE],
    "style-src": [CSP.SELF, CSP.NONCE],
    "img-src": [CSP.SELF, "data:"],
    "connect-src": [CSP.SELF],
    "font-src": [CSP.SELF],
    "manifest-src": [CSP.SELF],
    "form-action": [CSP.SELF],
    "base-uri": [CSP.NONE],
    "frame-ancestors": [CSP.NONE],
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_NAME = "mrpvm_session"  # names of its own: localhost is shared by every port
CSRF_COOKIE_NAME = "mrpvm_csrf"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = PRODUCTION
SECURE_REDIRECT_EXEMPT = [r"^((api/)?(health|ready)|metrics)$"]  # asked beside the proxy, by plain HTTP
SECURE_HSTS_SECONDS = 31_536_000 if PRODUCTION else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = PRODUCTION
# Browsers' built-in lists are for the owner of a domain to ask for, not for a server to offer.
SILENCED_SYSTEM_CHECKS = ["security.W021"]
# The ASGI wrapper has already refused larger bodies (sessions_app/api/shell/body_limit.py); this must not do so first.
DATA_UPLOAD_MAX_MEMORY_SIZE = MRPVM_MAX_BODY_BYTES

CORS_ALLOWED_ORIGINS = ENVIRONMENT.origins("CORS_ALLOWED_ORIGINS")  # no CORS headers unless set
CORS_URLS_REGEX = r"^/(api|v1)/"
CORS_ALLOW_HEADERS = [
    "accept", "authorization", "content-type", "idempotency-key", "if-none-match", "traceparent", "user-agent",
    "x-commands", "x-csrftoken", "x-request-id", "x-requested-with", "x-session-id",
    # OpenAI's SDK for JavaScript adds these by itself:
    "openai-beta", "openai-organization", "openai-project", "x-stainless-arch", "x-stainless-custom-poll-interval",
    "x-stainless-helper-method", "x-stainless-lang", "x-stainless-os", "x-stainless-package-version",
    "x-stainless-poll-helper", "x-stainless-retry-count", "x-stainless-runtime", "x-stainless-runtime-version",
    "x-stainless-timeout",
]  # fmt: skip
CORS_EXPOSE_HEADERS = [
    "x-request-id", "x-session-id", "retry-after", "etag", "link", "x-total-count", "idempotency-replayed",
]  # fmt: skip

# --- Django ---------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "channels",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "sessions_app",
]
MIDDLEWARE = [
    "sessions_app.web.request_ids.RequestIds",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "sessions_app.web.shell.second_factor.SecondFactorRequired",
    "sessions_app.acting.ActingUser",
    "sessions_app.web.shell.form_addresses.LoginRequired",  # a view is public only if it says so
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
if CORS_ALLOWED_ORIGINS:
    INSTALLED_APPS.append("corsheaders")
    MIDDLEWARE.insert(0, "corsheaders.middleware.CorsMiddleware")

# Logins by password ask for a code of an authenticator app, if the user has set one up or everybody must.
MRPVM_SECOND_FACTOR = ENVIRONMENT.choice("MRPVM_SECOND_FACTOR", ("optional", "required"))
OTP_TOTP_ISSUER = "mrpvm"  # the name that apps show

# Who somebody is may be said by a proxy, in a header that is believed from these addresses alone.
MRPVM_PROXY_USER_HEADER = ENVIRONMENT.text("MRPVM_PROXY_USER_HEADER")  # off by default
MRPVM_PROXY_ADDRESSES = ENVIRONMENT.networks("MRPVM_PROXY_ADDRESSES")
MRPVM_PROXY_SUPERUSERS = ENVIRONMENT.flag("MRPVM_PROXY_SUPERUSERS", default=False)
if MRPVM_PROXY_USER_HEADER and not re.fullmatch(r"[A-Za-z0-9-]+", MRPVM_PROXY_USER_HEADER):
    ENVIRONMENT.refuse("MRPVM_PROXY_USER_HEADER", "the name of a header such as X-Forwarded-User")
if MRPVM_PROXY_USER_HEADER:
    if not MRPVM_PROXY_ADDRESSES:
        ENVIRONMENT.refuse("MRPVM_PROXY_ADDRESSES", "the addresses of the proxy that sets MRPVM_PROXY_USER_HEADER")
    MIDDLEWARE.insert(
        MIDDLEWARE.index("sessions_app.web.shell.second_factor.SecondFactorRequired"),
        "sessions_app.web.shell.proxy_login.ProxyLogin",
    )
    AUTHENTICATION_BACKENDS = [
        "django.contrib.auth.backends.ModelBackend",
        "sessions_app.web.shell.proxy_users.ProxyUserBackend",
    ]

ROOT_URLCONF = "mrpvm.urls"
ASGI_APPLICATION = "mrpvm.asgi.application"
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{validator}"}
    for validator in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.csp",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "sessions_app.web.rail.rail",
            ],
        },
    },
]

# --- Static files: straight from the checkout in development, hashed and compressed copies in production ----

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = MRPVM_DATA_DIR / "static" if PRODUCTION else None
WHITENOISE_USE_FINDERS = not PRODUCTION
WHITENOISE_ALLOW_ALL_ORIGINS = False
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "sessions_app.web.shell.static_files.OneStylesheetStorage"
        if PRODUCTION
        else "django.contrib.staticfiles.storage.StaticFilesStorage",
    },
}

# --- Rows: one connection a warm thread, kept (sessions_app/web/shell/warm_threads.py) ------------------------------

DATABASES: dict[str, dict[str, Any]] = {
    "default": ENVIRONMENT.database("DATABASE_URL", MRPVM_DATA_DIR / "db.sqlite3") | {"CONN_MAX_AGE": None},
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # IMMEDIATE: with the default DEFERRED nearly every concurrent writer fails with "database is locked".
    # FULL: an acknowledged turn survives power loss.
    DATABASES["default"]["OPTIONS"] = {
        "timeout": 20,
        "transaction_mode": "IMMEDIATE",
        "init_command": "PRAGMA journal_mode=WAL;PRAGMA synchronous=FULL;PRAGMA temp_store=MEMORY;"
        "PRAGMA mmap_size=134217728;PRAGMA cache_size=-20000;PRAGMA journal_size_limit=67108864",
    }
else:
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    # A turn repeats its statements: one that a connection has run five times is prepared.
    # Nobody waits for a lock without end, nor longer than SQLite's writers wait, unless the address says otherwise.
    DATABASES["default"]["OPTIONS"] = {
        "connect_timeout": 10,
        "options": "-c lock_timeout=20s",
        # Where a host vanishes, sent data waits 10 s for it, and an idle connection a minute.
        "tcp_user_timeout": 10_000,
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        **DATABASES["default"].get("OPTIONS", {}),
        "server_side_binding": True,
        "prepare_threshold": 5,
    }

# --- Live events and counters: in this process, or in Redis for several ---------------------------------------

REDIS_URL = ENVIRONMENT.service("REDIS_URL", ("redis", "rediss"), "channels_redis")
CHANNEL_LAYERS: dict[str, dict[str, Any]] = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
CACHES: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 20_000},
    }
}
if REDIS_URL:
    _patience = {"socket_connect_timeout": 1, "socket_timeout": 1}  # seconds: Redis that hangs holds up no request
    CHANNEL_LAYERS["default"] = {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [{"address": REDIS_URL, **_patience}], "prefix": "mrpvm"},
    }
    CACHES["default"] = {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "mrpvm",
        "OPTIONS": _patience,
    }

# --- The API --------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "sessions_app.api.shell.errors.exception_handler",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "mrpvm",
    "DESCRIPTION": "A conversation server that can show how every answer came about.",
    "VERSION": MRPVM_VERSION,
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/",
    "SERVE_INCLUDE_SCHEMA": False,
    "PREPROCESSING_HOOKS": ["sessions_app.api.shell.schema_hooks.api_only"],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "sessions_app.api.shell.schema_hooks.with_flags",
        "sessions_app.api.shell.schema_hooks.with_habits",
        "sessions_app.api.shell.schema_hooks.without_sources",
    ],
    "ENUM_NAME_OVERRIDES": {
        "SessionStatusEnum": ["active", "running", "failed", "expired"],
        "SourceStatusEnum": ["ready", "dirty"],
        "ForgettingKindEnum": ["message", "unit", "source", "session", "text", "words"],
        "ForgettingStatusEnum": [
            "planning",
            "planned",
            "running",
            "finished",
            "incomplete",
            "failed",
            "cancelled",
        ],
        "QuotaKindEnum": ["sessions", "units", "bytes", "calls-a-minute", "tokens-a-day", "cost-a-day"],
        "RetentionKindEnum": [
            "trials",
            "imported-traces",
            "traces",
            "model-exchanges",
            "payloads",
            "messages",
            "audit",
        ],
        "ExperimentStatusEnum": ["running", "finished", "failed", "cancelled", "interrupted"],
        "TrialStatusEnum": [
            "waiting",
            "succeeded",
            "failed",
            "needs-model",
            "refused",
            "cancelled",
            "interrupted",
        ],
        "StoppingStatusEnum": ["cancelling"],
        "ExperimentKindEnum": ["trials", "diagnosis", "bisect", "suite"],
        "AnswerStatusEnum": ["answered", "no-context", "failed"],
        "MemberRoleEnum": ["viewer", "editor", "admin"],
        "AnswerBasisEnum": ["stated", "composed", "quoted", "none"],
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}

# --- Logs: one line an event, readable or as JSON, without secrets ----------------------------------------------------

_LOG_FORMAT = ("json" if PRODUCTION else "plain") if MRPVM_LOG_FORMAT == "auto" else MRPVM_LOG_FORMAT
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {
            "()": "sessions_app.logs.PlainFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
        },
        "json": {"()": "sessions_app.logs.JSONFormatter"},
    },
    "filters": {
        "not_cut_off": {"()": "sessions_app.logs.NotCutOff"},
        "outages": {"()": "sessions_app.logs.Outages"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": _LOG_FORMAT,
            "filters": ["not_cut_off", "outages"],
        }
    },
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "django": {"handlers": [], "level": "WARNING", "propagate": True},
        "django.request": {"level": "ERROR"},  # a client's 4xx is its own to read
        # Each is answered with 400 and has a traceback, so strangers could fill the log. Refused forms log one line.
        "django.security": {"level": "CRITICAL"},
        "django.security.csrf": {"level": "WARNING"},
        "mrpvm": {"level": "INFO"},
        "sessions_app": {"level": "INFO"},
    },
}
