"""The names in a source's values that match no IDC or line, and what each may stand for."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from idcsched.inventory.models import Idc
from idcsched.inventory.scope import idcs_within
from metrics_ingest.models import Run, RunState, Source
from metrics_ingest.samples.names import Names

__all__ = ["UnmatchedName", "latest_run", "names_unmatched"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmatchedName:
    """A name that matches nothing: an IDC's or, in IDCs that are known, that of one of their lines.

    It is empty where records name none. `idcs` are those in which it was seen as a line's name; none: it is an IDC's.
    `codes` are those that it may stand for, `near` is the one of these that it seems to mean, or empty.
    """

    name: str
    idcs: tuple[str, ...] = ()
    count: int
    codes: Collection[str]
    near: str


def latest_run(source: Source) -> Run | None:
    """Return the latest run that brought an answer or an error."""
    over = source.runs.filter(state__in=(RunState.SUCCEEDED, RunState.FAILED))
    found: Run | None = over.order_by("-id").first()
    return found


def names_unmatched(source: Source, run: Run | None) -> list[UnmatchedName]:
    """Return the names of that run which match nothing under the source's mapping of now, the most frequent first.

    The lines of an IDC that has been mapped since are left to the next run.
    """
    idcs, lines, in_idcs = Counter[str](), Counter[str](), defaultdict[str, list[str]](list)
    names = Names.read()
    for row in run.unmatched_names if run else ():
        idc, line = _translated(source, "idcs", row["idc"]), _translated(source, "lines", row["line"] or "")
        if idc not in names.lines:
            idcs[idc] += row["count"]
        elif idc == row["idc"] and names.line_of(idc, line) is None:
            lines[line] += row["count"]
            in_idcs[line].append(idc)
    found = [_unmatched_line(name, lines[name], in_idcs[name], names) for name in lines]
    if idcs:
        codes, meant = _reachable(source)
        found += [
            UnmatchedName(name=name, count=count, codes=codes, near=meant.get(_plain(name), ""))
            for name, count in idcs.items()
        ]
    return sorted(found, key=lambda name: -name.count)


def _translated(source: Source, field: str, name: str) -> str:
    code: str = source.mapping.get(field, {}).get(name, name)
    return code


def _unmatched_line(name: str, count: int, idcs: list[str], names: Names) -> UnmatchedName:
    codes = sorted(frozenset().union(*(names.lines[idc] for idc in idcs)))
    near = _meant((code, code) for code in codes).get(_plain(name), "")
    return UnmatchedName(name=name, idcs=tuple(sorted(idcs)), count=count, codes=codes, near=near)


def _reachable(source: Source) -> tuple[Collection[str], Mapping[str, str]]:
    """Return the codes of the IDCs that the source may write, and these codes by what the IDCs are called."""
    rows = Idc.objects.all() if source.regions is None else Idc.objects.filter(pk__in=idcs_within(source.regions))
    titles = dict(rows.order_by("code").values_list("code", "name"))
    return titles, _meant([(code, code) for code in titles] + [(title, code) for code, title in titles.items()])


def _meant(named: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the codes by their names, written plainly; a name that means several codes is left out."""
    codes: dict[str, set[str]] = {}
    for name, code in named:
        codes.setdefault(_plain(name), set()).add(code)
    return {name: found.pop() for name, found in codes.items() if name and len(found) == 1}


def _plain(name: str) -> str:
    """Return the name in lower case and without what stands between its letters and digits."""
    return "".join(filter(str.isalnum, name.casefold()))
