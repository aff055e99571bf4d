"""All settings, read from environment variables alone; every variable has a default.

Each variable is declared once, here, with its meaning; `docs/settings.md` shows the declarations. `manage.py check`
reports wrong values (see `idcsched.config.env`).
"""

import os
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from django.utils.translation import gettext_lazy as _
from kombu.entity import Exchange, Queue

from idcsched import __version__
from idcsched.api.summaries import TAGS
from idcsched.config import csp as content_security
from idcsched.config import env as environment
from idcsched.config import logging as logs
from idcsched.config import theme as appearance
from idcsched.config.env import Environment, choice, flag, integer, listing, number
from idcsched.jobs.schedule import housekeeping
from idcsched.web.deadline import WATCHED
from idcsched.web.static_files import static_version

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy's threads would busy-wait for cores that others use
BASE_DIR = Path(__file__).resolve().parent.parent
ENVIRONMENT = Environment(os.environ)
read = ENVIRONMENT.read

VAR_DIR = read(
    "VAR_DIR",
    environment.path,
    default=BASE_DIR / "var",
    shown="`var` in the project",
    help="Where this installation keeps its own files: the SQLite database, the generated key, logs, messages.",
)
DEBUG = read("DEBUG", flag, default=False, help="Django's debug mode. Never where others can reach it.")
LOG_LEVEL = read(
    "LOG_LEVEL",
    choice("DEBUG", "INFO", "WARNING", "ERROR"),
    default="INFO",
    help="The least severe message that is logged.",
)
LOG_FORMAT: logs.LogFormat = read(
    "LOG_FORMAT",
    choice("json", "console"),
    default=logs.format_by_default(),
    shown="`console` on a terminal, else `json`",
    help="One JSON object an entry, or lines for people.",
)
ACCESS_LOG = read(
    "ACCESS_LOG",
    flag,
    default=False,
    help="Log every request but those of monitoring, and every background task.",
)
OTEL_EXPORTER_OTLP_ENDPOINT = read(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    environment.web_address,
    default="",
    help="The OpenTelemetry collector to which [traces](observing.md#traces) are sent, by OTLP over HTTP.",
)
if OTEL_EXPORTER_OTLP_ENDPOINT and find_spec("opentelemetry") is None:
    ENVIRONMENT.refuse(
        "E007",
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "OTEL_EXPORTER_OTLP_ENDPOINT is set, and the packages that send traces are not installed.",
        "Install requirements/traces.lock, or unset OTEL_EXPORTER_OTLP_ENDPOINT.",
    )

SECRET_KEY = read(
    "SECRET_KEY",
    environment.secret,
    default="",
    private=True,
    shown="made once, kept in `VAR_DIR/secret-key`",
    help="Signs sessions and commit tokens. All processes of an installation share it.",
) or ENVIRONMENT.secret_kept("SECRET_KEY", VAR_DIR / "secret-key")

LOOPBACK_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
ALLOWED_HOSTS = [
    *read(
        "ALLOWED_HOSTS",
        listing,
        default=[],
        help="The host names that the server answers to, beside those of the machine itself (`localhost`, …).",
    ),
    *LOOPBACK_HOSTS,
]
CSRF_TRUSTED_ORIGINS = read(
    "CSRF_TRUSTED_ORIGINS",
    environment.origin_list,
    default=[],
    help="Other origins whose pages may post to the admin.",
)
TRUSTED_PROXIES = read(
    "TRUSTED_PROXIES",
    environment.network_list,
    default=[],
    help="Reverse proxies, and those in front of them, whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed.",
)
SECURE_SSL = read(
    "SECURE_SSL",
    flag,
    default=False,
    help="Everybody comes by HTTPS: plain HTTP is redirected, cookies are secure, browsers are told to stay (HSTS).",
)
PORT = read("PORT", integer(1, 65535), default=8000, help="The port that `make run` listens on, on 127.0.0.1.")
WEB_WORKERS = read("WEB_WORKERS", integer(1, 64), default=1, help="Web server processes.")
WEB_THREADS = read(
    "WEB_THREADS",
    integer(3, 64),
    default=6,
    help="Threads of each. All but two may wait for the database or another server at a time.",
)
THROTTLE = read(
    "THROTTLE",
    environment.rate,
    default=None,
    shown="`off`",
    help="How often one token may ask; beyond that the answer is 429. Processes count together where there is Redis.",
)

