from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.schedule_batch_request import ScheduleBatchRequest
from ...models.schedule_batch_response_200 import ScheduleBatchResponse200
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: ScheduleBatchRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/schedule/batch/",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | ScheduleBatchResponse200 | None:
    if response.status_code == 200:
        response_200 = ScheduleBatchResponse200.from_dict(response.json())

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
) -> Response[Problem | ScheduleBatchResponse200]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: ScheduleBatchRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[Problem | ScheduleBatchResponse200]:
    """Schedule many requests at once

     Each request is decided given what the requests before it left.

    A gang is placed as a whole or not at all: 409 with the `results`. With the objective `bill` all
    requests are
    assigned together first; `plan` says what that saves.

    Args:
        idempotency_key (str | Unset):
        body (ScheduleBatchRequest): `independent`: each request in order, given what the requests
            before it left; `gang`: all of them or none.

            With the objective `score` each request goes where it scores best; with `bill` all of them
            are assigned together,
            for the smallest bill.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | ScheduleBatchResponse200]
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
    body: ScheduleBatchRequest,
    idempotency_key: str | Unset = UNSET,
) -> Problem | ScheduleBatchResponse200 | None:
    """Schedule many requests at once

     Each request is decided given what the requests before it left.

    A gang is placed as a whole or not at all: 409 with the `results`. With the objective `bill` all
    requests are
    assigned together first; `plan` says what that saves.

    Args:
        idempotency_key (str | Unset):
        body (ScheduleBatchRequest): `independent`: each request in order, given what the requests
            before it left; `gang`: all of them or none.

            With the objective `score` each request goes where it scores best; with `bill` all of them
            are assigned together,
            for the smallest bill.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | ScheduleBatchResponse200
    """

    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: ScheduleBatchRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[Problem | ScheduleBatchResponse200]:
    """Schedule many requests at once

     Each request is decided given what the requests before it left.

    A gang is placed as a whole or not at all: 409 with the `results`. With the objective `bill` all
    requests are
    assigned together first; `plan` says what that saves.

    Args:
        idempotency_key (str | Unset):
        body (ScheduleBatchRequest): `independent`: each request in order, given what the requests
            before it left; `gang`: all of them or none.

            With the objective `score` each request goes where it scores best; with `bill` all of them
            are assigned together,
            for the smallest bill.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | ScheduleBatchResponse200]
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
    body: ScheduleBatchRequest,
    idempotency_key: str | Unset = UNSET,
) -> Problem | ScheduleBatchResponse200 | None:
    """Schedule many requests at once

     Each request is decided given what the requests before it left.

    A gang is placed as a whole or not at all: 409 with the `results`. With the objective `bill` all
    requests are
    assigned together first; `plan` says what that saves.

    Args:
        idempotency_key (str | Unset):
        body (ScheduleBatchRequest): `independent`: each request in order, given what the requests
            before it left; `gang`: all of them or none.

            With the objective `score` each request goes where it scores best; with `bill` all of them
            are assigned together,
            for the smallest bill.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | ScheduleBatchResponse200
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
