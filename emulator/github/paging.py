"""Pages of lists: `per_page`, `page` and the Link header that clients follow."""

from dataclasses import replace
from urllib.parse import urlencode

from emulator.github.api import Answer, Call


def page(call: Call, answer: Answer, path: str) -> Answer:
    """Cut the page the query asks for out of `answer.page_of`; other answers stay as they are.

    GitHub gives 30 entries by default and at most 100.
    """
    if answer.page_of is None:
        return answer
    size = max(1, min(int(call.query.get("per_page", 30)), 100))
    number = max(1, int(call.query.get("page", 1)))
    total = len(answer.page_of)
    shown = [answer.show(each) for each in answer.page_of[(number - 1) * size : number * size]]
    last = max(1, -(-total // size))
    links: dict[str, int] = {}
    if number > 1:
        links |= {"prev": min(number - 1, last), "first": 1}
    if number < last:
        links |= {"next": number + 1, "last": last}
    headers = dict(answer.headers)
    if links:
        headers["Link"] = ", ".join(
            f'<{call.state.url}{path}?{_query(call, each)}>; rel="{name}"'
            for name, each in links.items()
        )
    body = shown if answer.wrap is None else answer.wrap(shown, total)
    return replace(answer, body=body, headers=headers)


def _query(call: Call, number: int) -> str:
    return urlencode({**call.query, "page": number})
