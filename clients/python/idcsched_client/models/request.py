from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.request_action_type_0 import RequestActionType0, check_request_action_type_0
from ..models.request_explain_type_0 import RequestExplainType0, check_request_explain_type_0
from ..models.request_isp_match_type_0 import RequestIspMatchType0, check_request_isp_match_type_0
from ..models.request_tier_type_0 import RequestTierType0, check_request_tier_type_0
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.client import Client
    from ..models.hypothetical import Hypothetical
    from ..models.machine import Machine
    from ..models.planned import Planned
    from ..models.preference import Preference
    from ..models.request_labels_type_0 import RequestLabelsType0
    from ..models.request_weights_type_0 import RequestWeightsType0
    from ..models.spread import Spread
    from ..models.term import Term
    from ..models.toleration import Toleration


T = TypeVar("T", bound="Request")


@_attrs_define
class Request:
    """A scheduling request: where should these machines stand?

    Attributes:
        action (None | RequestActionType0 | Unset):
        request_id (None | str | Unset):
        profile (None | str | Unset):
        region (list[str] | None | str | Unset):
        only (list[str] | None | Unset):
        exclude (list[str] | None | Unset):
        isp (list[str] | None | str | Unset):
        isp_match (None | RequestIspMatchType0 | Unset):
        tier (None | RequestTierType0 | Unset):
        partition (None | str | Unset):
        selector (list[Term] | None | Term | Unset):
        prefer (list[Preference] | None | Unset):
        tolerations (list[Toleration] | None | Unset):
        labels (None | RequestLabelsType0 | Unset):
        machines (list[Machine] | None | Unset):
        client (Client | None | Unset):
        shape (list[float] | None | Unset):
        weights (None | RequestWeightsType0 | Unset):
        fallback (list[Term] | None | Unset):
        spread (None | Spread | Unset):
        planned (None | Planned | Unset):
        hypothetical (Hypothetical | None | Unset):
        top (int | None | Unset):
        explain (None | RequestExplainType0 | Unset):
        tenant (None | str | Unset):
        ttl_seconds (int | None | Unset):
        wait_seconds (int | None | Unset):
        priority (int | None | Unset):
        callback_url (None | str | Unset):
    """

    action: None | RequestActionType0 | Unset = UNSET
    request_id: None | str | Unset = UNSET
    profile: None | str | Unset = UNSET
    region: list[str] | None | str | Unset = UNSET
    only: list[str] | None | Unset = UNSET
    exclude: list[str] | None | Unset = UNSET
    isp: list[str] | None | str | Unset = UNSET
    isp_match: None | RequestIspMatchType0 | Unset = UNSET
    tier: None | RequestTierType0 | Unset = UNSET
    partition: None | str | Unset = UNSET
    selector: list[Term] | None | Term | Unset = UNSET
    prefer: list[Preference] | None | Unset = UNSET
    tolerations: list[Toleration] | None | Unset = UNSET
    labels: None | RequestLabelsType0 | Unset = UNSET
    machines: list[Machine] | None | Unset = UNSET
    client: Client | None | Unset = UNSET
    shape: list[float] | None | Unset = UNSET
    weights: None | RequestWeightsType0 | Unset = UNSET
    fallback: list[Term] | None | Unset = UNSET
    spread: None | Spread | Unset = UNSET
    planned: None | Planned | Unset = UNSET
    hypothetical: Hypothetical | None | Unset = UNSET
    top: int | None | Unset = UNSET
    explain: None | RequestExplainType0 | Unset = UNSET
    tenant: None | str | Unset = UNSET
    ttl_seconds: int | None | Unset = UNSET
    wait_seconds: int | None | Unset = UNSET
    priority: int | None | Unset = UNSET
    callback_url: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.client import Client
        from ..models.hypothetical import Hypothetical
        from ..models.planned import Planned
        from ..models.request_labels_type_0 import RequestLabelsType0
        from ..models.request_weights_type_0 import RequestWeightsType0
        from ..models.spread import Spread
        from ..models.term import Term

        action: None | str | Unset
        if isinstance(self.action, Unset):
            action = UNSET
        elif isinstance(self.action, str):
            action = self.action
        else:
            action = self.action

        request_id: None | str | Unset
        if isinstance(self.request_id, Unset):
            request_id = UNSET
        else:
            request_id = self.request_id

        profile: None | str | Unset
        if isinstance(self.profile, Unset):
            profile = UNSET
        else:
            profile = self.profile

        region: list[str] | None | str | Unset
        if isinstance(self.region, Unset):
            region = UNSET
        elif isinstance(self.region, list):
            region = self.region

        else:
            region = self.region

        only: list[str] | None | Unset
        if isinstance(self.only, Unset):
            only = UNSET
        elif isinstance(self.only, list):
            only = self.only

        else:
            only = self.only

        exclude: list[str] | None | Unset
        if isinstance(self.exclude, Unset):
            exclude = UNSET
        elif isinstance(self.exclude, list):
            exclude = self.exclude

        else:
            exclude = self.exclude

        isp: list[str] | None | str | Unset
        if isinstance(self.isp, Unset):
            isp = UNSET
        elif isinstance(self.isp, list):
            isp = self.isp

        else:
            isp = self.isp

        isp_match: None | str | Unset
        if isinstance(self.isp_match, Unset):
            isp_match = UNSET
        elif isinstance(self.isp_match, str):
            isp_match = self.isp_match
        else:
            isp_match = self.isp_match

        tier: None | str | Unset
        if isinstance(self.tier, Unset):
            tier = UNSET
        elif isinstance(self.tier, str):
            tier = self.tier
        else:
            tier = self.tier

        partition: None | str | Unset
        if isinstance(self.partition, Unset):
            partition = UNSET
        else:
            partition = self.partition

        selector: dict[str, Any] | list[dict[str, Any]] | None | Unset
        if isinstance(self.selector, Unset):
            selector = UNSET
        elif isinstance(self.selector, list):
            selector = []
            for selector_type_0_item_data in self.selector:
                selector_type_0_item = selector_type_0_item_data.to_dict()
                selector.append(selector_type_0_item)

        elif isinstance(self.selector, Term):
            selector = self.selector.to_dict()
        else:
            selector = self.selector

        prefer: list[dict[str, Any]] | None | Unset
        if isinstance(self.prefer, Unset):
            prefer = UNSET
        elif isinstance(self.prefer, list):
            prefer = []
            for prefer_type_0_item_data in self.prefer:
                prefer_type_0_item = prefer_type_0_item_data.to_dict()
                prefer.append(prefer_type_0_item)

        else:
            prefer = self.prefer

        tolerations: list[dict[str, Any]] | None | Unset
        if isinstance(self.tolerations, Unset):
            tolerations = UNSET
        elif isinstance(self.tolerations, list):
            tolerations = []
            for tolerations_type_0_item_data in self.tolerations:
                tolerations_type_0_item = tolerations_type_0_item_data.to_dict()
                tolerations.append(tolerations_type_0_item)

        else:
            tolerations = self.tolerations

        labels: dict[str, Any] | None | Unset
        if isinstance(self.labels, Unset):
            labels = UNSET
        elif isinstance(self.labels, RequestLabelsType0):
            labels = self.labels.to_dict()
        else:
            labels = self.labels

        machines: list[dict[str, Any]] | None | Unset
        if isinstance(self.machines, Unset):
            machines = UNSET
        elif isinstance(self.machines, list):
            machines = []
            for machines_type_0_item_data in self.machines:
                machines_type_0_item = machines_type_0_item_data.to_dict()
                machines.append(machines_type_0_item)

        else:
            machines = self.machines

        client: dict[str, Any] | None | Unset
        if isinstance(self.client, Unset):
            client = UNSET
        elif isinstance(self.client, Client):
            client = self.client.to_dict()
        else:
            client = self.client

        shape: list[float] | None | Unset
        if isinstance(self.shape, Unset):
            shape = UNSET
        elif isinstance(self.shape, list):
            shape = self.shape

        else:
            shape = self.shape

        weights: dict[str, Any] | None | Unset
        if isinstance(self.weights, Unset):
            weights = UNSET
        elif isinstance(self.weights, RequestWeightsType0):
            weights = self.weights.to_dict()
        else:
            weights = self.weights

        fallback: list[dict[str, Any]] | None | Unset
        if isinstance(self.fallback, Unset):
            fallback = UNSET
        elif isinstance(self.fallback, list):
            fallback = []
            for fallback_type_0_item_data in self.fallback:
                fallback_type_0_item = fallback_type_0_item_data.to_dict()
                fallback.append(fallback_type_0_item)

        else:
            fallback = self.fallback

        spread: dict[str, Any] | None | Unset
        if isinstance(self.spread, Unset):
            spread = UNSET
        elif isinstance(self.spread, Spread):
            spread = self.spread.to_dict()
        else:
            spread = self.spread

        planned: dict[str, Any] | None | Unset
        if isinstance(self.planned, Unset):
            planned = UNSET
        elif isinstance(self.planned, Planned):
            planned = self.planned.to_dict()
        else:
            planned = self.planned

        hypothetical: dict[str, Any] | None | Unset
        if isinstance(self.hypothetical, Unset):
            hypothetical = UNSET
        elif isinstance(self.hypothetical, Hypothetical):
            hypothetical = self.hypothetical.to_dict()
        else:
            hypothetical = self.hypothetical

        top: int | None | Unset
        if isinstance(self.top, Unset):
            top = UNSET
        else:
            top = self.top

        explain: None | str | Unset
        if isinstance(self.explain, Unset):
            explain = UNSET
        elif isinstance(self.explain, str):
            explain = self.explain
        else:
            explain = self.explain

        tenant: None | str | Unset
        if isinstance(self.tenant, Unset):
            tenant = UNSET
        else:
            tenant = self.tenant

        ttl_seconds: int | None | Unset
        if isinstance(self.ttl_seconds, Unset):
            ttl_seconds = UNSET
        else:
            ttl_seconds = self.ttl_seconds

        wait_seconds: int | None | Unset
        if isinstance(self.wait_seconds, Unset):
            wait_seconds = UNSET
        else:
            wait_seconds = self.wait_seconds

        priority: int | None | Unset
        if isinstance(self.priority, Unset):
            priority = UNSET
        else:
            priority = self.priority

        callback_url: None | str | Unset
        if isinstance(self.callback_url, Unset):
            callback_url = UNSET
        else:
            callback_url = self.callback_url

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if action is not UNSET:
            field_dict["action"] = action
        if request_id is not UNSET:
            field_dict["request_id"] = request_id
        if profile is not UNSET:
            field_dict["profile"] = profile
        if region is not UNSET:
            field_dict["region"] = region
        if only is not UNSET:
            field_dict["only"] = only
        if exclude is not UNSET:
            field_dict["exclude"] = exclude
        if isp is not UNSET:
            field_dict["isp"] = isp
        if isp_match is not UNSET:
            field_dict["isp_match"] = isp_match
        if tier is not UNSET:
            field_dict["tier"] = tier
        if partition is not UNSET:
            field_dict["partition"] = partition
        if selector is not UNSET:
            field_dict["selector"] = selector
        if prefer is not UNSET:
            field_dict["prefer"] = prefer
        if tolerations is not UNSET:
            field_dict["tolerations"] = tolerations
        if labels is not UNSET:
            field_dict["labels"] = labels
        if machines is not UNSET:
            field_dict["machines"] = machines
        if client is not UNSET:
            field_dict["client"] = client
        if shape is not UNSET:
            field_dict["shape"] = shape
        if weights is not UNSET:
            field_dict["weights"] = weights
        if fallback is not UNSET:
            field_dict["fallback"] = fallback
        if spread is not UNSET:
            field_dict["spread"] = spread
        if planned is not UNSET:
            field_dict["planned"] = planned
        if hypothetical is not UNSET:
            field_dict["hypothetical"] = hypothetical
        if top is not UNSET:
            field_dict["top"] = top
        if explain is not UNSET:
            field_dict["explain"] = explain
        if tenant is not UNSET:
            field_dict["tenant"] = tenant
        if ttl_seconds is not UNSET:
            field_dict["ttl_seconds"] = ttl_seconds
        if wait_seconds is not UNSET:
            field_dict["wait_seconds"] = wait_seconds
        if priority is not UNSET:
            field_dict["priority"] = priority
        if callback_url is not UNSET:
            field_dict["callback_url"] = callback_url

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.client import Client
        from ..models.hypothetical import Hypothetical
        from ..models.machine import Machine
        from ..models.planned import Planned
        from ..models.preference import Preference
        from ..models.request_labels_type_0 import RequestLabelsType0
        from ..models.request_weights_type_0 import RequestWeightsType0
        from ..models.spread import Spread
        from ..models.term import Term
        from ..models.toleration import Toleration

        d = dict(src_dict)

        def _parse_action(data: object) -> None | RequestActionType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                action_type_0 = check_request_action_type_0(data)

                return action_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RequestActionType0 | Unset, data)

        action = _parse_action(d.pop("action", UNSET))

        def _parse_request_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        request_id = _parse_request_id(d.pop("request_id", UNSET))

        def _parse_profile(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        profile = _parse_profile(d.pop("profile", UNSET))

        def _parse_region(data: object) -> list[str] | None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                region_type_1 = cast(list[str], data)

                return region_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | str | Unset, data)

        region = _parse_region(d.pop("region", UNSET))

        def _parse_only(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                only_type_0 = cast(list[str], data)

                return only_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        only = _parse_only(d.pop("only", UNSET))

        def _parse_exclude(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                exclude_type_0 = cast(list[str], data)

                return exclude_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        exclude = _parse_exclude(d.pop("exclude", UNSET))

        def _parse_isp(data: object) -> list[str] | None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                isp_type_1 = cast(list[str], data)

                return isp_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | str | Unset, data)

        isp = _parse_isp(d.pop("isp", UNSET))

        def _parse_isp_match(data: object) -> None | RequestIspMatchType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                isp_match_type_0 = check_request_isp_match_type_0(data)

                return isp_match_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RequestIspMatchType0 | Unset, data)

        isp_match = _parse_isp_match(d.pop("isp_match", UNSET))

        def _parse_tier(data: object) -> None | RequestTierType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                tier_type_0 = check_request_tier_type_0(data)

                return tier_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RequestTierType0 | Unset, data)

        tier = _parse_tier(d.pop("tier", UNSET))

        def _parse_partition(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        partition = _parse_partition(d.pop("partition", UNSET))

        def _parse_selector(data: object) -> list[Term] | None | Term | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                selector_type_0 = []
                _selector_type_0 = data
                for selector_type_0_item_data in _selector_type_0:
                    selector_type_0_item = Term.from_dict(selector_type_0_item_data)

                    selector_type_0.append(selector_type_0_item)

                return selector_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                selector_type_1 = Term.from_dict(data)

                return selector_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[Term] | None | Term | Unset, data)

        selector = _parse_selector(d.pop("selector", UNSET))

        def _parse_prefer(data: object) -> list[Preference] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                prefer_type_0 = []
                _prefer_type_0 = data
                for prefer_type_0_item_data in _prefer_type_0:
                    prefer_type_0_item = Preference.from_dict(prefer_type_0_item_data)

                    prefer_type_0.append(prefer_type_0_item)

                return prefer_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[Preference] | None | Unset, data)

        prefer = _parse_prefer(d.pop("prefer", UNSET))

        def _parse_tolerations(data: object) -> list[Toleration] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                tolerations_type_0 = []
                _tolerations_type_0 = data
                for tolerations_type_0_item_data in _tolerations_type_0:
                    tolerations_type_0_item = Toleration.from_dict(tolerations_type_0_item_data)

                    tolerations_type_0.append(tolerations_type_0_item)

                return tolerations_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[Toleration] | None | Unset, data)

        tolerations = _parse_tolerations(d.pop("tolerations", UNSET))

        def _parse_labels(data: object) -> None | RequestLabelsType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                labels_type_0 = RequestLabelsType0.from_dict(data)

                return labels_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RequestLabelsType0 | Unset, data)

        labels = _parse_labels(d.pop("labels", UNSET))

        def _parse_machines(data: object) -> list[Machine] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                machines_type_0 = []
                _machines_type_0 = data
                for machines_type_0_item_data in _machines_type_0:
                    machines_type_0_item = Machine.from_dict(machines_type_0_item_data)

                    machines_type_0.append(machines_type_0_item)

                return machines_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[Machine] | None | Unset, data)

        machines = _parse_machines(d.pop("machines", UNSET))

        def _parse_client(data: object) -> Client | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                client_type_0 = Client.from_dict(data)

                return client_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Client | None | Unset, data)

        client = _parse_client(d.pop("client", UNSET))

        def _parse_shape(data: object) -> list[float] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                shape_type_0 = cast(list[float], data)

                return shape_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[float] | None | Unset, data)

        shape = _parse_shape(d.pop("shape", UNSET))

        def _parse_weights(data: object) -> None | RequestWeightsType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                weights_type_0 = RequestWeightsType0.from_dict(data)

                return weights_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RequestWeightsType0 | Unset, data)

        weights = _parse_weights(d.pop("weights", UNSET))

        def _parse_fallback(data: object) -> list[Term] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                fallback_type_0 = []
                _fallback_type_0 = data
                for fallback_type_0_item_data in _fallback_type_0:
                    fallback_type_0_item = Term.from_dict(fallback_type_0_item_data)

                    fallback_type_0.append(fallback_type_0_item)

                return fallback_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[Term] | None | Unset, data)

        fallback = _parse_fallback(d.pop("fallback", UNSET))

        def _parse_spread(data: object) -> None | Spread | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                spread_type_0 = Spread.from_dict(data)

                return spread_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Spread | Unset, data)

        spread = _parse_spread(d.pop("spread", UNSET))

        def _parse_planned(data: object) -> None | Planned | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                planned_type_0 = Planned.from_dict(data)

                return planned_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Planned | Unset, data)

        planned = _parse_planned(d.pop("planned", UNSET))

        def _parse_hypothetical(data: object) -> Hypothetical | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                hypothetical_type_0 = Hypothetical.from_dict(data)

                return hypothetical_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Hypothetical | None | Unset, data)

        hypothetical = _parse_hypothetical(d.pop("hypothetical", UNSET))

        def _parse_top(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        top = _parse_top(d.pop("top", UNSET))

        def _parse_explain(data: object) -> None | RequestExplainType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                explain_type_0 = check_request_explain_type_0(data)

                return explain_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RequestExplainType0 | Unset, data)

        explain = _parse_explain(d.pop("explain", UNSET))

        def _parse_tenant(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        tenant = _parse_tenant(d.pop("tenant", UNSET))

        def _parse_ttl_seconds(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        ttl_seconds = _parse_ttl_seconds(d.pop("ttl_seconds", UNSET))

        def _parse_wait_seconds(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        wait_seconds = _parse_wait_seconds(d.pop("wait_seconds", UNSET))

        def _parse_priority(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        priority = _parse_priority(d.pop("priority", UNSET))

        def _parse_callback_url(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        callback_url = _parse_callback_url(d.pop("callback_url", UNSET))

        request = cls(
            action=action,
            request_id=request_id,
            profile=profile,
            region=region,
            only=only,
            exclude=exclude,
            isp=isp,
            isp_match=isp_match,
            tier=tier,
            partition=partition,
            selector=selector,
            prefer=prefer,
            tolerations=tolerations,
            labels=labels,
            machines=machines,
            client=client,
            shape=shape,
            weights=weights,
            fallback=fallback,
            spread=spread,
            planned=planned,
            hypothetical=hypothetical,
            top=top,
            explain=explain,
            tenant=tenant,
            ttl_seconds=ttl_seconds,
            wait_seconds=wait_seconds,
            priority=priority,
            callback_url=callback_url,
        )

        return request
