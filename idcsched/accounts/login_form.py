"""The admin's login form."""

from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.forms import ValidationError
from django.utils.translation import gettext_lazy as _
from unfold.forms import AuthenticationForm

from .models import User

__all__ = ["LoginForm", "SecondFactorNeeded"]


class SecondFactorNeeded(Exception):
    """The password is right, and the user needs a second factor."""

    def __init__(self, user: User) -> None:
        super().__init__()
        self.user = user


class LoginForm(AuthenticationForm):
    """Login form that gives the reason of a refusal only to a user who has entered the right password."""

    def confirm_login_allowed(self, user: AbstractBaseUser) -> None:
        if isinstance(user, User) and not user.is_staff:
            detail = _("The password is right, but users of the role %(role)s have no pages here: they ask the API.")
            raise ValidationError(detail, code="no_pages", params={"role": user.get_role_display()})
        super().confirm_login_allowed(user)
        if isinstance(user, User) and user.needs_second_factor:
            raise SecondFactorNeeded(user)

    def get_invalid_login_error(self) -> ValidationError:
        """Return the error of a failed login; the backends can't tell an inactive user from an unknown one."""
        entered: dict[str, Any] = self.cleaned_data
        user = User.objects.filter(username=entered["username"], is_active=False).first()
        if user is not None and user.check_password(entered["password"]):
            return ValidationError(_("The password is right, but this user is switched off."), code="inactive")
        return super().get_invalid_login_error()
