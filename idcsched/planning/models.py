from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

from idcsched.accounts.models import Tenant
from idcsched.db.fields import WholeDocumentField, one_of

__all__ = ["AdviceRun", "Backtest", "MoveAnswer", "MoveState", "State", "StoredAdvice"]


class State(models.TextChoices):
    """The state of work that a worker does."""

    QUEUED = "queued", _("waiting for a worker")
    RUNNING = "running", _("running")
    DONE = "done", _("done")
    FAILED = "failed", _("failed")


class Backtest(models.Model):
    """A question of what the orders of the last days would have cost under other profiles, and the answer.

    `tenant`: whose orders are decided again; empty: those of all. `policies` has each profile's name in the
    answer and its document as it was when the question was asked. The worker that runs it shows signs of life in
    `beat_at`.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    actor = models.CharField(_("asked by"), max_length=150)
    tenant = models.ForeignKey(Tenant, models.CASCADE, null=True, related_name="+", verbose_name=_("tenant"))
    profile = models.CharField(_("profile"), max_length=63)
    days = models.PositiveSmallIntegerField(_("days"))
    policies = models.JSONField(_("profiles that are compared"))
    optimum = models.BooleanField(_("with the optimum"), default=False)
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.QUEUED)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    beat_at = models.DateTimeField(_("last sign of life"), null=True, editable=False)
    finished_at = models.DateTimeField(_("finished"), null=True)
    done = models.PositiveIntegerField(_("orders decided"), default=0)
    total = models.PositiveIntegerField(_("orders to decide"), default=0)
    result = models.JSONField(_("result"), null=True)
    failure = models.CharField(_("why it failed"), max_length=500, blank=True)

    class Meta:
        verbose_name = _("backtest")
        verbose_name_plural = _("backtests")
        ordering = ["-id"]
        constraints = [one_of("state", State, name="backtest_state_known")]

    def __str__(self) -> str:
        return f"{self.profile}, {self.days} d"


class StoredAdvice(models.Model):
    """Advice on what stood at one time: the document that the API shows."""

    computed_at = models.DateTimeField(_("computed"), db_index=True)
    document = WholeDocumentField(_("document"))

    class Meta:
        verbose_name = _("advice")
        verbose_name_plural = _("advice")
        ordering = ["-computed_at"]

    def __str__(self) -> str:
        return f"{self.computed_at:%Y-%m-%d %H:%M}"


class AdviceRun(models.Model):
    """One computing of advice: asked for by somebody, or by the night (`actor` is empty), and what became of it."""

    asked_at = models.DateTimeField(_("asked for"), default=timezone.now, db_index=True)
    actor = models.CharField(_("asked by"), max_length=150, blank=True)
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.QUEUED)
    started_at = models.DateTimeField(_("begun"), null=True)
    finished_at = models.DateTimeField(_("finished"), null=True)
    failure = models.CharField(_("why it failed"), max_length=500, blank=True)

    class Meta:
        verbose_name = _("computing of advice")
        verbose_name_plural = _("computings of advice")
        ordering = ["-asked_at", "-id"]
        constraints = [one_of("state", State, name="advice_run_state_known")]

    def __str__(self) -> str:
        return f"{self.asked_at:%Y-%m-%d %H:%M}, {self.state}"


class MoveState(models.TextChoices):
    """What people did with a proposed move."""

    DONE = "done", _("done")
    DECLINED = "declined", _("not this one")


class MoveAnswer(models.Model):
    """What people did with a move that was proposed: `move` is the proposal as it was, with what it promised.

    The placement is proposed no more until the answer is taken back. The row outlives the placement.
    """

    placement = models.UUIDField(_("placement"), unique=True)
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="+", verbose_name=_("tenant"))
    state = models.CharField(_("state"), max_length=10, choices=MoveState.choices)
    reason = models.CharField(_("reason"), max_length=500, blank=True)
    actor = models.CharField(_("by"), max_length=150)
    at = models.DateTimeField(_("at"), default=timezone.now, db_index=True)
    currency = models.CharField(_("currency"), max_length=10)
    move = models.JSONField(_("proposed move"))

    class Meta:
        verbose_name = _("answer to a move")
        verbose_name_plural = _("answers to moves")
        ordering = ["-at", "-id"]
        constraints = [one_of("state", MoveState, name="move_answer_state_known")]

    def __str__(self) -> str:
        return f"{self.placement}, {self.state}"