OUTBOUND_HOSTS = read(
    "OUTBOUND_HOSTS",
    environment.host_list,
    default=["*"],
    help="Whom the server may call (extenders, sources, the OpenID provider): host names, `.example.com` with its "
    "sub-domains, addresses, networks; `*` is every public address. Loopback, private and link-local addresses must be "
    "listed themselves, or their network, whatever name leads to them. Callbacks go by each tenant's own list.",
)

SOURCE_SECRETS = read(
    "SOURCE_SECRETS",
    environment.secret_list,
    default=[],
    help="What `secret_ref` of sources may refer to, each with a host to which the secret may be sent: variables (all "
    "that begin so with a `*`) and files (all below a folder with a `/`). A secret for several hosts has several "
    "entries. HOST is compared with the host as the source's configuration writes it.",
)
PROVIDER_SECRETS = read("PROVIDER_SECRETS", environment.secret_list, default=[], help="The same of providers.")
SOURCE_FOLDER = read(
    "SOURCE_FOLDER",
    environment.path,
    default=VAR_DIR / "sources",
    shown="`VAR_DIR/sources`",
    help="The folder from which sources of kind `csv` may read files.",
)

OIDC_ISSUER = read(
    "OIDC_ISSUER",
    environment.issuer,
    default="",
    help="The OpenID provider by which [people sign in](access.md#signing-in-with-openid-connect) to admin and "
    "console, by its issuer's exact name; without it they sign in with passwords alone.",
)
OIDC_CLIENT_ID = read("OIDC_CLIENT_ID", environment.text, default="", help="This installation's name at the provider.")
OIDC_CLIENT_SECRET = read(
    "OIDC_CLIENT_SECRET",
    environment.text,
    default="",
    private=True,
    help="Its secret at the provider; none for a public client.",
)
OIDC_SCOPES = read(
    "OIDC_SCOPES", listing, default=["profile", "email"], help="What the provider is asked for beside `openid`."
)
OIDC_USERNAME_CLAIM = read(
    "OIDC_USERNAME_CLAIM", environment.text, default="preferred_username", help="The claim that names a new user."
)
OIDC_GROUPS_CLAIM = read(
    "OIDC_GROUPS_CLAIM", environment.text, default="groups", help="The claim with the groups of a user."
)
OIDC_ROLES = read(
    "OIDC_ROLES",
    environment.role_table,
    default={},
    shown="–",
    help="The role that each group gives; of several the most powerful. Who is in none of them can't sign in.",
)
for needed, value in (("OIDC_CLIENT_ID", OIDC_CLIENT_ID), ("OIDC_ROLES", OIDC_ROLES)):
    if OIDC_ISSUER and not value and not ENVIRONMENT.broken(needed):
        ENVIRONMENT.refuse("E006", needed, f"OIDC_ISSUER is set, but {needed} is not.", f"Set {needed} as well.")
SECOND_FACTOR: Literal["off", "administrators", "everybody"] = read(
    "SECOND_FACTOR",
    choice("off", "administrators", "everybody"),
    default="off",
    help="Who needs [a second factor](access.md#the-second-factor) beside a password.",
)

DATABASE_URL = read(
    "DATABASE_URL",
    environment.database,
    default=None,
    private=True,
    shown="SQLite, `VAR_DIR/db.sqlite3`",
    help="The database. PostgreSQL for production; what stands behind a `?` goes to libpq.",
)
DATABASE_TIMEOUT = read(
    "DATABASE_TIMEOUT",
    integer(1, 600),
    default=5,
    help="For how many seconds a web process waits for an answer of PostgreSQL; then its connection is cut and its "
    "request refused with 503. If the connection was an old one, a new one is tried first, for three seconds unless "
    "`DATABASE_URL` has another `connect_timeout`.",
)
REDIS_URL = read(
    "REDIS_URL",
    environment.redis_url,
    default="",
    private=True,
    help="Redis for Celery's messages and the cache. Without it messages are files in `VAR_DIR/broker`, "
    "for one machine, and each process has a cache of its own.",
)

