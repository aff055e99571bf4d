"""Checks whether the refusals that a crowd got are true, by the log of events and by the times of kills."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from idcsched.placement.waiting import UNTIL_NEXT
from tests.e2e.crowd import BUSY, Answer, Needs
from tests.e2e.event_log import Book

__all__ = ["Auditor"]

LAG = 5.0
"""Seconds by which a picture may be behind, and by which SQLite's events are made before they are committed."""
SERVED = {
    "reserve": {201}, "recommend": {200}, "commit": {201}, "gang": {200}, "spread": {201}, "wait": {201, 202},
    "confirm": {200}, "release": {200},
}  # fmt: skip
MOVED_FROM = {"confirm": {"reserved"}, "release": {"waiting", "reserved", "active"}}
LINE = "ct"
SHORTEST_TTL = 1.0
"""Seconds for which a portal of the crowd reserves at least."""


@dataclass(frozen=True, slots=True)
class Auditor:
    """Judges answers; `deaths` has the times when each web process was killed, by its port."""

    book: Book
    idcs: Sequence[str]
    deaths: Mapping[int, Sequence[float]]

    def complaints(self, answers: Sequence[Answer]) -> list[Answer]:
        """Return the answers that were wrong, and the requests that were lost although no process was killed."""
        heard = defaultdict(list)
        for answer in answers:
            if answer.status is not None:
                heard[answer.port].append(answer)
        return [answer for answer in answers if not self._is_true(answer, heard[answer.port])]

    def _is_true(self, answer: Answer, heard: Iterable[Answer]) -> bool:
        if answer.status is None:
            return self._was_killed(answer, heard)
        if answer.status == 503:
            return answer.code == "database_unavailable"
        if answer.status == 409:
            return self._is_true_conflict(answer)
        return answer.status in SERVED[answer.what] and (
            answer.what != "recommend" or "commit_token" in answer.body or self._had_no_room(answer)
        )

    def _was_killed(self, answer: Answer, heard: Iterable[Answer]) -> bool:
        """Whether the web process was killed, and its successor had answered nobody before this request was sent."""
        deaths = [death for death in self.deaths[answer.port] if death <= answer.answered]
        return bool(deaths) and not any(deaths[-1] < one.asked and one.answered < answer.asked for one in heard)

    def _is_true_conflict(self, answer: Answer) -> bool:
        match answer.what, answer.code:
            case "reserve", code if code == BUSY:
                return answer.again
            case "reserve" | "spread", "no_feasible_idc" | "conflict":
                return self._could_not_be_had(answer)
            case "commit", "decision_outdated":
                return self._had_no_room(answer)
            case "gang", "gang_not_placed":
                return self._is_true_of_a_gang(answer)
            case ("confirm" | "release") as move, "invalid_transition":
                return self._cannot_move(answer, MOVED_FROM[move])
            case _:
                return False

    def _could_not_be_had(self, answer: Answer) -> bool:
        """Whether the order fitted nowhere, or lost against others at each attempt."""
        if answer.code == "conflict":
            return bool(answer.body["decision"]["result"] == "scheduled")
        if "kept for orders that wait" in answer.body["detail"]:
            return self._room_was_kept(answer)
        return len(self._with_room_for(answer, answer.needs[:1])) < len(answer.needs)

    def _is_true_of_a_gang(self, answer: Answer) -> bool:
        """Whether the gang lost against others at each attempt, or there was no room for it."""
        codes = {problem.get("code") for problem in answer.body["results"]} - {None}
        return codes == {"conflict"} or (codes == {"no_feasible_idc"} and self._had_no_room(answer))

    def _had_no_room(self, answer: Answer) -> bool:
        """Whether the wanted IDC, or every IDC, lacked room for all of it, or room may have been kept for others."""
        roomy = self._with_room_for(answer, answer.needs)
        return (answer.recommended not in roomy if answer.recommended else not roomy) or self._room_was_kept(answer)

    def _room_was_kept(self, answer: Answer) -> bool:
        """Whether an order was waiting shortly before: room that is given back is kept for it until the next round."""
        return self.book.anybody_waited(answer.asked - UNTIL_NEXT.total_seconds() - LAG, answer.answered)

    def _cannot_move(self, answer: Answer, movable: set[str]) -> bool:
        between = self.book.states_between(answer.placement, answer.asked - LAG, answer.answered)
        if answer.answered - self.book.entered(answer.placement, answer.answered) >= SHORTEST_TTL - LAG:
            between |= {"expired"}  # its time may be up, though nobody has let it expire yet
        return any(f"that is {state} cannot" in answer.body["detail"] for state in between - movable)

    def _with_room_for(self, answer: Answer, all_needs: Sequence[Needs]) -> list[str]:
        """Return the IDCs in which all needs together fitted during the whole request."""
        since, until = answer.asked - LAG, answer.answered
        together = {resource: sum(needs[resource] for needs in all_needs) for resource in ("bandwidth_mbps", "cpu")}
        lines = {"bandwidth_mbps": LINE, "cpu": ""}
        return [
            idc
            for idc in self.idcs
            if all(
                self.book.room((idc, lines[resource], resource), since, until) >= amount
                for resource, amount in together.items()
            )
        ]
