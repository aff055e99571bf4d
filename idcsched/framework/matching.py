"""Selectors over labels, and tolerations of taints, by which requests and operators match IDCs.

A term is `match_labels` AND every one of `match_expressions`; a list of terms is ORed. A missing label
matches `NotIn` and `DoesNotExist` only. An empty term or list is refused: some systems read it as everything,
others as nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

import msgspec

from .decoding import convert, pointer_token
from .errors import FieldError, Invalid
from .messages import _

__all__ = [
    "EFFECTS",
    "EMPTY_SELECTOR_HINT",
    "FACTS",
    "FACT_PREFIX",
    "HARD_EFFECTS",
    "Expression",
    "LabelKey",
    "Labels",
    "Term",
    "Toleration",
    "empty_selector",
    "fact_values",
    "parse_terms",
    "pointed_terms",
    "term_matches",
    "terms_match",
    "tolerated",
    "unknown_facts",
    "unknown_values",
]

FACT_PREFIX = "idc/"
FACTS = ("code", "isp", "partition", "provider", "region", "tier")
"""The facts of an IDC that selectors may name as `idc/…`, beside labels."""
NAMES = MappingProxyType(
    {
        "idc/code": ("unknown_idc", _("there is no IDC {name}")),
        "idc/isp": ("unknown_isp", _("there is no ISP {name}")),
        "idc/region": ("unknown_region", _("there is no region {name}")),
    }
)
"""The facts whose values are names of rows, with the refusal of a name that no row has."""
TIERS = ("center", "edge")
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
HARD_EFFECTS = frozenset({"NoSchedule", "NoExecute"})
MAX_DIGITS = 18  # always fit into 64 bits
EMPTY_SELECTOR_HINT = '{"key": "idc/code", "operator": "Exists"}'

Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
LabelKey = Annotated[str, msgspec.Meta(min_length=1, max_length=128)]
LabelValue = Annotated[str, msgspec.Meta(max_length=256)]
Labels = Mapping[str, str | frozenset[str]]


class Expression(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One condition on one label."""

    key: LabelKey
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]
    values: Annotated[tuple[LabelValue, ...], msgspec.Meta(max_length=1000)] | None = None

    def __post_init__(self) -> None:
        count = len(self.values or ())
        if self.operator in ("In", "NotIn") and not count:
            raise Invalid(
                "values_required", _("{operator} takes at least one value"), "/values", operator=self.operator
            )
        if self.operator in ("Exists", "DoesNotExist") and count:
            raise Invalid("values_not_allowed", _("{operator} takes no values"), "/values", operator=self.operator)
        if self.operator in ("Gt", "Lt") and (count != 1 or label_integer(self.operand) is None):
            raise Invalid(
                "integer_required", _("{operator} takes exactly one integer"), "/values", operator=self.operator
            )

    @property
    def operand(self) -> str:
        return self.values[0] if self.values else ""