BILLING_ZONE = read(
    "BILLING_ZONE",
    environment.zone,
    default="Asia/Shanghai",
    help="The time zone in which ISPs cut months, days and hours.",
)
CURRENCY = read("CURRENCY", environment.currency, default="CNY", help="The currency of every price.")
BANDWIDTH_WINDOW = timedelta(
    days=read(
        "BANDWIDTH_WINDOW_DAYS",
        integer(1, 40),
        default=7,
        help="How far back the 95th percentile of a line's use looks.",
    )
)
PERCENTILE_CONVENTION = read(
    "PERCENTILE_CONVENTION",
    choice(
        "nearest_rank",
        "averaged_inverted_cdf",
        "closest_observation",
        "hazen",
        "higher",
        "interpolated_inverted_cdf",
        "inverted_cdf",
        "linear",
        "lower",
        "median_unbiased",
        "midpoint",
        "nearest",
        "normal_unbiased",
        "weibull",
    ),
    default="nearest_rank",
    help="Which value is the 95th percentile. `nearest_rank`: the highest twentieth is dropped, the highest that is "
    "left counts, as ISPs bill it; the others are NumPy's methods (see [metrics](metrics.md)).",
)
BANDWIDTH_FADE = timedelta(
    days=read(
        "BANDWIDTH_FADE_DAYS",
        integer(0, 40),
        default=5,
        help="How long an active order's bandwidth goes on counting beside what is measured, fading evenly.",
    )
)
BANDWIDTH_COUNT: Literal["monitored", "ordered"] = read(
    "BANDWIDTH_COUNT",
    choice("monitored", "ordered"),
    default="monitored",
    help="`monitored`: a line's use is what is measured and what is pending; `ordered`: at least all that was ordered.",
)
BANDWIDTH_MAX_LEVEL = read(
    "MAX_LEVEL",
    number(0, 1),
    default=0.9,
    help="The water level up to which a line is filled, unless the line says otherwise.",
)
DEAREST_PRICE = read(
    "DEAREST_PRICE",
    number(0, 1e6),
    default=60.0,
    help="The price of a billed Mbps a month at which `billing_cost` gives 0 points, unless a profile says otherwise.",
)
EXACT_BILL_LINES = read(
    "EXACT_BILL_LINES",
    integer(0, 100_000),
    default=5000,
    help="The most lines whose last 30 days each process holds by the hour, 4.1 kB a line, for `method: exact` of "
    "`billing_cost`. With more lines than this its formula alone counts.",
)
PLANNING_SECONDS = read(
    "PLANNING_SECONDS",
    integer(1, 30),
    default=10,
    help="For how many seconds the cheapest assignment of a batch is searched (`objective: bill`).",
)
DECISION_RETENTION = timedelta(
    days=read(
        "DECISION_RETENTION_DAYS",
        integer(1, 3650),
        default=30,
        help="How long the records of recommendations are kept.",
    )
)
LEARN_SHAPES = read(
    "LEARN_SHAPES",
    flag,
    default=True,
    help="Learn the [traffic shapes](shapes.md) of businesses each night. If not, those learnt before stay in force.",
)
RECORD_INPUTS = read(
    "RECORD_INPUTS",
    integer(0, 100),
    default=100,
    help="Of how many recommendations in a hundred the inputs are kept, too, so that they can be replayed.",
)
SNAPSHOT_MAX_AGE = read(
    "SNAPSHOT_MAX_AGE",
    integer(1, 86_400),
    default=600,
    help="For how many seconds recommendations go on, marked as degraded, while the database is away.",
)
DEMO = read(
    "DEMO",
    flag,
    default=False,
    help="The web server measures the demo's lines and sites for its sources to ask; `make run` sets it.",
)

