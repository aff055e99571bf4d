import datetime
from http import HTTPStatus
from typing import Any
from uuid import UUID

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.paginated_placement_document_list import PaginatedPlacementDocumentList
from ...models.placements_list_state_item import PlacementsListStateItem
from ...models.placements_list_state_n_item import PlacementsListStateNItem
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    actor: list[str] | Unset = UNSET,
    actor_ic: list[str] | Unset = UNSET,
    actor_n: list[str] | Unset = UNSET,
    bandwidth_mbps: list[float] | Unset = UNSET,
    bandwidth_mbps_gte: float | Unset = UNSET,
    bandwidth_mbps_lte: float | Unset = UNSET,
    bandwidth_mbps_n: list[float] | Unset = UNSET,
    bill_per_month: list[float] | Unset = UNSET,
    bill_per_month_gte: float | Unset = UNSET,
    bill_per_month_lte: float | Unset = UNSET,
    bill_per_month_n: list[float] | Unset = UNSET,
    changed_at_gte: datetime.datetime | Unset = UNSET,
    changed_at_lte: datetime.datetime | Unset = UNSET,
    created_at_gte: datetime.datetime | Unset = UNSET,
    created_at_lte: datetime.datetime | Unset = UNSET,
    decision_id: list[UUID] | Unset = UNSET,
    decision_id_n: list[UUID] | Unset = UNSET,
    due_to_leave: list[bool] | Unset = UNSET,
    expires_at_gte: datetime.datetime | Unset = UNSET,
    expires_at_lte: datetime.datetime | Unset = UNSET,
    group_id: list[UUID] | Unset = UNSET,
    group_id_n: list[UUID] | Unset = UNSET,
    id: list[UUID] | Unset = UNSET,
    id_n: list[UUID] | Unset = UNSET,
    idc: list[str] | Unset = UNSET,
    idc_n: list[str] | Unset = UNSET,
    limit: int | Unset = 100,
    machine_count: list[int] | Unset = UNSET,
    machine_count_gte: float | Unset = UNSET,
    machine_count_lte: float | Unset = UNSET,
    machine_count_n: list[int] | Unset = UNSET,
    needs_attention: list[bool] | Unset = UNSET,
    needs_attention_n: list[bool] | Unset = UNSET,
    offset: int | Unset = 0,
    ordering: str | Unset = UNSET,
    priority: list[int] | Unset = UNSET,
    priority_gte: float | Unset = UNSET,
    priority_lte: float | Unset = UNSET,
    priority_n: list[int] | Unset = UNSET,
    q: str | Unset = UNSET,
    region: list[str] | Unset = UNSET,
    region_n: list[str] | Unset = UNSET,
    replaces: list[UUID] | Unset = UNSET,
    replaces_n: list[UUID] | Unset = UNSET,
    request_id: list[str] | Unset = UNSET,
    request_id_ic: list[str] | Unset = UNSET,
    request_id_n: list[str] | Unset = UNSET,
    state: list[PlacementsListStateItem] | Unset = UNSET,
    state_n: list[PlacementsListStateNItem] | Unset = UNSET,
    tenant: list[str] | Unset = UNSET,
    tenant_ic: list[str] | Unset = UNSET,
    tenant_n: list[str] | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_actor: list[str] | Unset = UNSET
    if not isinstance(actor, Unset):
        json_actor = actor

    params["actor"] = json_actor

    json_actor_ic: list[str] | Unset = UNSET
    if not isinstance(actor_ic, Unset):
        json_actor_ic = actor_ic

    params["actor__ic"] = json_actor_ic

    json_actor_n: list[str] | Unset = UNSET
    if not isinstance(actor_n, Unset):
        json_actor_n = actor_n

    params["actor__n"] = json_actor_n

    json_bandwidth_mbps: list[float] | Unset = UNSET
    if not isinstance(bandwidth_mbps, Unset):
        json_bandwidth_mbps = bandwidth_mbps

    params["bandwidth_mbps"] = json_bandwidth_mbps

    params["bandwidth_mbps__gte"] = bandwidth_mbps_gte

    params["bandwidth_mbps__lte"] = bandwidth_mbps_lte

    json_bandwidth_mbps_n: list[float] | Unset = UNSET
    if not isinstance(bandwidth_mbps_n, Unset):
        json_bandwidth_mbps_n = bandwidth_mbps_n

    params["bandwidth_mbps__n"] = json_bandwidth_mbps_n

    json_bill_per_month: list[float] | Unset = UNSET
    if not isinstance(bill_per_month, Unset):
        json_bill_per_month = bill_per_month

    params["bill_per_month"] = json_bill_per_month

    params["bill_per_month__gte"] = bill_per_month_gte

    params["bill_per_month__lte"] = bill_per_month_lte

    json_bill_per_month_n: list[float] | Unset = UNSET
    if not isinstance(bill_per_month_n, Unset):
        json_bill_per_month_n = bill_per_month_n

    params["bill_per_month__n"] = json_bill_per_month_n

    json_changed_at_gte: str | Unset = UNSET
    if not isinstance(changed_at_gte, Unset):
        json_changed_at_gte = changed_at_gte.isoformat()
    params["changed_at__gte"] = json_changed_at_gte

    json_changed_at_lte: str | Unset = UNSET
    if not isinstance(changed_at_lte, Unset):
        json_changed_at_lte = changed_at_lte.isoformat()
    params["changed_at__lte"] = json_changed_at_lte

    json_created_at_gte: str | Unset = UNSET
    if not isinstance(created_at_gte, Unset):
        json_created_at_gte = created_at_gte.isoformat()
    params["created_at__gte"] = json_created_at_gte

    json_created_at_lte: str | Unset = UNSET
    if not isinstance(created_at_lte, Unset):
        json_created_at_lte = created_at_lte.isoformat()
    params["created_at__lte"] = json_created_at_lte

    json_decision_id: list[str] | Unset = UNSET
    if not isinstance(decision_id, Unset):
        json_decision_id = []
        for decision_id_item_data in decision_id:
            decision_id_item = str(decision_id_item_data)
            json_decision_id.append(decision_id_item)

    params["decision_id"] = json_decision_id

    json_decision_id_n: list[str] | Unset = UNSET
    if not isinstance(decision_id_n, Unset):
        json_decision_id_n = []
        for decision_id_n_item_data in decision_id_n:
            decision_id_n_item = str(decision_id_n_item_data)
            json_decision_id_n.append(decision_id_n_item)

    params["decision_id__n"] = json_decision_id_n

    json_due_to_leave: list[bool] | Unset = UNSET
    if not isinstance(due_to_leave, Unset):
        json_due_to_leave = due_to_leave

    params["due_to_leave"] = json_due_to_leave

    json_expires_at_gte: str | Unset = UNSET
    if not isinstance(expires_at_gte, Unset):
        json_expires_at_gte = expires_at_gte.isoformat()
    params["expires_at__gte"] = json_expires_at_gte

    json_expires_at_lte: str | Unset = UNSET
    if not isinstance(expires_at_lte, Unset):
        json_expires_at_lte = expires_at_lte.isoformat()
    params["expires_at__lte"] = json_expires_at_lte

    json_group_id: list[str] | Unset = UNSET
    if not isinstance(group_id, Unset):
        json_group_id = []
        for group_id_item_data in group_id:
            group_id_item = str(group_id_item_data)
            json_group_id.append(group_id_item)

    params["group_id"] = json_group_id

    json_group_id_n: list[str] | Unset = UNSET
    if not isinstance(group_id_n, Unset):
        json_group_id_n = []
        for group_id_n_item_data in group_id_n:
            group_id_n_item = str(group_id_n_item_data)
            json_group_id_n.append(group_id_n_item)

    params["group_id__n"] = json_group_id_n

    json_id: list[str] | Unset = UNSET
    if not isinstance(id, Unset):
        json_id = []
        for id_item_data in id:
            id_item = str(id_item_data)
            json_id.append(id_item)

    params["id"] = json_id

    json_id_n: list[str] | Unset = UNSET
    if not isinstance(id_n, Unset):
        json_id_n = []
        for id_n_item_data in id_n:
            id_n_item = str(id_n_item_data)
            json_id_n.append(id_n_item)

    params["id__n"] = json_id_n

    json_idc: list[str] | Unset = UNSET
    if not isinstance(idc, Unset):
        json_idc = idc

    params["idc"] = json_idc

    json_idc_n: list[str] | Unset = UNSET
    if not isinstance(idc_n, Unset):
        json_idc_n = idc_n

    params["idc__n"] = json_idc_n

    params["limit"] = limit

    json_machine_count: list[int] | Unset = UNSET
    if not isinstance(machine_count, Unset):
        json_machine_count = machine_count

    params["machine_count"] = json_machine_count

    params["machine_count__gte"] = machine_count_gte

    params["machine_count__lte"] = machine_count_lte

    json_machine_count_n: list[int] | Unset = UNSET
    if not isinstance(machine_count_n, Unset):
        json_machine_count_n = machine_count_n

    params["machine_count__n"] = json_machine_count_n

    json_needs_attention: list[bool] | Unset = UNSET
    if not isinstance(needs_attention, Unset):
        json_needs_attention = needs_attention

    params["needs_attention"] = json_needs_attention

    json_needs_attention_n: list[bool] | Unset = UNSET
    if not isinstance(needs_attention_n, Unset):
        json_needs_attention_n = needs_attention_n

    params["needs_attention__n"] = json_needs_attention_n

    params["offset"] = offset

    params["ordering"] = ordering

    json_priority: list[int] | Unset = UNSET
    if not isinstance(priority, Unset):
        json_priority = priority

    params["priority"] = json_priority

    params["priority__gte"] = priority_gte

    params["priority__lte"] = priority_lte

    json_priority_n: list[int] | Unset = UNSET
    if not isinstance(priority_n, Unset):
        json_priority_n = priority_n

    params["priority__n"] = json_priority_n

    params["q"] = q

    json_region: list[str] | Unset = UNSET
    if not isinstance(region, Unset):
        json_region = region

    params["region"] = json_region

    json_region_n: list[str] | Unset = UNSET
    if not isinstance(region_n, Unset):
        json_region_n = region_n

    params["region__n"] = json_region_n

    json_replaces: list[str] | Unset = UNSET
    if not isinstance(replaces, Unset):
        json_replaces = []
        for replaces_item_data in replaces:
            replaces_item = str(replaces_item_data)
            json_replaces.append(replaces_item)

    params["replaces"] = json_replaces

    json_replaces_n: list[str] | Unset = UNSET
    if not isinstance(replaces_n, Unset):
        json_replaces_n = []
        for replaces_n_item_data in replaces_n:
            replaces_n_item = str(replaces_n_item_data)
            json_replaces_n.append(replaces_n_item)

    params["replaces__n"] = json_replaces_n

    json_request_id: list[str] | Unset = UNSET
    if not isinstance(request_id, Unset):
        json_request_id = request_id

    params["request_id"] = json_request_id

    json_request_id_ic: list[str] | Unset = UNSET
    if not isinstance(request_id_ic, Unset):
        json_request_id_ic = request_id_ic

    params["request_id__ic"] = json_request_id_ic

    json_request_id_n: list[str] | Unset = UNSET
    if not isinstance(request_id_n, Unset):
        json_request_id_n = request_id_n

    params["request_id__n"] = json_request_id_n

    json_state: list[str] | Unset = UNSET
    if not isinstance(state, Unset):
        json_state = []
        for state_item_data in state:
            state_item: str = state_item_data
            json_state.append(state_item)

    params["state"] = json_state

    json_state_n: list[str] | Unset = UNSET
    if not isinstance(state_n, Unset):
        json_state_n = []
        for state_n_item_data in state_n:
            state_n_item: str = state_n_item_data
            json_state_n.append(state_n_item)

    params["state__n"] = json_state_n

    json_tenant: list[str] | Unset = UNSET
    if not isinstance(tenant, Unset):
        json_tenant = tenant

    params["tenant"] = json_tenant

    json_tenant_ic: list[str] | Unset = UNSET
    if not isinstance(tenant_ic, Unset):
        json_tenant_ic = tenant_ic

    params["tenant__ic"] = json_tenant_ic

    json_tenant_n: list[str] | Unset = UNSET
    if not isinstance(tenant_n, Unset):
        json_tenant_n = tenant_n

    params["tenant__n"] = json_tenant_n

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/placements/",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> PaginatedPlacementDocumentList | Problem | None:
    if response.status_code == 200:
        response_200 = PaginatedPlacementDocumentList.from_dict(response.json())

        return response_200

    if response.status_code == 400:
        response_400 = Problem.from_dict(response.json())

        return response_400

    if response.status_code == 401:
        response_401 = Problem.from_dict(response.json())

        return response_401

    if response.status_code == 403:
        response_403 = Problem.from_dict(response.json())

        return response_403

    if response.status_code == 406:
        response_406 = Problem.from_dict(response.json())

        return response_406

    if response.status_code == 429:
        response_429 = Problem.from_dict(response.json())

        return response_429

    if response.status_code == 503:
        response_503 = Problem.from_dict(response.json())

        return response_503

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[PaginatedPlacementDocumentList | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    actor: list[str] | Unset = UNSET,
    actor_ic: list[str] | Unset = UNSET,
    actor_n: list[str] | Unset = UNSET,
    bandwidth_mbps: list[float] | Unset = UNSET,
    bandwidth_mbps_gte: float | Unset = UNSET,
    bandwidth_mbps_lte: float | Unset = UNSET,
    bandwidth_mbps_n: list[float] | Unset = UNSET,
    bill_per_month: list[float] | Unset = UNSET,
    bill_per_month_gte: float | Unset = UNSET,
    bill_per_month_lte: float | Unset = UNSET,
    bill_per_month_n: list[float] | Unset = UNSET,
    changed_at_gte: datetime.datetime | Unset = UNSET,
    changed_at_lte: datetime.datetime | Unset = UNSET,
    created_at_gte: datetime.datetime | Unset = UNSET,
    created_at_lte: datetime.datetime | Unset = UNSET,
    decision_id: list[UUID] | Unset = UNSET,
    decision_id_n: list[UUID] | Unset = UNSET,
    due_to_leave: list[bool] | Unset = UNSET,
    expires_at_gte: datetime.datetime | Unset = UNSET,
    expires_at_lte: datetime.datetime | Unset = UNSET,
    group_id: list[UUID] | Unset = UNSET,
    group_id_n: list[UUID] | Unset = UNSET,
    id: list[UUID] | Unset = UNSET,
    id_n: list[UUID] | Unset = UNSET,
    idc: list[str] | Unset = UNSET,
    idc_n: list[str] | Unset = UNSET,
    limit: int | Unset = 100,
    machine_count: list[int] | Unset = UNSET,
    machine_count_gte: float | Unset = UNSET,
    machine_count_lte: float | Unset = UNSET,
    machine_count_n: list[int] | Unset = UNSET,
    needs_attention: list[bool] | Unset = UNSET,
    needs_attention_n: list[bool] | Unset = UNSET,
    offset: int | Unset = 0,
    ordering: str | Unset = UNSET,
    priority: list[int] | Unset = UNSET,
    priority_gte: float | Unset = UNSET,
    priority_lte: float | Unset = UNSET,
    priority_n: list[int] | Unset = UNSET,
    q: str | Unset = UNSET,
    region: list[str] | Unset = UNSET,
    region_n: list[str] | Unset = UNSET,
    replaces: list[UUID] | Unset = UNSET,
    replaces_n: list[UUID] | Unset = UNSET,
    request_id: list[str] | Unset = UNSET,
    request_id_ic: list[str] | Unset = UNSET,
    request_id_n: list[str] | Unset = UNSET,
    state: list[PlacementsListStateItem] | Unset = UNSET,
    state_n: list[PlacementsListStateNItem] | Unset = UNSET,
    tenant: list[str] | Unset = UNSET,
    tenant_ic: list[str] | Unset = UNSET,
    tenant_n: list[str] | Unset = UNSET,
) -> Response[PaginatedPlacementDocumentList | Problem]:
    """List placements

     Placements. Callers who are bound to a tenant see those of their tenant, all others see all.

    Args:
        actor (list[str] | Unset):
        actor_ic (list[str] | Unset):
        actor_n (list[str] | Unset):
        bandwidth_mbps (list[float] | Unset):
        bandwidth_mbps_gte (float | Unset):
        bandwidth_mbps_lte (float | Unset):
        bandwidth_mbps_n (list[float] | Unset):
        bill_per_month (list[float] | Unset):
        bill_per_month_gte (float | Unset):
        bill_per_month_lte (float | Unset):
        bill_per_month_n (list[float] | Unset):
        changed_at_gte (datetime.datetime | Unset):
        changed_at_lte (datetime.datetime | Unset):
        created_at_gte (datetime.datetime | Unset):
        created_at_lte (datetime.datetime | Unset):
        decision_id (list[UUID] | Unset):
        decision_id_n (list[UUID] | Unset):
        due_to_leave (list[bool] | Unset):
        expires_at_gte (datetime.datetime | Unset):
        expires_at_lte (datetime.datetime | Unset):
        group_id (list[UUID] | Unset):
        group_id_n (list[UUID] | Unset):
        id (list[UUID] | Unset):
        id_n (list[UUID] | Unset):
        idc (list[str] | Unset):
        idc_n (list[str] | Unset):
        limit (int | Unset):  Default: 100.
        machine_count (list[int] | Unset):
        machine_count_gte (float | Unset):
        machine_count_lte (float | Unset):
        machine_count_n (list[int] | Unset):
        needs_attention (list[bool] | Unset):
        needs_attention_n (list[bool] | Unset):
        offset (int | Unset):  Default: 0.
        ordering (str | Unset):
        priority (list[int] | Unset):
        priority_gte (float | Unset):
        priority_lte (float | Unset):
        priority_n (list[int] | Unset):
        q (str | Unset):
        region (list[str] | Unset):
        region_n (list[str] | Unset):
        replaces (list[UUID] | Unset):
        replaces_n (list[UUID] | Unset):
        request_id (list[str] | Unset):
        request_id_ic (list[str] | Unset):
        request_id_n (list[str] | Unset):
        state (list[PlacementsListStateItem] | Unset):
        state_n (list[PlacementsListStateNItem] | Unset):
        tenant (list[str] | Unset):
        tenant_ic (list[str] | Unset):
        tenant_n (list[str] | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[PaginatedPlacementDocumentList | Problem]
    """

    kwargs = _get_kwargs(
        actor=actor,
        actor_ic=actor_ic,
        actor_n=actor_n,
        bandwidth_mbps=bandwidth_mbps,
        bandwidth_mbps_gte=bandwidth_mbps_gte,
        bandwidth_mbps_lte=bandwidth_mbps_lte,
        bandwidth_mbps_n=bandwidth_mbps_n,
        bill_per_month=bill_per_month,
        bill_per_month_gte=bill_per_month_gte,
        bill_per_month_lte=bill_per_month_lte,
        bill_per_month_n=bill_per_month_n,
        changed_at_gte=changed_at_gte,
        changed_at_lte=changed_at_lte,
        created_at_gte=created_at_gte,
        created_at_lte=created_at_lte,
        decision_id=decision_id,
        decision_id_n=decision_id_n,
        due_to_leave=due_to_leave,
        expires_at_gte=expires_at_gte,
        expires_at_lte=expires_at_lte,
        group_id=group_id,
        group_id_n=group_id_n,
        id=id,
        id_n=id_n,
        idc=idc,
        idc_n=idc_n,
        limit=limit,
        machine_count=machine_count,
        machine_count_gte=machine_count_gte,
        machine_count_lte=machine_count_lte,
        machine_count_n=machine_count_n,
        needs_attention=needs_attention,
        needs_attention_n=needs_attention_n,
        offset=offset,
        ordering=ordering,
        priority=priority,
        priority_gte=priority_gte,
        priority_lte=priority_lte,
        priority_n=priority_n,
        q=q,
        region=region,
        region_n=region_n,
        replaces=replaces,
        replaces_n=replaces_n,
        request_id=request_id,
        request_id_ic=request_id_ic,
        request_id_n=request_id_n,
        state=state,
        state_n=state_n,
        tenant=tenant,
        tenant_ic=tenant_ic,
        tenant_n=tenant_n,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    actor: list[str] | Unset = UNSET,
    actor_ic: list[str] | Unset = UNSET,
    actor_n: list[str] | Unset = UNSET,
    bandwidth_mbps: list[float] | Unset = UNSET,
    bandwidth_mbps_gte: float | Unset = UNSET,
    bandwidth_mbps_lte: float | Unset = UNSET,
    bandwidth_mbps_n: list[float] | Unset = UNSET,
    bill_per_month: list[float] | Unset = UNSET,
    bill_per_month_gte: float | Unset = UNSET,
    bill_per_month_lte: float | Unset = UNSET,
    bill_per_month_n: list[float] | Unset = UNSET,
    changed_at_gte: datetime.datetime | Unset = UNSET,
    changed_at_lte: datetime.datetime | Unset = UNSET,
    created_at_gte: datetime.datetime | Unset = UNSET,
    created_at_lte: datetime.datetime | Unset = UNSET,
    decision_id: list[UUID] | Unset = UNSET,
    decision_id_n: list[UUID] | Unset = UNSET,
    due_to_leave: list[bool] | Unset = UNSET,
    expires_at_gte: datetime.datetime | Unset = UNSET,
    expires_at_lte: datetime.datetime | Unset = UNSET,
    group_id: list[UUID] | Unset = UNSET,
    group_id_n: list[UUID] | Unset = UNSET,
    id: list[UUID] | Unset = UNSET,
    id_n: list[UUID] | Unset = UNSET,
    idc: list[str] | Unset = UNSET,
    idc_n: list[str] | Unset = UNSET,
    limit: int | Unset = 100,
    machine_count: list[int] | Unset = UNSET,
    machine_count_gte: float | Unset = UNSET,
    machine_count_lte: float | Unset = UNSET,
    machine_count_n: list[int] | Unset = UNSET,
    needs_attention: list[bool] | Unset = UNSET,
    needs_attention_n: list[bool] | Unset = UNSET,
    offset: int | Unset = 0,
    ordering: str | Unset = UNSET,
    priority: list[int] | Unset = UNSET,
    priority_gte: float | Unset = UNSET,
    priority_lte: float | Unset = UNSET,
    priority_n: list[int] | Unset = UNSET,
    q: str | Unset = UNSET,
    region: list[str] | Unset = UNSET,
    region_n: list[str] | Unset = UNSET,
    replaces: list[UUID] | Unset = UNSET,
    replaces_n: list[UUID] | Unset = UNSET,
    request_id: list[str] | Unset = UNSET,
    request_id_ic: list[str] | Unset = UNSET,
    request_id_n: list[str] | Unset = UNSET,
    state: list[PlacementsListStateItem] | Unset = UNSET,
    state_n: list[PlacementsListStateNItem] | Unset = UNSET,
    tenant: list[str] | Unset = UNSET,
    tenant_ic: list[str] | Unset = UNSET,
    tenant_n: list[str] | Unset = UNSET,
) -> PaginatedPlacementDocumentList | Problem | None:
    """List placements

     Placements. Callers who are bound to a tenant see those of their tenant, all others see all.

    Args:
        actor (list[str] | Unset):
        actor_ic (list[str] | Unset):
        actor_n (list[str] | Unset):
        bandwidth_mbps (list[float] | Unset):
        bandwidth_mbps_gte (float | Unset):
        bandwidth_mbps_lte (float | Unset):
        bandwidth_mbps_n (list[float] | Unset):
        bill_per_month (list[float] | Unset):
        bill_per_month_gte (float | Unset):
        bill_per_month_lte (float | Unset):
        bill_per_month_n (list[float] | Unset):
        changed_at_gte (datetime.datetime | Unset):
        changed_at_lte (datetime.datetime | Unset):
        created_at_gte (datetime.datetime | Unset):
        created_at_lte (datetime.datetime | Unset):
        decision_id (list[UUID] | Unset):
        decision_id_n (list[UUID] | Unset):
        due_to_leave (list[bool] | Unset):
        expires_at_gte (datetime.datetime | Unset):
        expires_at_lte (datetime.datetime | Unset):
        group_id (list[UUID] | Unset):
        group_id_n (list[UUID] | Unset):
        id (list[UUID] | Unset):
        id_n (list[UUID] | Unset):
        idc (list[str] | Unset):
        idc_n (list[str] | Unset):
        limit (int | Unset):  Default: 100.
        machine_count (list[int] | Unset):
        machine_count_gte (float | Unset):
        machine_count_lte (float | Unset):
        machine_count_n (list[int] | Unset):
        needs_attention (list[bool] | Unset):
        needs_attention_n (list[bool] | Unset):
        offset (int | Unset):  Default: 0.
        ordering (str | Unset):
        priority (list[int] | Unset):
        priority_gte (float | Unset):
        priority_lte (float | Unset):
        priority_n (list[int] | Unset):
        q (str | Unset):
        region (list[str] | Unset):
        region_n (list[str] | Unset):
        replaces (list[UUID] | Unset):
        replaces_n (list[UUID] | Unset):
        request_id (list[str] | Unset):
        request_id_ic (list[str] | Unset):
        request_id_n (list[str] | Unset):
        state (list[PlacementsListStateItem] | Unset):
        state_n (list[PlacementsListStateNItem] | Unset):
        tenant (list[str] | Unset):
        tenant_ic (list[str] | Unset):
        tenant_n (list[str] | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        PaginatedPlacementDocumentList | Problem
    """

    return sync_detailed(
        client=client,
        actor=actor,
        actor_ic=actor_ic,
        actor_n=actor_n,
        bandwidth_mbps=bandwidth_mbps,
        bandwidth_mbps_gte=bandwidth_mbps_gte,
        bandwidth_mbps_lte=bandwidth_mbps_lte,
        bandwidth_mbps_n=bandwidth_mbps_n,
        bill_per_month=bill_per_month,
        bill_per_month_gte=bill_per_month_gte,
        bill_per_month_lte=bill_per_month_lte,
        bill_per_month_n=bill_per_month_n,
        changed_at_gte=changed_at_gte,
        changed_at_lte=changed_at_lte,
        created_at_gte=created_at_gte,
        created_at_lte=created_at_lte,
        decision_id=decision_id,
        decision_id_n=decision_id_n,
        due_to_leave=due_to_leave,
        expires_at_gte=expires_at_gte,
        expires_at_lte=expires_at_lte,
        group_id=group_id,
        group_id_n=group_id_n,
        id=id,
        id_n=id_n,
        idc=idc,
        idc_n=idc_n,
        limit=limit,
        machine_count=machine_count,
        machine_count_gte=machine_count_gte,
        machine_count_lte=machine_count_lte,
        machine_count_n=machine_count_n,
        needs_attention=needs_attention,
        needs_attention_n=needs_attention_n,
        offset=offset,
        ordering=ordering,
        priority=priority,
        priority_gte=priority_gte,
        priority_lte=priority_lte,
        priority_n=priority_n,
        q=q,
        region=region,
        region_n=region_n,
        replaces=replaces,
        replaces_n=replaces_n,
        request_id=request_id,
        request_id_ic=request_id_ic,
        request_id_n=request_id_n,
        state=state,
        state_n=state_n,
        tenant=tenant,
        tenant_ic=tenant_ic,
        tenant_n=tenant_n,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    actor: list[str] | Unset = UNSET,
    actor_ic: list[str] | Unset = UNSET,
    actor_n: list[str] | Unset = UNSET,
    bandwidth_mbps: list[float] | Unset = UNSET,
    bandwidth_mbps_gte: float | Unset = UNSET,
    bandwidth_mbps_lte: float | Unset = UNSET,
    bandwidth_mbps_n: list[float] | Unset = UNSET,
    bill_per_month: list[float] | Unset = UNSET,
    bill_per_month_gte: float | Unset = UNSET,
    bill_per_month_lte: float | Unset = UNSET,
    bill_per_month_n: list[float] | Unset = UNSET,
    changed_at_gte: datetime.datetime | Unset = UNSET,
    changed_at_lte: datetime.datetime | Unset = UNSET,
    created_at_gte: datetime.datetime | Unset = UNSET,
    created_at_lte: datetime.datetime | Unset = UNSET,
    decision_id: list[UUID] | Unset = UNSET,
    decision_id_n: list[UUID] | Unset = UNSET,
    due_to_leave: list[bool] | Unset = UNSET,
    expires_at_gte: datetime.datetime | Unset = UNSET,
    expires_at_lte: datetime.datetime | Unset = UNSET,
    group_id: list[UUID] | Unset = UNSET,
    group_id_n: list[UUID] | Unset = UNSET,
    id: list[UUID] | Unset = UNSET,
    id_n: list[UUID] | Unset = UNSET,
    idc: list[str] | Unset = UNSET,
    idc_n: list[str] | Unset = UNSET,
    limit: int | Unset = 100,
    machine_count: list[int] | Unset = UNSET,
    machine_count_gte: float | Unset = UNSET,
    machine_count_lte: float | Unset = UNSET,
    machine_count_n: list[int] | Unset = UNSET,
    needs_attention: list[bool] | Unset = UNSET,
    needs_attention_n: list[bool] | Unset = UNSET,
    offset: int | Unset = 0,
    ordering: str | Unset = UNSET,
    priority: list[int] | Unset = UNSET,
    priority_gte: float | Unset = UNSET,
    priority_lte: float | Unset = UNSET,
    priority_n: list[int] | Unset = UNSET,
    q: str | Unset = UNSET,
    region: list[str] | Unset = UNSET,
    region_n: list[str] | Unset = UNSET,
    replaces: list[UUID] | Unset = UNSET,
    replaces_n: list[UUID] | Unset = UNSET,
    request_id: list[str] | Unset = UNSET,
    request_id_ic: list[str] | Unset = UNSET,
    request_id_n: list[str] | Unset = UNSET,
    state: list[PlacementsListStateItem] | Unset = UNSET,
    state_n: list[PlacementsListStateNItem] | Unset = UNSET,
    tenant: list[str] | Unset = UNSET,
    tenant_ic: list[str] | Unset = UNSET,
    tenant_n: list[str] | Unset = UNSET,
) -> Response[PaginatedPlacementDocumentList | Problem]:
    """List placements

     Placements. Callers who are bound to a tenant see those of their tenant, all others see all.

    Args:
        actor (list[str] | Unset):
        actor_ic (list[str] | Unset):
        actor_n (list[str] | Unset):
        bandwidth_mbps (list[float] | Unset):
        bandwidth_mbps_gte (float | Unset):
        bandwidth_mbps_lte (float | Unset):
        bandwidth_mbps_n (list[float] | Unset):
        bill_per_month (list[float] | Unset):
        bill_per_month_gte (float | Unset):
        bill_per_month_lte (float | Unset):
        bill_per_month_n (list[float] | Unset):
        changed_at_gte (datetime.datetime | Unset):
        changed_at_lte (datetime.datetime | Unset):
        created_at_gte (datetime.datetime | Unset):
        created_at_lte (datetime.datetime | Unset):
        decision_id (list[UUID] | Unset):
        decision_id_n (list[UUID] | Unset):
        due_to_leave (list[bool] | Unset):
        expires_at_gte (datetime.datetime | Unset):
        expires_at_lte (datetime.datetime | Unset):
        group_id (list[UUID] | Unset):
        group_id_n (list[UUID] | Unset):
        id (list[UUID] | Unset):
        id_n (list[UUID] | Unset):
        idc (list[str] | Unset):
        idc_n (list[str] | Unset):
        limit (int | Unset):  Default: 100.
        machine_count (list[int] | Unset):
        machine_count_gte (float | Unset):
        machine_count_lte (float | Unset):
        machine_count_n (list[int] | Unset):
        needs_attention (list[bool] | Unset):
        needs_attention_n (list[bool] | Unset):
        offset (int | Unset):  Default: 0.
        ordering (str | Unset):
        priority (list[int] | Unset):
        priority_gte (float | Unset):
        priority_lte (float | Unset):
        priority_n (list[int] | Unset):
        q (str | Unset):
        region (list[str] | Unset):
        region_n (list[str] | Unset):
        replaces (list[UUID] | Unset):
        replaces_n (list[UUID] | Unset):
        request_id (list[str] | Unset):
        request_id_ic (list[str] | Unset):
        request_id_n (list[str] | Unset):
        state (list[PlacementsListStateItem] | Unset):
        state_n (list[PlacementsListStateNItem] | Unset):
        tenant (list[str] | Unset):
        tenant_ic (list[str] | Unset):
        tenant_n (list[str] | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[PaginatedPlacementDocumentList | Problem]
    """

    kwargs = _get_kwargs(
        actor=actor,
        actor_ic=actor_ic,
        actor_n=actor_n,
        bandwidth_mbps=bandwidth_mbps,
        bandwidth_mbps_gte=bandwidth_mbps_gte,
        bandwidth_mbps_lte=bandwidth_mbps_lte,
        bandwidth_mbps_n=bandwidth_mbps_n,
        bill_per_month=bill_per_month,
        bill_per_month_gte=bill_per_month_gte,
        bill_per_month_lte=bill_per_month_lte,
        bill_per_month_n=bill_per_month_n,
        changed_at_gte=changed_at_gte,
        changed_at_lte=changed_at_lte,
        created_at_gte=created_at_gte,
        created_at_lte=created_at_lte,
        decision_id=decision_id,
        decision_id_n=decision_id_n,
        due_to_leave=due_to_leave,
        expires_at_gte=expires_at_gte,
        expires_at_lte=expires_at_lte,
        group_id=group_id,
        group_id_n=group_id_n,
        id=id,
        id_n=id_n,
        idc=idc,
        idc_n=idc_n,
        limit=limit,
        machine_count=machine_count,
        machine_count_gte=machine_count_gte,
        machine_count_lte=machine_count_lte,
        machine_count_n=machine_count_n,
        needs_attention=needs_attention,
        needs_attention_n=needs_attention_n,
        offset=offset,
        ordering=ordering,
        priority=priority,
        priority_gte=priority_gte,
        priority_lte=priority_lte,
        priority_n=priority_n,
        q=q,
        region=region,
        region_n=region_n,
        replaces=replaces,
        replaces_n=replaces_n,
        request_id=request_id,
        request_id_ic=request_id_ic,
        request_id_n=request_id_n,
        state=state,
        state_n=state_n,
        tenant=tenant,
        tenant_ic=tenant_ic,
        tenant_n=tenant_n,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    actor: list[str] | Unset = UNSET,
    actor_ic: list[str] | Unset = UNSET,
    actor_n: list[str] | Unset = UNSET,
    bandwidth_mbps: list[float] | Unset = UNSET,
    bandwidth_mbps_gte: float | Unset = UNSET,
    bandwidth_mbps_lte: float | Unset = UNSET,
    bandwidth_mbps_n: list[float] | Unset = UNSET,
    bill_per_month: list[float] | Unset = UNSET,
    bill_per_month_gte: float | Unset = UNSET,
    bill_per_month_lte: float | Unset = UNSET,
    bill_per_month_n: list[float] | Unset = UNSET,
    changed_at_gte: datetime.datetime | Unset = UNSET,
    changed_at_lte: datetime.datetime | Unset = UNSET,
    created_at_gte: datetime.datetime | Unset = UNSET,
    created_at_lte: datetime.datetime | Unset = UNSET,
    decision_id: list[UUID] | Unset = UNSET,
    decision_id_n: list[UUID] | Unset = UNSET,
    due_to_leave: list[bool] | Unset = UNSET,
    expires_at_gte: datetime.datetime | Unset = UNSET,
    expires_at_lte: datetime.datetime | Unset = UNSET,
    group_id: list[UUID] | Unset = UNSET,
    group_id_n: list[UUID] | Unset = UNSET,
    id: list[UUID] | Unset = UNSET,
    id_n: list[UUID] | Unset = UNSET,
    idc: list[str] | Unset = UNSET,
    idc_n: list[str] | Unset = UNSET,
    limit: int | Unset = 100,
    machine_count: list[int] | Unset = UNSET,
    machine_count_gte: float | Unset = UNSET,
    machine_count_lte: float | Unset = UNSET,
    machine_count_n: list[int] | Unset = UNSET,
    needs_attention: list[bool] | Unset = UNSET,
    needs_attention_n: list[bool] | Unset = UNSET,
    offset: int | Unset = 0,
    ordering: str | Unset = UNSET,
    priority: list[int] | Unset = UNSET,
    priority_gte: float | Unset = UNSET,
    priority_lte: float | Unset = UNSET,
    priority_n: list[int] | Unset = UNSET,
    q: str | Unset = UNSET,
    region: list[str] | Unset = UNSET,
    region_n: list[str] | Unset = UNSET,
    replaces: list[UUID] | Unset = UNSET,
    replaces_n: list[UUID] | Unset = UNSET,
    request_id: list[str] | Unset = UNSET,
    request_id_ic: list[str] | Unset = UNSET,
    request_id_n: list[str] | Unset = UNSET,
    state: list[PlacementsListStateItem] | Unset = UNSET,
    state_n: list[PlacementsListStateNItem] | Unset = UNSET,
    tenant: list[str] | Unset = UNSET,
    tenant_ic: list[str] | Unset = UNSET,
    tenant_n: list[str] | Unset = UNSET,
) -> PaginatedPlacementDocumentList | Problem | None:
    """List placements

     Placements. Callers who are bound to a tenant see those of their tenant, all others see all.

    Args:
        actor (list[str] | Unset):
        actor_ic (list[str] | Unset):
        actor_n (list[str] | Unset):
        bandwidth_mbps (list[float] | Unset):
        bandwidth_mbps_gte (float | Unset):
        bandwidth_mbps_lte (float | Unset):
        bandwidth_mbps_n (list[float] | Unset):
        bill_per_month (list[float] | Unset):
        bill_per_month_gte (float | Unset):
        bill_per_month_lte (float | Unset):
        bill_per_month_n (list[float] | Unset):
        changed_at_gte (datetime.datetime | Unset):
        changed_at_lte (datetime.datetime | Unset):
        created_at_gte (datetime.datetime | Unset):
        created_at_lte (datetime.datetime | Unset):
        decision_id (list[UUID] | Unset):
        decision_id_n (list[UUID] | Unset):
        due_to_leave (list[bool] | Unset):
        expires_at_gte (datetime.datetime | Unset):
        expires_at_lte (datetime.datetime | Unset):
        group_id (list[UUID] | Unset):
        group_id_n (list[UUID] | Unset):
        id (list[UUID] | Unset):
        id_n (list[UUID] | Unset):
        idc (list[str] | Unset):
        idc_n (list[str] | Unset):
        limit (int | Unset):  Default: 100.
        machine_count (list[int] | Unset):
        machine_count_gte (float | Unset):
        machine_count_lte (float | Unset):
        machine_count_n (list[int] | Unset):
        needs_attention (list[bool] | Unset):
        needs_attention_n (list[bool] | Unset):
        offset (int | Unset):  Default: 0.
        ordering (str | Unset):
        priority (list[int] | Unset):
        priority_gte (float | Unset):
        priority_lte (float | Unset):
        priority_n (list[int] | Unset):
        q (str | Unset):
        region (list[str] | Unset):
        region_n (list[str] | Unset):
        replaces (list[UUID] | Unset):
        replaces_n (list[UUID] | Unset):
        request_id (list[str] | Unset):
        request_id_ic (list[str] | Unset):
        request_id_n (list[str] | Unset):
        state (list[PlacementsListStateItem] | Unset):
        state_n (list[PlacementsListStateNItem] | Unset):
        tenant (list[str] | Unset):
        tenant_ic (list[str] | Unset):
        tenant_n (list[str] | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        PaginatedPlacementDocumentList | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            actor=actor,
            actor_ic=actor_ic,
            actor_n=actor_n,
            bandwidth_mbps=bandwidth_mbps,
            bandwidth_mbps_gte=bandwidth_mbps_gte,
            bandwidth_mbps_lte=bandwidth_mbps_lte,
            bandwidth_mbps_n=bandwidth_mbps_n,
            bill_per_month=bill_per_month,
            bill_per_month_gte=bill_per_month_gte,
            bill_per_month_lte=bill_per_month_lte,
            bill_per_month_n=bill_per_month_n,
            changed_at_gte=changed_at_gte,
            changed_at_lte=changed_at_lte,
            created_at_gte=created_at_gte,
            created_at_lte=created_at_lte,
            decision_id=decision_id,
            decision_id_n=decision_id_n,
            due_to_leave=due_to_leave,
            expires_at_gte=expires_at_gte,
            expires_at_lte=expires_at_lte,
            group_id=group_id,
            group_id_n=group_id_n,
            id=id,
            id_n=id_n,
            idc=idc,
            idc_n=idc_n,
            limit=limit,
            machine_count=machine_count,
            machine_count_gte=machine_count_gte,
            machine_count_lte=machine_count_lte,
            machine_count_n=machine_count_n,
            needs_attention=needs_attention,
            needs_attention_n=needs_attention_n,
            offset=offset,
            ordering=ordering,
            priority=priority,
            priority_gte=priority_gte,
            priority_lte=priority_lte,
            priority_n=priority_n,
            q=q,
            region=region,
            region_n=region_n,
            replaces=replaces,
            replaces_n=replaces_n,
            request_id=request_id,
            request_id_ic=request_id_ic,
            request_id_n=request_id_n,
            state=state,
            state_n=state_n,
            tenant=tenant,
            tenant_ic=tenant_ic,
            tenant_n=tenant_n,
        )
    ).parsed