class Term(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Labels that must have exactly these values, and conditions that must all hold."""

    match_labels: dict[LabelKey, LabelValue] | None = None
    match_expressions: Annotated[tuple[Expression, ...], msgspec.Meta(max_length=100)] | None = None

    def __post_init__(self) -> None:
        if not self.match_labels and not self.match_expressions:
            raise empty_selector()

    def expressions(self) -> Iterable[Expression]:
        """Yield the whole term as expressions; a matched label is an `In` of one value."""
        for key, value in (self.match_labels or {}).items():
            yield Expression(key=key, operator="In", values=(value,))
        yield from self.match_expressions or ()


class Toleration(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The taints that a request tolerates. No effect: every effect; no key (with `Exists`): every key."""

    key: Annotated[str, msgspec.Meta(max_length=128)] | None = None
    operator: Literal["Equal", "Exists"] | None = None
    value: LabelValue | None = None
    effect: Effect | Literal[""] | None = None

    def __post_init__(self) -> None:
        exists = self.operator == "Exists"
        if not self.key and not exists:
            raise Invalid("exists_required", _("an empty key needs the operator Exists"), "/operator")
        if exists and self.value:
            raise Invalid("value_not_allowed", _("Exists takes no value"), "/value")

    def tolerates(self, key: str, value: str, effect: str) -> bool:
        if self.effect and self.effect != effect:
            return False
        if self.key and self.key != key:
            return False
        return self.operator == "Exists" or (self.value or "") == value


def empty_selector(pointer: str = "") -> Invalid:
    return Invalid(
        "empty_selector",
        _("an empty selector is ambiguous; to match every IDC say {hint}"),
        pointer,
        hint=EMPTY_SELECTOR_HINT,
    )


def parse_terms(document: Any, pointer: str = "") -> tuple[Term, ...]:
    """Decode one term or a list of terms; raises Invalid with pointers below `pointer`."""
    if isinstance(document, list | tuple):
        if not document:
            raise empty_selector(pointer)
        return convert(document, tuple[Term, ...], pointer)
    return (convert(document, Term, pointer),)


def pointed_terms(terms: Term | Iterable[Term] | None, pointer: str) -> Iterator[tuple[str, Term]]:
    """Yield each term with its JSON pointer; `pointer` is that of the one term, or of the list."""
    if isinstance(terms, Term):
        yield pointer, terms
        return
    for position, term in enumerate(terms or ()):
        yield f"{pointer}/{position}", term


def unknown_facts(terms: Iterable[tuple[str, Term]]) -> Iterator[FieldError]:
    """Yield the `idc/…` keys and the tiers that no IDC can have; each of the terms comes with its JSON pointer."""
    terms = list(terms)
    for pointer, term in terms:
        keys = [(f"{pointer}/match_labels", key) for key in term.match_labels or ()]
        keys += [
            (f"{pointer}/match_expressions/{number}/key", expression.key)
            for number, expression in enumerate(term.match_expressions or ())
        ]
        for position, key in keys:
            if key.startswith(FACT_PREFIX) and key.removeprefix(FACT_PREFIX) not in FACTS:
                known = ", ".join(f"{FACT_PREFIX}{fact}" for fact in FACTS)
                yield FieldError(
                    position, "unknown_fact", _("there is no {name}; there are {known}"), {"name": key, "known": known}
                )
    for position, key, value in fact_values(terms):
        if key == "idc/tier" and value not in TIERS:
            choices = ", ".join(TIERS)
            yield FieldError(position, "invalid_choice", _("this must be one of {choices}"), {"choices": choices})


def unknown_values(terms: Iterable[tuple[str, Term]], exists: Callable[[str, str], bool]) -> Iterator[FieldError]:
    """Yield the names that no row has, by which a term would match nothing, or everything.

    `exists` tells for a key of `NAMES` and a name whether there is such a row; each of the terms comes with its JSON
    pointer.
    """
    for position, key, value in fact_values(terms):
        if key in NAMES and not exists(key, value):
            code, detail = NAMES[key]
            yield FieldError(position, code, detail, {"name": value})


def fact_values(terms: Iterable[tuple[str, Term]]) -> Iterator[tuple[str, str, str]]:
    """Yield each value that a term compares a fact `idc/…` with: its JSON pointer, the fact and the value."""
    for pointer, term in terms:
        for key, value in (term.match_labels or {}).items():
            if key.startswith(FACT_PREFIX):
                yield f"{pointer}/match_labels/{pointer_token(key)}", key, value
        for number, expression in enumerate(term.match_expressions or ()):
            if expression.key.startswith(FACT_PREFIX) and expression.operator in ("In", "NotIn"):
                for position, value in enumerate(expression.values or ()):
                    yield f"{pointer}/match_expressions/{number}/values/{position}", expression.key, value


def terms_match(terms: Iterable[Term], labels: Labels) -> bool:
    """Return whether one of the terms matches the labels."""
    return any(term_matches(term, labels) for term in terms)


def term_matches(term: Term, labels: Labels) -> bool:
    """Return whether every part of the term holds. On a many-valued label `In` means any, `NotIn` none."""
    return all(_expression_matches(expression, labels) for expression in term.expressions())


def _expression_matches(expression: Expression, labels: Labels) -> bool:
    value = labels.get(expression.key)
    if not value and value != "":
        return expression.operator in ("NotIn", "DoesNotExist")
    values = value if isinstance(value, frozenset) else frozenset((value,))
    match expression.operator:
        case "In":
            return not values.isdisjoint(expression.values or ())
        case "NotIn":
            return values.isdisjoint(expression.values or ())
        case "Exists":
            return True
        case "DoesNotExist":
            return False
        case order:
            bound = label_integer(expression.operand)
            return any(integer_passes(order, label_integer(text), bound) for text in values)


def integer_passes(order: str, value: int | None, bound: int | None) -> bool:
    """Compare by `Gt` or `Lt`; a value that is no integer never passes."""
    if value is None or bound is None:
        return False
    return value > bound if order == "Gt" else value < bound


def label_integer(text: str) -> int | None:
    """Return a label's value as an integer; None for other text, also with blanks, underscores or a plus sign."""
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= MAX_DIGITS else None


def tolerated(tolerations: Iterable[Toleration], key: str, value: str, effect: str) -> bool:
    """Return whether one of the tolerations tolerates the taint."""
    return any(toleration.tolerates(key, value, effect) for toleration in tolerations)
