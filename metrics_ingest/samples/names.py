"""The names by which sources may refer to IDCs and lines: codes, and for lines also the aliases of their ISPs."""

from collections.abc import Mapping
from dataclasses import dataclass

from idcsched.inventory.models import Idc, Isp, Line
from metrics_ingest.models import Metric, Scope

__all__ = ["Names"]


@dataclass(frozen=True, slots=True)
class Names:
    """The known names, read once for a run."""

    lines: Mapping[str, frozenset[str]]
    """The codes of each IDC's lines, by its code."""
    aliases: Mapping[str, str]
    about_lines: frozenset[str]

    @classmethod
    def read(cls) -> "Names":
        lines: dict[str, set[str]] = {code: set() for code in Idc.objects.order_by().values_list("code", flat=True)}
        for idc, line in Line.objects.order_by().values_list("idc__code", "code"):
            lines[idc].add(line)
        isps = Isp.objects.order_by().values_list("code", "aliases")
        return cls(
            lines={idc: frozenset(codes) for idc, codes in lines.items()},
            aliases={alias.lower(): code for code, aliases in isps for alias in (code, *aliases)},
            about_lines=frozenset(Metric.objects.filter(scope=Scope.LINE).values_list("code", flat=True)),
        )

    def match(self, idc: str, line: str | None, metric: str) -> tuple[str, str | None] | None:
        """Return the codes of a value's IDC and line (None for a metric about IDCs); None where a name is unknown."""
        if idc not in self.lines:
            return None
        if metric not in self.about_lines:
            return idc, None
        code = self.line_of(idc, line or "")
        return None if code is None else (idc, code)

    def line_of(self, idc: str, line: str) -> str | None:
        """Return the code of the IDC's line that has this code, or whose ISP is called so; None where there is none."""
        codes = (line, self.aliases.get(line.lower(), ""))
        return next((code for code in codes if code in self.lines[idc]), None)
