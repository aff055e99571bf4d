"""One decision: in sentences, as bars and tables, what became of it, and the same question decided again."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import msgspec
from django import forms
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _

from idcsched.framework.errors import IdcschedError, Invalid
from idcsched.framework.explain import MOST_SHOWN
from idcsched.language.wording import explained
from idcsched.placement.models import Placement
from idcsched.scheduling.decision_page import SHOWN, decision_shown
from idcsched.scheduling.models import Decision, Profile
from idcsched.scheduling.prose import Story, paragraphs, reason_why_not, story
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.replay import Replayed, replay
from idcsched.scheduling.selectors import decisions_visible, profile_codes

from .pages import page, principal_of_page, shown
from .ranking import ranking, words_of_scorer

__all__ = ["decision"]

SAME_ORDER: Final = 10
"""The most other decisions about the same order, and the most placements, that the page lists."""
MOST_REASONS: Final = 5
"""The most IDCs of which the page says why they were not chosen, of those whose codes match what was typed."""
WEIGHT: Final = "weight-"


class ReplayForm(forms.Form):
    """On what the question is decided again; a field for each scorer's weight, with its weight then."""

    on = forms.ChoiceField(
        label=_("Data"), required=False, choices=[("then", _("of then")), ("now", _("of now"))], initial="then"
    )
    profile = forms.ChoiceField(label=_("Profile"), required=False)

    def __init__(self, *args: Any, weights: Mapping[str, float], then: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        profile: Any = self.fields["profile"]
        profile.choices = [("", then), *((code, code) for code in profile_codes())]
        self._weights = weights
        for name, weight in weights.items():
            self.fields[f"{WEIGHT}{name}"] = forms.FloatField(
                label=name, required=False, min_value=0, max_value=10_000, initial=weight
            )

    @property
    def weight_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith(WEIGHT)]

    def changed_weights(self) -> dict[str, float]:
        """Return the weights that were given and differ from those of then."""
        given = {name: self.cleaned_data.get(f"{WEIGHT}{name}") for name in self._weights}
        return {name: weight for name, weight in given.items() if weight not in (None, self._weights[name])}


@page()
def decision(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show a decision, in sentences first; with `again` in the address also what would be decided otherwise."""
    recorder.settle(str(id))
    visible = decisions_visible(principal_of_page(request))
    row = get_object_or_404(visible.select_related("tenant"), pk=id)
    asked = request.GET.get("why", "").strip()[:63]
    page_of_row = decision_shown(row, most=MOST_SHOWN if asked else SHOWN)
    candidates, rejected = page_of_row.candidates, page_of_row.rejected
    told = _story(page_of_row.answer, candidates=candidates, rejected=rejected)
    context = {
        "section": "decisions",
        "decision": row,
        "shown": page_of_row,
        "answer": page_of_row.answer,
        "paragraphs": list(paragraphs(told)) if told else [page_of_row.answer.get("summary", "")],
        "why": asked,
        "reasons": _reasons(told, asked) if told and asked else [],
        "candidates": candidates[:SHOWN],
        "candidates_more": len(candidates[SHOWN:]),
        "ranking": ranking(candidates),
        "scorers": {name: words_of_scorer(name) for candidate in candidates[:1] for name in candidate["scores"]},
        "rejected": rejected[:SHOWN],
        "rejected_more": page_of_row.rejected_more + len(rejected[SHOWN:]),
        "placements": Placement.objects.filter(Q(decision_id=row.pk) | Q(based_on=row.pk) | Q(pk=row.placement))
        .select_related("idc")
        .order_by("id")[:SAME_ORDER],
        "same_order": _same_order(visible, row),
        "profile_exists": Profile.objects.filter(code=row.profile).exists(),
        **_again(request, row, candidates),
    }
    return shown(request, "decision.html", context)


def _story(answer: Mapping[str, Any], **changes: Any) -> Story | None:
    """Return what is to be told of an answer; None for a record in an older form that has not all that it takes."""
    try:
        return story(answer, **changes)
    except Invalid:
        return None


def _reasons(told: Story, asked: str) -> list[str]:
    """Return why the IDCs whose codes contain the text were not chosen."""
    codes = [candidate.idc for candidate in told.candidates or ()] + [each.idc for each in told.rejected or ()]
    matching = [code for code in codes if asked.lower() in code.lower()]
    return [reason for code in matching[:MOST_REASONS] if (reason := reason_why_not(told, code))]


def _same_order(visible: Any, row: Decision) -> Sequence[Decision]:
    """Return the other decisions about the order, the newest first."""
    if not row.request_id:
        return ()
    others = visible.filter(request_id=row.request_id).exclude(pk=row.pk)
    return list(others.only("id", "created_at", "result", "idc", "profile", "request_id")[:SAME_ORDER])


def _again(request: HttpRequest, row: Decision, candidates: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the form for deciding again, and, if that was asked for, what is decided now."""
    scores = candidates[0]["scores"] if candidates else {}
    weights = {name: score["nominal_weight"] for name, score in scores.items()}
    then = f"{row.profile} #{row.profile_revision}"
    if "again" not in request.GET:
        return {"form": ReplayForm(weights=weights, then=then)}
    form = ReplayForm({"on": "then", **request.GET.dict()}, weights=weights, then=then)
    if not form.is_valid():
        return {"form": form}
    changed = form.changed_weights()
    try:
        replayed = replay(
            decision=row,
            weights={**(row.request.get("weights") or {}), **changed} if changed else None,
            profile=form.cleaned_data["profile"] or None,
            data=form.cleaned_data["on"] or "then",
        )
    except Invalid as error:
        return {"form": form, "refusals": [explained(item) for item in error.errors]}
    except IdcschedError as error:
        return {"form": form, "refusals": [explained(error)]}
    return {"form": form, "again": _side(replayed, candidates)}


def _side(replayed: Replayed, candidates: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the page shows of the answer that was given again."""
    answer: dict[str, Any] = msgspec.to_builtins(replayed.again)
    return {
        "replayed": replayed,
        "answer": answer,
        "paragraphs": list(paragraphs(story(replayed.again))),
        "ranking": ranking(answer.get("candidates") or [], beside=candidates),
    }
