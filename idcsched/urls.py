"""The URLs of the server. Clients may rely on `/api/v1/` and on whatever else `docs/` describes."""

from django.conf import settings
from django.contrib import admin
from django.urls import include, path

from idcsched.demo.sources import PATH
from idcsched.demo.views import measurements
from idcsched.web import health
from idcsched.web import metrics_view as exposition
from idcsched.web.start_page import start
from idcsched.web.static_files import moved

urlpatterns = [
    path("api/v1/", include("idcsched.api.urls")),  # first, since most requests go there
    path("", start),
    path("health/live/", health.live, name="live"),
    path("health/ready/", health.ready, name="ready"),
    path("metrics", exposition.metrics, name="metrics"),
    path("admin/", admin.site.urls),
    path("console/", include("idcsched.console.urls")),
    path("static/<slug:version>/<path:path>", moved),
]

if settings.DEMO:
    urlpatterns.append(path(PATH.removeprefix("/"), measurements))

handler400 = "idcsched.web.error_pages.bad_request"
handler403 = "idcsched.web.error_pages.permission_denied"
handler404 = "idcsched.web.error_pages.not_found"
handler500 = "idcsched.web.error_pages.server_error"
