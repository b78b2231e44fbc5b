"""Mirrors fetched over HTTP with a token that leaves no trace."""

import asyncio
import os
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from app.github.errors import MirrorFailed
from app.github.mirror import Remote, fetch, fetch_commit, mirror_of, resolve_commit
from app.github.source import MirrorSource, checkout
from pipeline.errors import EmptyRepository


async def test_checkout_reads_the_tip_of_the_default_branch(site):
    """A private repository is fetched and read at the branch's tip."""
    source = await site.source()
    assert source.base_commit == site.base
    assert await source.files() == ("README.md", "src/calc.py")
    assert source.repository == f"{site.installation.id}/{site.repo.id}"


async def test_the_token_is_nowhere_on_disk(site):
    """Neither config nor any other file of the data folder holds the token."""
    remote = await site.remote()
    await site.source()
    for path in site.settings.data_dir.rglob("*"):
        if path.is_file():
            assert remote.token.encode() not in path.read_bytes(), path


async def test_there_is_no_work_tree(site):
    """The data folder holds git's own files only."""
    await site.source()
    assert not list(site.settings.data_dir.rglob("calc.py"))


async def test_a_second_checkout_sees_new_commits(site):
    """The mirror is updated; the commit of a running run stays readable without fetching."""
    first = await site.source()
    new = site.hub.seed(site.repo, {"new.py": ""})
    second = await site.source()
    assert (second.base_commit, await second.files()) == (new, ("new.py",))
    git_calls = len(site.requests("POST", "git-upload-pack"))
    again = await checkout(
        site.settings.data_dir, site.installation.id, site.repo.id,
        await site.remote(), "trunk", first.base_commit,
    )  # fmt: skip
    assert await again.files() == await first.files()
    assert len(site.requests("POST", "git-upload-pack")) == git_calls


async def test_one_commit_is_fetched_with_its_history_once(site):
    """Any commit of a branch by its name; a second time nothing is asked of the host."""
    first = site.hub.seed(site.repo, {"new.py": ""})
    newer = site.hub.seed(site.repo, {"newer.py": ""})
    mirror, remote = mirror_of(site.settings.data_dir, 1, 2), await site.remote()
    await fetch_commit(mirror, remote, first)
    asked = len(site.requests("POST", "git-upload-pack"))
    await fetch_commit(mirror, remote, first)
    assert len(site.requests("POST", "git-upload-pack")) == asked > 0
    assert await MirrorSource("x", first, mirror).files() == ("new.py",)
    assert await resolve_commit(mirror, site.base) == site.base
    assert await resolve_commit(mirror, newer) is None


@pytest.mark.parametrize(
    ("name", "commit"), [("acme/calc", "main"), ("acme/calc", "f" * 40), ("../etc", "f" * 40)]
)
async def test_a_commit_that_is_none_is_an_error(site, name, commit):
    """No branch name, no unknown commit, no path."""
    remote = replace(await site.remote(), full_name=name)
    with pytest.raises(MirrorFailed):
        await fetch_commit(mirror_of(site.settings.data_dir, 1, 2), remote, commit)


async def test_checkouts_at_the_same_time_agree(site):
    """Several checkouts of one repository wait for each other."""
    sources = await asyncio.gather(*(site.source() for _ in range(4)))
    assert {source.base_commit for source in sources} == {site.base}


async def test_an_empty_repository_is_named(site):
    """No commit on the default branch is a sentence for people, not a git error."""
    empty = site.hub.add_repository("empty", private=True)
    token = await site.app.token(site.installation.id, empty.id, "read")
    remote = Remote(site.settings.github_url, empty.full_name, token)
    with pytest.raises(EmptyRepository, match="no commit"):
        await checkout(site.settings.data_dir, site.installation.id, empty.id, remote, "main")


async def test_a_bad_token_is_an_error_without_secrets(site):
    """git's refusal is told without the token and without asking for a password."""
    remote = replace(await site.remote(), token="ghs_" + "x" * 40)
    mirror = mirror_of(site.settings.data_dir, 1, 2)
    with pytest.raises(MirrorFailed) as caught:
        await fetch(mirror, remote, "trunk")
    assert "xxxx" not in str(caught.value)


@pytest.mark.parametrize("name", ["../x", "-u/x", "a/b/c", "a b/c", "a/..", "ext::sh/-c"])
async def test_odd_names_never_reach_git(site, name):
    """What is no owner/name is refused before a process starts."""
    mirror = mirror_of(site.settings.data_dir, 1, 2)
    with pytest.raises(MirrorFailed, match="not a repository name"):
        await fetch(mirror, Remote(site.settings.github_url, name), "trunk")


async def test_only_http_is_spoken(site, repository):
    """A local path or another protocol is refused by git's own allow-list."""
    mirror = mirror_of(site.settings.data_dir, 1, 2)
    with pytest.raises(MirrorFailed):
        await fetch(mirror, Remote(f"file://{repository.path.parent}", "x/project"), "trunk")


async def test_redirects_are_not_followed(site):
    """The token never goes where an answer points to."""
    asked = []

    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(302)
            self.send_header("Location", f"{site.hub.url}{self.path}")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        moved = replace(await site.remote(), base_url=f"http://127.0.0.1:{server.server_port}")
        with pytest.raises(MirrorFailed):
            await fetch(mirror_of(site.settings.data_dir, 1, 2), moved, "trunk")
        server.shutdown()
        thread.join()
    assert asked
    assert site.requests("GET", "/info/refs") == []


async def test_a_callers_git_variables_do_not_matter(site, monkeypatch, tmp_path):
    """Started from within a git hook, the mirror is still the mirror."""
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    (tmp_path / "config").write_text("[core]\n\thooksPath = /nowhere\n", encoding="utf-8")
    source = await site.source()
    assert await source.files()
    assert "elsewhere" not in os.listdir(tmp_path)


async def test_unknown_revisions_are_none(site):
    """What names no commit resolves to nothing."""
    source = await site.source()
    for revision in ("refs/heads/other", "0" * 40, "--help", "HEAD:src"):
        assert await resolve_commit(source.mirror, revision) is None
