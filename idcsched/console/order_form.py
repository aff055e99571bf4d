"""The fields of an order that is tried; rows of them may repeat, as groups of machines and suppositions do.

Parameters of the page's address that repeat belong to rows: the n-th value of each to the n-th row.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, ClassVar, Final

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from idcsched.framework.capacity import BANDWIDTH
from idcsched.framework.profile import Entry
from idcsched.inventory.choices import Status

from .effects import effect_choices
from .scorers import scorer_words

__all__ = [
    "IDCS",
    "LIFTED",
    "MACHINES",
    "MOST_WEIGHT",
    "TAINTS",
    "LiftedRow",
    "LineRow",
    "MachineRow",
    "OrderFields",
    "RowForm",
    "StatusRow",
    "TaintRow",
    "WeightFields",
    "plain",
]

MACHINES: Final = "/machines"
TAINTS, LIFTED, IDCS = (f"/hypothetical/{name}" for name in ("taints", "ignore_taints", "idcs"))
MOST_WEIGHT: Final = 10_000

Document = dict[str, Any]


def plain(value: Any) -> Any:
    """Return a whole number without decimals, as a person would write it in JSON."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _amount(label: Any) -> forms.FloatField:
    return forms.FloatField(label=label, required=False, widget=_number_input("decimal"))


def _number_input(mode: str, **attributes: Any) -> forms.TextInput:
    """Return a text input, which, unlike a number input, shows again what was typed and is no number."""
    return forms.TextInput(attrs={"size": 7, "inputmode": mode, "autocomplete": "off", **attributes})


def _text(label: Any, *, most: int = 255, **attributes: Any) -> forms.CharField:
    """Return a text field; the attribute `list` names the list of what it suggests."""
    widget = forms.TextInput(attrs={"size": 16, "autocomplete": "off", **attributes})
    return forms.CharField(label=label, required=False, max_length=most, widget=widget)


class OrderFields(forms.Form):
    """The fields that do not repeat. Names are left to the engine, which refuses them in the words of the API."""

    region = forms.CharField(label=_("region"), required=False)
    isp = forms.MultipleChoiceField(label=_("ISP"), required=False, widget=forms.CheckboxSelectMultiple)
    isp_match = forms.CharField(label=_("of several ISPs"), required=False)
    client = _text(_("client: region, or latitude,longitude"), list="regions")
    tenant = forms.CharField(label=_("tenant"), required=False)
    business = _text(_("business"), most=256, list="businesses")
    shape_of = forms.CharField(label=_("traffic shape"), required=False)
    shape = forms.CharField(
        label=_("24 numbers, one for each hour from midnight on"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "class": "document", "spellcheck": "false"}),
    )
    request_id = _text(_("order number (decides ties)"))
    profile = forms.CharField(label=_("profile"), required=False)

    def offer(self, name: str, choices: Iterable[tuple[str, Any]]) -> None:
        """Let a field be chosen from a list; what the page's address names beyond the list stays chosen."""
        listed, given = list(choices), str(self.data.get(name, ""))
        if given and all(given != value for value, _label in listed):
            listed.append((given, given))
        self.fields[name].widget = forms.Select({"form": "order"}, choices=listed)

    def offer_isps(self, codes: Iterable[str]) -> None:
        """Let ISPs be ticked; those that the page's address names beyond the known ones stay ticked."""
        given = self.data.getlist("isp") if isinstance(self.data, QueryDict) else []
        field = self.fields["isp"]
        assert isinstance(field, forms.MultipleChoiceField)  # noqa: S101  # as declared above
        field.choices = [(code, code) for code in dict.fromkeys([*codes, *given])]

    def clean_client(self) -> Document | None:
        """Parse a region's code, or latitude and longitude."""
        latitude, comma, longitude = (part.strip() for part in str(self.cleaned_data["client"]).partition(","))
        if not comma:
            return {"region": latitude} if latitude else None
        number = forms.FloatField()
        return {"latitude": number.clean(latitude), "longitude": number.clean(longitude)}

    def clean_shape(self) -> list[float]:
        number = forms.FloatField(min_value=0)
        return [plain(number.clean(text)) for text in str(self.cleaned_data["shape"]).replace(",", " ").split()]


