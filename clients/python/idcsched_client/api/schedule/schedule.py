from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.placement_document import PlacementDocument
from ...models.problem import Problem
from ...models.request_request import RequestRequest
from ...models.scheduled import Scheduled
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: RequestRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/schedule/",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> PlacementDocument | Problem | Scheduled | None:
    if response.status_code == 200:
        response_200 = Scheduled.from_dict(response.json())

        return response_200

    if response.status_code == 201:
        response_201 = PlacementDocument.from_dict(response.json())

        return response_201

    if response.status_code == 202:
        response_202 = PlacementDocument.from_dict(response.json())

        return response_202

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

    if response.status_code == 409:
        response_409 = Problem.from_dict(response.json())

        return response_409

    if response.status_code == 413:
        response_413 = Problem.from_dict(response.json())

        return response_413

    if response.status_code == 415:
        response_415 = Problem.from_dict(response.json())

        return response_415

    if response.status_code == 422:
        response_422 = Problem.from_dict(response.json())

        return response_422

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
) -> Response[PlacementDocument | Problem | Scheduled]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: RequestRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[PlacementDocument | Problem | Scheduled]:
    """Recommend, reserve or provision

     The best IDC of a region for a request, and why it is the best.

    Args:
        idempotency_key (str | Unset):
        body (RequestRequest): A scheduling request: where should these machines stand?

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[PlacementDocument | Problem | Scheduled]
    """

    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: RequestRequest,
    idempotency_key: str | Unset = UNSET,
) -> PlacementDocument | Problem | Scheduled | None:
    """Recommend, reserve or provision

     The best IDC of a region for a request, and why it is the best.

    Args:
        idempotency_key (str | Unset):
        body (RequestRequest): A scheduling request: where should these machines stand?

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        PlacementDocument | Problem | Scheduled
    """

    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: RequestRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[PlacementDocument | Problem | Scheduled]:
    """Recommend, reserve or provision

     The best IDC of a region for a request, and why it is the best.

    Args:
        idempotency_key (str | Unset):
        body (RequestRequest): A scheduling request: where should these machines stand?

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[PlacementDocument | Problem | Scheduled]
    """

    kwargs = _get_kwargs(
        body=body,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: RequestRequest,
    idempotency_key: str | Unset = UNSET,
) -> PlacementDocument | Problem | Scheduled | None:
    """Recommend, reserve or provision

     The best IDC of a region for a request, and why it is the best.

    Args:
        idempotency_key (str | Unset):
        body (RequestRequest): A scheduling request: where should these machines stand?

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        PlacementDocument | Problem | Scheduled
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