INSTALLED_APPS = [
    "idcsched",  # first, so that its templates override those of the apps below
    "unfold.apps.BasicAppConfig",
    "unfold.contrib.filters",
    "unfold.contrib.import_export",
    "idcsched.accounts.apps.AdministrationConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_filters",
    "django_celery_beat",
    "axes",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "import_export",
    "idcsched.audit",
    "idcsched.feed",
    "idcsched.jobs",
    "idcsched.accounts",
    "idcsched.inventory",
    "idcsched.ledger",
    "metrics_ingest",
    "idcsched.scheduling",
    "idcsched.placement",
    "idcsched.provisioning",
    "idcsched.imports",
    "idcsched.planning",
    "idcsched.api",
    "idcsched.demo",
]
MIDDLEWARE = [
    "idcsched.api.middleware.RequestIdMiddleware",
    "idcsched.web.access.AccessMiddleware",
    "idcsched.web.proxies.ProxyMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "idcsched.web.browsers.ContentSecurityPolicy",
    "idcsched.web.browsers.Compression",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "idcsched.web.bulkhead.BulkheadMiddleware",
    "idcsched.web.browsers.Session",
    "django.middleware.locale.LocaleMiddleware",
    "idcsched.web.hosts.HostMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "idcsched.web.browsers.Authentication",
    "idcsched.web.browsers.OwnLanguage",
    "idcsched.web.browsers.Messages",
    "axes.middleware.AxesMiddleware",
]
if OTEL_EXPORTER_OTLP_ENDPOINT:
    MIDDLEWARE.insert(1, "idcsched.web.tracing.TracingMiddleware")  # outside of all but the request's id
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]
ROOT_URLCONF = "idcsched.urls"
WSGI_APPLICATION = "idcsched.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "accounts.User"
LOGIN_URL, LOGIN_REDIRECT_URL = "admin:login", "admin:index"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AXES_FAILURE_LIMIT, AXES_COOLOFF_TIME = 5, timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]  # so that nobody can lock out a user from another address
AXES_LOCKOUT_CALLABLE = "idcsched.accounts.lockout.locked_out"
AXES_ENABLE_ADMIN = AXES_VERBOSE = False
AXES_RESET_ON_SUCCESS = AXES_DISABLE_ACCESS_LOG = True
OTP_TOTP_ISSUER = "idcsched"
SESSION_COOKIE_AGE = (
    read("SESSION_HOURS", integer(1, 24 * 30), default=12, help="How long somebody stays logged in to the admin.")
    * 3600
)
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "idcsched.web.error_pages.csrf_failure"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]

SQLITE = {
    "ENGINE": "django.db.backends.sqlite3",
    "NAME": VAR_DIR / "db.sqlite3",
    "OPTIONS": {
        # WAL lets readers work beside one writer; IMMEDIATE takes the write lock at the start of a transaction, which
        # then cannot fail half-way.
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
    },
}


def _database() -> dict[str, Any]:
    if ENVIRONMENT.broken("DATABASE_URL"):
        return {"ENGINE": "django.db.backends.dummy"}  # a mistyped URL must not lead to writes in another database
    if DATABASE_URL is None:
        return SQLITE
    if DATABASE_URL["ENGINE"] == SQLITE["ENGINE"]:
        return SQLITE | {"NAME": DATABASE_URL["NAME"]}
    return {
        **DATABASE_URL,
        "OPTIONS": {**DATABASE_URL["OPTIONS"], **WATCHED},
        "CONN_MAX_AGE": 600,
        "CONN_HEALTH_CHECKS": True,
    }


DATABASES = {"default": _database()}
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}
    if REDIS_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    # Parts of pages, by a key of what they show; in the process, since they are large and of use for seconds only.
    "template_fragments": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "template_fragments",
        "OPTIONS": {"MAX_ENTRIES": 20},
    },
}

USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = True
LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
FORMAT_MODULE_PATH = "idcsched.language.formats"
LOCALE_PATHS = [BASE_DIR / "idcsched" / "locale"]