class WeightFields(forms.Form):
    """The weights of a profile's scorers."""

    prefix_of_names: ClassVar = "weight."

    def __init__(self, scorers: Sequence[Entry], given: QueryDict) -> None:
        named = {self.prefix_of_names + entry.name: entry for entry in scorers}
        super().__init__({name: given.get(name) or plain(entry.weight) for name, entry in named.items()})
        for name, entry in named.items():
            widget = _number_input("decimal", **{"data-own": plain(entry.weight), "form": "order"})
            self.fields[name] = forms.FloatField(
                label=scorer_words(entry), min_value=0, max_value=MOST_WEIGHT, widget=widget
            )


class RowForm(forms.Form):
    """One row of parameters that may repeat."""

    pointers: ClassVar[Mapping[str, str]] = {}
    """The row's fields by their pointers in the row's part of the request, where the two have different names."""

    @classmethod
    def rows(cls, given: QueryDict) -> list["RowForm"]:
        """Return a form for each row of the page's address that says something."""
        names = list(cls.base_fields)
        values = zip_longest(*(given.getlist(name) for name in names), fillvalue="")
        texts = [name for name, field in cls.base_fields.items() if not isinstance(field, forms.ChoiceField)]
        rows = [dict(zip(names, row, strict=True)) for row in values]
        filled = [row for row in rows if any(row[name].strip() for name in texts)]
        return [cls(row, auto_id=f"id_%s_{number}") for number, row in enumerate(filled)]

    @classmethod
    def blank(cls, number: int) -> "RowForm":
        """Return the form of one more row."""
        return cls(auto_id=f"id_%s_{number}")

    def filled(self) -> Document:
        """Return what was filled in, by the names of the request's fields."""
        named = {name: pointer for pointer, name in self.pointers.items()}
        given = {name: value for name, value in self.cleaned_data.items() if value not in (None, "")}
        return {named.get(name, name): plain(value) for name, value in given.items()}


class MachineRow(RowForm):
    """A group of machines of one shape."""

    count = forms.IntegerField(label=_("machines"), required=False, widget=_number_input("numeric"))
    bandwidth_mbps = _amount(_("Mbps each"))
    cpu = _amount(_("cores"))
    memory_gib = _amount(_("memory, GiB"))
    disk_gib = _amount(_("disk, GiB"))
    gpu = _amount(_("GPUs"))


class TaintRow(RowForm):
    """A taint that is supposed."""

    pointers: ClassVar = {"idc": "taint_idc", "key": "taint_key", "effect": "taint_effect"}
    taint_idc = _text(_("IDC"), list="idcs")
    taint_key = _text(_("taint"), list="taints")
    taint_effect = forms.ChoiceField(label=_("effect"), required=False, choices=effect_choices)


class LiftedRow(RowForm):
    """A taint that is supposed to be lifted."""

    pointers: ClassVar = {"idc": "lifted_idc", "key": "lifted_key"}
    lifted_idc = _text(_("IDC"), list="idcs")
    lifted_key = _text(_("taint"), list="taints")


class StatusRow(RowForm):
    """The state that an IDC is supposed to be in."""

    pointers: ClassVar = {"code": "status_idc"}
    status_idc = _text(_("IDC"), list="idcs")
    status = forms.ChoiceField(label=_("state"), required=False, choices=Status.choices)


class LineRow(RowForm):
    """What is supposed of one line."""

    pointers: ClassVar = {"code": "line", "lines/0/line": "line", f"lines/0/metrics/{BANDWIDTH}": "used_mbps"} | {
        f"lines/0/{name}": name for name in ("price_per_mbps", "purchased_mbps", "commit_mbps")
    }
    line = _text(_("IDC/line"), list="lines")
    used_mbps = _amount(_("used Mbps"))
    price_per_mbps = _amount(_("price per Mbps"))
    purchased_mbps = _amount(_("purchased Mbps"))
    commit_mbps = _amount(_("commit Mbps"))

    def filled(self) -> Document:
        """Return the IDC with what is supposed of its line."""
        given = {name: plain(value) for name, value in self.cleaned_data.items() if value not in (None, "")}
        idc, _slash, line = given.pop("line", "").partition("/")
        used = given.pop("used_mbps", None)
        metrics = {} if used is None else {"metrics": {BANDWIDTH: used}}
        return {"code": idc.strip(), "lines": [{"line": line.strip(), **given, **metrics}]}
