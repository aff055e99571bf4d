"""The steps that follow a password: the code of a second factor, or its set-up at the first time."""

from base64 import b32encode
from http import HTTPStatus
from time import time
from typing import Any, Final

import segno
from csp.decorators import csp
from django import forms
from django.conf import settings
from django.contrib import admin, auth
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django_otp.plugins.otp_totp.models import TOTPDevice
from django_otp.util import random_hex
from unfold.widgets import UnfoldAdminTextInputWidget

from idcsched.audit.context import origin_set
from idcsched.audit.models import Via

from . import services
from .models import User

__all__ = ["enter", "next_page", "second_factor", "second_factor_ask"]

BACKEND: Final = "django.contrib.auth.backends.ModelBackend"
PENDING: Final = "second_factor"
"""Where a session keeps who has entered the right password and is not signed in yet."""
PATIENCE: Final = 600


class CodeForm(forms.Form):
    code = forms.CharField(
        label=gettext_lazy("Code"),
        max_length=16,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "one-time-code", "autofocus": True}),
    )

    def clean_code(self) -> str:
        return "".join(str(self.cleaned_data["code"]).lower().split())


def next_page(request: HttpRequest) -> str:
    """Return the page that somebody wanted before signing in, if it is one of ours."""
    wanted = request.POST.get("next", request.GET.get("next", ""))
    ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if ours else reverse("admin:index")


def enter(request: HttpRequest, user: User) -> None:
    """Sign the user in, whatever has proved who it is."""
    auth.login(request, user, backend=BACKEND)


def second_factor_ask(request: HttpRequest, user: User) -> HttpResponse:
    """Send somebody who has entered the right password on to the second factor; only that signs in."""
    request.session.cycle_key()
    until, key = time() + PATIENCE, random_hex(20)
    request.session[PENDING] = {"user": user.pk, "until": until, "key": key, "next": next_page(request)}
    return redirect("admin:second_factor")


@sensitive_post_parameters()
@never_cache
@csp(settings.PAGES_SECURITY_POLICY)
def second_factor(request: HttpRequest) -> HttpResponse:
    """Ask for a code of the user's app, or have the user set the app up; the right code signs in."""
    pending = request.session.get(PENDING, {})
    in_time = pending.get("until", 0) > time()
    user = User.objects.filter(pk=pending["user"], is_active=True).first() if in_time else None
    if user is None:
        return redirect("admin:login")
    known = TOTPDevice.objects.filter(user=user).exists()
    form, codes, wait = CodeForm(request.POST or None), [], 0
    if form.is_valid():
        code = form.cleaned_data["code"]
        with origin_set(actor=user.username, via=Via.ADMIN, request_id=str(getattr(request, "request_id", ""))):
            if known:
                wait = services.second_factor_verify(user=user, code=code)
            else:
                codes = services.second_factor_enrol(user=user, key=pending["key"], code=code)
                wait = 0 if codes else 1
        if not wait:
            del request.session[PENDING]
            enter(request, user)
            return _page(request, codes=codes, next=pending["next"]) if codes else redirect(pending["next"])
        detail = _("This code is wrong, or was used before. Wait %(seconds)d s, then enter the one that the app shows.")
        form.add_error("code", detail % {"seconds": wait})
    response = _page(request, form=form, **({} if known else _set_up(TOTPDevice(user=user, key=pending["key"]))))
    if wait > 1:
        response.status_code, response.headers["Retry-After"] = HTTPStatus.TOO_MANY_REQUESTS, str(wait)
    return response


def _set_up(device: TOTPDevice) -> dict[str, str]:
    """Return what an app needs to know of a new device: a link, its picture, and its secret to type."""
    url = device.config_url
    return {
        "url": url,
        "picture": segno.make(url).svg_data_uri(scale=5, light="#fff"),
        "key": b32encode(device.bin_key).decode(),
    }


def _page(request: HttpRequest, **context: Any) -> HttpResponse:
    return render(request, "administration/second_factor.html", admin.site.each_context(request) | context)