STATIC_URL = f"/static/{static_version(BASE_DIR / 'idcsched' / 'static')}/"
WHITENOISE_MAX_AGE = 365 * 24 * 3600  # changed files get another address
WHITENOISE_USE_FINDERS = True  # serves the files straight from the packages, without collectstatic

DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "idcsched.api.authentication.BearerAuthentication",
        "idcsched.api.authentication.SessionPrincipal",
    ],
    "DEFAULT_THROTTLE_CLASSES": ["idcsched.api.throttling.CallerThrottle"],
    "DEFAULT_PERMISSION_CLASSES": ["idcsched.api.permissions.HasCapability"],
    "DEFAULT_PARSER_CLASSES": ["idcsched.api.bodies.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_METADATA_CLASS": "idcsched.api.metadata.AllowedMethods",
    "DEFAULT_PAGINATION_CLASS": "idcsched.api.paging.Pages",
    "DEFAULT_FILTER_BACKENDS": ["idcsched.api.filtering.StrictFilterBackend", "idcsched.api.filtering.Ordering"],
    "DEFAULT_SCHEMA_CLASS": "idcsched.api.operations.Schema",
    "EXCEPTION_HANDLER": "idcsched.api.problems.exception_handler",
    "UNICODE_JSON": True,
}
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "idcsched",
    "DESCRIPTION": "Picks the data centre (IDC) of a region in which ordered machines should stand, and says why.",
    "VERSION": __version__,
    "SCHEMA_PATH_PREFIX": r"/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "TAGS": [{"name": name} for name in TAGS],
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "filter": True},
    "SWAGGER_UI_DIST": "SIDECAR",  # the pages work without the internet
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "GET_LIB_DOC_EXCLUDES": "idcsched.api.operations.undescribed",
    "POSTPROCESSING_HOOKS": [],  # without the default hook, which moves enums into components of their own
    "OAS_VERSION": "3.1.0",  # its schemas are JSON Schema, which msgspec writes
}

UNFOLD = appearance.UNFOLD
CONTENT_SECURITY_POLICY = {"DIRECTIVES": content_security.CLOSED}
PAGES_SECURITY_POLICY = content_security.PAGES
CONSOLE_SECURITY_POLICY = content_security.CONSOLE
API_DOCS_SECURITY_POLICY = content_security.API_DOCS
SECURE_SSL_REDIRECT = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if SECURE_SSL else 0
SECURE_REDIRECT_EXEMPT = [r"^health/", r"^metrics$"]  # load balancers and Prometheus call these in plain HTTP
SILENCED_SYSTEM_CHECKS = [
    "security.W005",  # HSTS for all sub-domains and
    "security.W021",  # its preloading affect the whole domain, which one server must not decide for
]

CELERY_BROKER_URL = REDIS_URL or "embedded://localhost"
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 3600} if REDIS_URL else {"folder": str(VAR_DIR / "broker")}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_DEFAULT_QUEUE = "idcsched"
# Tasks that call sources, providers and receivers of callbacks have queues of their own, so that separate workers can
# take them and a slow server delays no other task. A worker that is started without a list of queues takes all.
CELERY_TASK_QUEUES = [
    Queue(name, Exchange(name), routing_key=name) for name in ("idcsched", "collect", "provide", "deliver")
]
CELERY_TASK_ROUTES = {
    "metrics_ingest.tasks.source_run": {"queue": "collect"},
    "idcsched.provisioning.tasks.machine_tend": {"queue": "provide"},
    "idcsched.placement.tasks.placement_deliver": {"queue": "deliver"},
}
CELERY_TASK_IGNORE_RESULT = True  # tasks write their results to the database
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_SOFT_TIME_LIMIT = 300
CELERY_TASK_TIME_LIMIT = 330
CELERY_TIMEZONE = TIME_ZONE
CELERY_BEAT_SCHEDULER = "idcsched.beat:Scheduler"  # adds a schedule for each source
CELERY_BEAT_SCHEDULE = housekeeping()

LOGGING = logs.configuration(LOG_LEVEL, LOG_FORMAT, access_log=ACCESS_LOG)
