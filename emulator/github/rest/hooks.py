"""The App's webhook: its address, its deliveries and their redelivery."""

from typing import Any

from emulator.github.api import Answer, Call, Endpoint
from emulator.github.errors import Refused, not_found
from emulator.github.records import Delivery
from emulator.github.shapes.accounts import moment
from emulator.github.state import State


def get_config(call: Call) -> Answer:
    """GET /app/hook/config"""
    return Answer(body=_config(call.state))


def update_config(call: Call) -> Answer:
    """PATCH /app/hook/config"""
    hooks = call.state.webhooks
    hooks.url = call.body.get("url", hooks.url)
    hooks.secret = call.body.get("secret", hooks.secret)
    return Answer(body=_config(call.state))


def _config(state: State) -> dict[str, Any]:
    config = {"content_type": "json", "insecure_ssl": "0", "url": state.webhooks.url}
    return config | ({"secret": "********"} if state.webhooks.secret else {})


def _item(what: Delivery) -> dict[str, Any]:
    return {
        "id": what.id,
        "guid": what.guid,
        "delivered_at": moment(what.delivered_at),
        "redelivery": what.redelivery,
        "duration": what.duration_s,
        "status": what.status,
        "status_code": what.status_code,
        "event": what.event,
        "action": what.action,
        "installation_id": what.installation_id,
        "repository_id": what.repository_id,
        "throttled_at": None,
    }


def list_deliveries(call: Call) -> Answer:
    """GET /app/hook/deliveries: newest first, by cursor; attempts still running are left out."""
    size = min(int(call.query.get("per_page", 30)), 100)
    ended = [each for each in call.state.webhooks.deliveries[::-1] if each.status != "pending"]
    cursor = call.query.get("cursor")
    if cursor is not None:
        try:
            last = int(str(cursor).removeprefix("v1_"))
        except ValueError as cause:
            raise Refused(400, "Invalid cursor") from cause
        ended = [each for each in ended if each.id <= last]
    if "status" in call.query:
        good = call.query["status"] == "success"
        ended = [each for each in ended if (each.status == "OK") == good]
    headers = {}
    if len(ended) > size:
        url = f"{call.state.url}/api/v3/app/hook/deliveries"
        following = f"{url}?per_page={size}&cursor=v1_{ended[size].id}"
        headers["Link"] = f'<{following}>; rel="next"'
    return Answer(body=[_item(each) for each in ended[:size]], headers=headers)


def _delivery(call: Call) -> Delivery:
    for each in call.state.webhooks.deliveries:
        if each.id == call.path["delivery_id"]:
            return each
    raise not_found()


def get_delivery(call: Call) -> Answer:
    """GET /app/hook/deliveries/{delivery_id}"""
    what = _delivery(call)
    return Answer(
        body=_item(what)
        | {
            "url": call.state.webhooks.url,
            "request": {"headers": what.request_headers, "payload": what.payload},
            "response": {"headers": what.response_headers, "payload": what.response_body},
        }
    )


def redeliver(call: Call) -> Answer:
    """POST /app/hook/deliveries/{delivery_id}/attempts"""
    call.state.webhooks.redeliver(_delivery(call))
    return Answer(202, {})


ENDPOINTS = (
    Endpoint("GET /app/hook/config", get_config, "app"),
    Endpoint("PATCH /app/hook/config", update_config, "app"),
    Endpoint("GET /app/hook/deliveries", list_deliveries, "app"),
    Endpoint("GET /app/hook/deliveries/{delivery_id}", get_delivery, "app"),
    Endpoint("POST /app/hook/deliveries/{delivery_id}/attempts", redeliver, "app"),
)
