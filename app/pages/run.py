"""The run page: what a run came to, for those who were given its signed address."""

import base64
import hashlib
from html import escape
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from app.ledger import runs
from app.ledger.pages import load_page
from app.ledger.runs import Run
from app.pages.link import is_token
from app.settings import Settings

STYLE = (Path(__file__).parent / "run.css").read_text(encoding="utf-8")
_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEADERS = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",  # the address is what opens the page
    "X-Robots-Tag": "noindex",
    "Cache-Control": "no-store",
}


def run_route(settings: Settings) -> Route:
    """`/runs/<run id>/<token>`; 404 for a wrong token, whether there is such a run or not."""

    async def show(request: Request) -> Response:
        run_id, token = request.path_params["run_id"], request.path_params["token"]
        if not is_token(settings.webhook_secret, run_id, token):
            return PlainTextResponse("There is no such page.", 404, HEADERS)
        try:
            run = await runs.get(request.state.engine, run_id)
            body = await load_page(request.state.engine, run_id) if run else ""
        except (SQLAlchemyError, OSError):
            return PlainTextResponse("The database does not answer. Try again.", 503, HEADERS)
        if run is None:
            return PlainTextResponse("There is no such page.", 404, HEADERS)
        return HTMLResponse(_page(run, body), headers=HEADERS)

    return Route("/runs/{run_id}/{token}", show)


def _page(run: Run, body: str) -> str:
    name = escape(f"{run.repository}#{run.issue_number}")
    state = escape(f"{run.state}, {run.stage}" if run.is_active and run.stage else run.state)
    said = escape(run.outcome or ("The run goes on; reload for more." if run.is_active else ""))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Prism · {name}</title><style>{STYLE}</style></head><body><main>"
        f"<h1>{name}</h1><p><b>{state}</b> · run <code>{escape(run.id)}</code></p><p>{said}</p>"
        f"{body}</main></body></html>\n"
    )
