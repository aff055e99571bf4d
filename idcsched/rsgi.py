"""What our web server serves: `granian --interface rsgi idcsched.rsgi:application`.

Any WSGI server serves `idcsched.wsgi:application` just as well; it answers all requests in its own threads.
"""

from typing import Final

from idcsched.wsgi import application as wsgi_application  # sets Django up

# isort: split
from django.conf import settings
from django.urls import reverse

from idcsched.environs import Environ
from idcsched.inventory.transfer.reading import FORM_BYTES, MAX_BYTES
from idcsched.reception import Reception

__all__ = ["application"]

SCHEDULE: Final = reverse("schedule")
LIVE: Final = reverse("live")


def at_once(environ: Environ) -> bool:
    """Whether the answer asks nobody, as a rule: a recommendation for a program, and the sign of life."""
    path = environ["PATH_INFO"]
    if path == SCHEDULE:
        return environ["REQUEST_METHOD"] == "POST" and "HTTP_AUTHORIZATION" in environ
    return path == LIVE and "HTTP_COOKIE" not in environ


application = Reception(wsgi_application, at_once=at_once, threads=settings.WEB_THREADS, most=MAX_BYTES + FORM_BYTES)
