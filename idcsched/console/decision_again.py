"""A decision made again: on the data of then or of now, under another profile, with other weights; side by side."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

import msgspec
from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from idcsched.framework.errors import IdcschedError, Invalid
from idcsched.framework.explain import MOST_SHOWN
from idcsched.language.wording import explained
from idcsched.scheduling.decision_page import decision_shown
from idcsched.scheduling.live import live
from idcsched.scheduling.models import Decision
from idcsched.scheduling.replay import Replayed, replay_ranked
from idcsched.scheduling.selectors import decisions_visible
from idcsched.scheduling.why import why

from .decision import decision_visible, lens_of
from .order_form import plain
from .order_words import order_words
from .pages import page, principal_of_page, shown
from .ranked import Ranked, ranked
from .scorers import Scorers

__all__ = ["decision_again"]

WEIGHT: Final = "w."

Document = Mapping[str, Any]


class ReplayForm(forms.Form):
    """On what the question is decided again; a field for each scorer's weight, with its weight then."""

    profile = forms.ChoiceField(label=_("Profile"), required=False)

    def __init__(
        self, *args: Any, weights: Mapping[str, float], scorers: Scorers, then: str, profiles: list[str], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        # declared here, since `data` is what a form calls its input
        choices = [("now", _("of now")), ("then", _("of then"))]
        self.fields["data"] = forms.ChoiceField(label=_("Data"), required=False, choices=choices)
        profile: Any = self.fields["profile"]
        profile.choices = [("", then), *((code, code) for code in profiles)]
        self._weights = weights
        for name in weights:
            self.fields[f"{WEIGHT}{name}"] = forms.FloatField(
                label=capfirst(scorers.words(name)), required=False, min_value=0, max_value=10_000
            )

    @property
    def weight_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith(WEIGHT)]

    def changed_weights(self) -> dict[str, float]:
        """Return the weights that were given and differ from those of then."""
        given = {name: self.cleaned_data.get(f"{WEIGHT}{name}") for name in self._weights}
        return {name: weight for name, weight in given.items() if weight not in (None, self._weights[name])}


@page()
def decision_again(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show a decision beside what would be decided by today's rules."""
    row = decision_visible(decisions_visible(principal_of_page(request)), id)
    found = decision_shown(row, most=MOST_SHOWN)
    state, profile = live.current(), found.outcome.profile if found.outcome else None
    snapshot = found.outcome.cycle.snapshot if found.outcome else state.snapshot
    scores = found.candidates[0]["scores"] if found.candidates else {}
    own = {name: score["nominal_weight"] for name, score in scores.items()}
    form = ReplayForm(
        {"data": "now", **{f"{WEIGHT}{name}": plain(weight) for name, weight in own.items()}, **request.GET.dict()},
        weights=own,
        scorers=Scorers(profile=profile),
        then=f"{row.profile} #{row.profile_revision}",
        profiles=sorted(state.profiles),
    )
    weights = row.request.get("weights")
    then = ranked(found.answer, found.candidates, snapshot, profile=profile, weights=weights)
    replayed, candidates, refusals = _replayed(row, form)
    again = None
    if replayed is not None:
        answer = msgspec.to_builtins(replayed.again)
        ranks = {each["idc"]: each["rank"] for each in found.candidates}
        other = profile if replayed.profile == row.profile else state.profiles.get(replayed.profile)
        result = ranked(answer, candidates, state.snapshot, profile=other, weights=weights, before=ranks)
        again = _side(f"{replayed.profile} #{replayed.revision}", answer, result)
    context = {
        "section": "decisions",
        "decision": row,
        "order": order_words(row.request, state.snapshot),
        "currency": settings.CURRENCY,
        "form": form,
        "refusals": refusals,
        "lens": lens_of(request, then),
        "sides": [_side(f"{row.profile} #{row.profile_revision}", found.answer, then), *([again] if again else [])],
        "again": again,
        "replayed": replayed,
    }
    return shown(request, "decision_again.html", context)


def _replayed(row: Decision, form: ReplayForm) -> tuple[Replayed | None, list[Any], list[str]]:
    """Return what is decided again with all candidates that a page shows, as documents, or why that is refused."""
    if not form.is_valid():
        return None, [], []
    changed = form.changed_weights()
    try:
        replayed, candidates = replay_ranked(
            decision=row,
            most=MOST_SHOWN,
            weights={**(row.request.get("weights") or {}), **changed} if changed else None,
            profile=form.cleaned_data["profile"] or None,
            data=form.cleaned_data["data"] or "now",
        )
    except Invalid as error:
        return None, [], [explained(item) for item in error.errors]
    except IdcschedError as error:
        return None, [], [explained(error)]
    return replayed, msgspec.to_builtins(candidates), []


def _side(title: str, answer: Document, result: Ranked) -> dict[str, Any]:
    """Return what the page shows of one of the two answers."""
    return {
        "title": title,
        "idc": answer["idc"]["code"] if answer.get("idc") else "",
        "paragraphs": why({**answer, "candidates": result.candidates}, result.lens),
        "ranked": result,
    }
