import datetime
from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.samples_read_agg import SamplesReadAgg
from ...models.series_page import SeriesPage
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    agg: SamplesReadAgg | Unset = UNSET,
    cursor: str | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    idc: str,
    limit: int | Unset = UNSET,
    line: str | Unset = UNSET,
    metric: str,
    step: int | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_agg: str | Unset = UNSET
    if not isinstance(agg, Unset):
        json_agg = agg

    params["agg"] = json_agg

    params["cursor"] = cursor

    json_from_: str | Unset = UNSET
    if not isinstance(from_, Unset):
        json_from_ = from_.isoformat()
    params["from"] = json_from_

    params["idc"] = idc

    params["limit"] = limit

    params["line"] = line

    params["metric"] = metric

    params["step"] = step

    json_to: str | Unset = UNSET
    if not isinstance(to, Unset):
        json_to = to.isoformat()
    params["to"] = json_to

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/samples/",
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Problem | SeriesPage | None:
    if response.status_code == 200:
        response_200 = SeriesPage.from_dict(response.json())

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
) -> Response[Problem | SeriesPage]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    agg: SamplesReadAgg | Unset = UNSET,
    cursor: str | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    idc: str,
    limit: int | Unset = UNSET,
    line: str | Unset = UNSET,
    metric: str,
    step: int | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
) -> Response[Problem | SeriesPage]:
    """Show a metric over time

     One metric of an IDC or line over time.

    Args:
        agg (SamplesReadAgg | Unset):
        cursor (str | Unset):
        from_ (datetime.datetime | Unset):
        idc (str):
        limit (int | Unset):
        line (str | Unset):
        metric (str):
        step (int | Unset):
        to (datetime.datetime | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | SeriesPage]
    """

    kwargs = _get_kwargs(
        agg=agg,
        cursor=cursor,
        from_=from_,
        idc=idc,
        limit=limit,
        line=line,
        metric=metric,
        step=step,
        to=to,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    agg: SamplesReadAgg | Unset = UNSET,
    cursor: str | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    idc: str,
    limit: int | Unset = UNSET,
    line: str | Unset = UNSET,
    metric: str,
    step: int | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
) -> Problem | SeriesPage | None:
    """Show a metric over time

     One metric of an IDC or line over time.

    Args:
        agg (SamplesReadAgg | Unset):
        cursor (str | Unset):
        from_ (datetime.datetime | Unset):
        idc (str):
        limit (int | Unset):
        line (str | Unset):
        metric (str):
        step (int | Unset):
        to (datetime.datetime | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | SeriesPage
    """

    return sync_detailed(
        client=client,
        agg=agg,
        cursor=cursor,
        from_=from_,
        idc=idc,
        limit=limit,
        line=line,
        metric=metric,
        step=step,
        to=to,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    agg: SamplesReadAgg | Unset = UNSET,
    cursor: str | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    idc: str,
    limit: int | Unset = UNSET,
    line: str | Unset = UNSET,
    metric: str,
    step: int | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
) -> Response[Problem | SeriesPage]:
    """Show a metric over time

     One metric of an IDC or line over time.

    Args:
        agg (SamplesReadAgg | Unset):
        cursor (str | Unset):
        from_ (datetime.datetime | Unset):
        idc (str):
        limit (int | Unset):
        line (str | Unset):
        metric (str):
        step (int | Unset):
        to (datetime.datetime | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | SeriesPage]
    """

    kwargs = _get_kwargs(
        agg=agg,
        cursor=cursor,
        from_=from_,
        idc=idc,
        limit=limit,
        line=line,
        metric=metric,
        step=step,
        to=to,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    agg: SamplesReadAgg | Unset = UNSET,
    cursor: str | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    idc: str,
    limit: int | Unset = UNSET,
    line: str | Unset = UNSET,
    metric: str,
    step: int | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
) -> Problem | SeriesPage | None:
    """Show a metric over time

     One metric of an IDC or line over time.

    Args:
        agg (SamplesReadAgg | Unset):
        cursor (str | Unset):
        from_ (datetime.datetime | Unset):
        idc (str):
        limit (int | Unset):
        line (str | Unset):
        metric (str):
        step (int | Unset):
        to (datetime.datetime | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | SeriesPage
    """

    return (
        await asyncio_detailed(
            client=client,
            agg=agg,
            cursor=cursor,
            from_=from_,
            idc=idc,
            limit=limit,
            line=line,
            metric=metric,
            step=step,
            to=to,
        )
    ).parsed
