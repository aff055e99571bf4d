"""A collector of a kind that is taken."""

from collections.abc import Iterable

from metrics_ingest.collector import Ask, Collector, Record


class Usurper(Collector):
    """A collector that returns no records."""

    kind = "csv"

    def collect(self, ask: Ask) -> Iterable[Record]:
        return ()
