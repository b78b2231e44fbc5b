"""Prepare a repository: tree in, base recorded, set-up lines run, everything made ready to copy.

The same steps for every backend; a `Place` says where things are. This is the only phase with a
way to the outside, which an `Egress` describes.
"""

import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from shlex import quote

from sandbox.base import EnvironmentPlan, Limits, Source
from sandbox.environment.packages import is_package
from sandbox.environment.passthrough import secrets_in
from sandbox.errors import SandboxError, SetupFailed
from sandbox.network.authority import java_truststore
from sandbox.network.clients import (
    TRUSTSTORE_PASSWORD,
    apt_configuration,
    bundle_environment,
    java_environment,
)
from sandbox.network.egress import Egress
from sandbox.output import CappedOutput
from sandbox.placing import LIST_LIMIT, SetupRunner, change_tree, check, place_tree
from sandbox.runner import Layout, Outcome, Script
from sandbox.scripts import (
    COPY_EXCLUDES,
    SETTLE,
    WRITE_EXCLUDES,
    exclude_patterns,
    script,
)

LOG_LIMIT = 20_000
REFUSALS_SHOWN = 20
_JAVA, _APT = ".p12", ".apt"  # beside the bundle
_INSTALL = """
set -e
export APT_CONFIG="$1" DEBIAN_FRONTEND=noninteractive
shift
apt-get -qq update
apt-get -qq install -- "$@"
apt-get clean
rm -rf /var/lib/apt/lists/*
"""
_TIDYING_S = 60.0  # what the harness's own steps get at least
_PYTHON_TOOLS = re.compile(r"\b(python|pip|py\.?test)[\d.]*(?![\w-])")
_FIND_SECRETS = 'grep -rlaF -f /dev/stdin "$@" 2>/dev/null | head -3'
# Credentials and caches of package managers; credentials written there would stay in the image.
_SCRUB = """
cd "$1" && rm -rf .config/pip .pip .pypirc .npmrc .yarnrc .netrc .git-credentials .docker \\
  .config/git .gitconfig .m2/settings.xml .cargo/credentials .cargo/credentials.toml \\
  .cache/pip .cache/uv .npm/_cacache .npm/_logs .cache/yarn
"""


async def _nothing() -> None:
    return


@dataclass(frozen=True)
class Place:
    """Where a set-up happens. `home` is the user's folder, `bundle` a path for certificates.

    `make_folders` and `clean` are scripts of the harness around everything else, `trusted` is one
    that fails when the system's programs are not root's any more; `after_lines` is called once
    the set-up lines have run.
    """

    runner: SetupRunner
    venv: str
    home: str
    bundle: str
    python: str
    make_folders: str
    clean: str
    trusted: str = ":"
    after_lines: Callable[[], Awaitable[None]] = _nothing


@dataclass
class Setup:
    """One set-up in one place.

    `installers` are variables of every line. `egress` is the way out, whose certificates and
    settings are taken out again before anything is kept; without one, lines use the network of
    the place. `renewing` says that the place
    was set up already, by the same plan for another commit: what is installed is kept.
    """

    place: Place
    limits: Limits
    installers: Mapping[str, str]
    egress: Egress = field(default_factory=Egress)
    renewing: bool = False
    _deadline: float = field(default=0.0, init=False)
    log: CappedOutput = field(default_factory=lambda: CappedOutput(LOG_LIMIT))

    async def carry_out(self, source: Source, plan: EnvironmentPlan) -> None:
        """All steps in order; raises SetupFailed with the log when a line fails."""
        env = await self.begin(source, plan)
        self._deadline = time.monotonic() + self.limits.setup_timeout_s
        await self.install_packages(plan, self._left_s)
        for line in self._lines(plan):
            await self._line(line, plan, env, self._left_s)
        self._note_refusals()
        await self.place.runner.end_processes()
        await self.place.after_lines()
        await self._settle()
        await self._scrub()

    async def begin(self, source: Source, plan: EnvironmentPlan) -> dict[str, str]:
        """Everything before the first line; returns the variables lines are run with."""
        self._deadline = time.monotonic() + self.limits.setup_timeout_s
        if self.renewing:
            await change_tree(self.place.runner, source, self.limits.setup_timeout_s)
        else:
            await self._root("making folders", Script(self.place.make_folders))
            await place_tree(self.place.runner, source, self.limits.setup_timeout_s)
        env = {
            **self.installers,
            "PIP_NO_CACHE_DIR": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            **dict(plan.variables),
            **self.egress.env,
            **await self._place_trust(),
            "PYTHONDONTWRITEBYTECODE": "",
        }
        if needs_python(plan):
            env["VIRTUAL_ENV"] = self.place.venv
        return env

    async def _place_trust(self) -> dict[str, str]:
        """Files that lead clients through the proxy; returns the variables that name them."""
        way, path = self.egress, self.place.bundle
        if not way.bundle:
            return {}
        files = {
            path: way.bundle,
            path + _JAVA: java_truststore(way.bundle, TRUSTSTORE_PASSWORD),
            path + _APT: apt_configuration(way.port, path).encode(),
        }
        for name, content in files.items():
            await self._root("trust", Script(f"umask 022; cat > {quote(name)}", stdin=content))
        return {**bundle_environment(path), **java_environment(way.port, path + _JAVA)}

    async def install_packages(self, plan: EnvironmentPlan, left_s: float) -> None:
        """Install the plan's Debian packages as root, from the image's own sources."""
        if not plan.packages or self.renewing:
            return
        if not self.egress.port:
            raise SandboxError(
                "The plan names Debian packages, which are only installed in a container: use "
                "the docker sandbox."
            )
        for name in plan.packages:
            if not is_package(name):
                raise SandboxError(f"{name[:80]!r} is not the name of a Debian package.")
        line = f"apt-get install {' '.join(plan.packages)}"
        self.log.feed(f"$ {line}\n".encode())
        task = Script(
            _INSTALL + self.place.trusted,
            args=(self.place.bundle + _APT, *plan.packages),
            timeout_s=max(1.0, left_s),
            output_limit=LOG_LIMIT,
            merged=True,
        )
        self._judge(line, await self.place.runner.as_root(task))

    def _lines(self, plan: EnvironmentPlan) -> tuple[str, ...]:
        venv = (
            (f"{quote(self.place.python)} -m venv {quote(self.place.venv)}",)
            if needs_python(plan) and not self.renewing
            else ()
        )
        return venv + plan.setup

    async def _line(
        self, line: str, plan: EnvironmentPlan, env: Mapping[str, str], left_s: float
    ) -> None:
        self.log.feed(f"$ {line}\n".encode())
        folder = f"{self._layout.tree}/{plan.directory}"
        where = f"cd -- {quote(folder)} || exit\n" if plan.directory else ""
        task = Script(
            where + line,
            env=env,
            timeout_s=max(1.0, left_s),
            output_limit=LOG_LIMIT,
            merged=True,
            project=True,
        )
        self._judge(line, await self.place.runner.run(task))

    def _judge(self, line: str, outcome: Outcome) -> None:
        self.log.feed(outcome.stdout)
        if outcome.disk_limit:
            self.log.feed(b"ended: it wrote more to the disk than a set-up may\n")
        if outcome.exit_code != 0:
            self._note_refusals()
            raise SetupFailed(line, outcome.exit_code, self.log_text, self.egress.denied())

    def _note_refusals(self) -> None:
        """Say in the log what the proxy refused: clients show such answers in odd ways."""
        for sentence in self.egress.refusals()[:REFUSALS_SHOWN]:
            self.log.feed(f"refused: {sentence}\n".encode())

    async def _settle(self) -> None:
        settled = await self.place.runner.run(
            Script(script(SETTLE, self._layout), timeout_s=300, output_limit=LIST_LIMIT)
        )
        check("recording what the set-up made", settled)
        if settled.truncated:
            raise SandboxError("The set-up left too many files beside the repository's own.")
        untracked = tuple(path for path in settled.text.split("\0") if path)
        excludes = exclude_patterns(untracked).encode()
        await self._root("excludes", Script(script(WRITE_EXCLUDES, self._layout), stdin=excludes))
        check("excludes", await self.place.runner.run(Script(script(COPY_EXCLUDES, self._layout))))

    async def _scrub(self) -> None:
        """Take out what must not be in an image; refuse it when a password was kept."""
        scrub = Script(_SCRUB, args=(self.place.home,), timeout_s=300)
        check("clearing credentials", await self.place.runner.run(scrub))
        secrets = secrets_in(self.installers)
        if secrets:
            found = await self.place.runner.run(
                Script(
                    _FIND_SECRETS,
                    args=(self.place.home, self.place.venv, self._layout.tree),
                    stdin="\n".join(secrets).encode(),
                    timeout_s=300,
                )
            )
            if found.stdout:
                raise SandboxError(
                    "A set-up line stored a password of the package index in "
                    f"{found.text.split()[0]}; the environment was thrown away."
                )
        trust = " ".join(quote(self.place.bundle + end) for end in ("", _JAVA, _APT))
        await self._root("cleaning", Script(f"rm -f {trust}\n{self.place.clean}"))

    async def _root(self, what: str, task: Script) -> Outcome:
        """A step of the harness; it may take what is left of the set-up's time."""
        task = replace(task, timeout_s=max(_TIDYING_S, self._left_s))
        outcome = await self.place.runner.as_root(task)
        check(what, outcome)
        return outcome

    @property
    def _left_s(self) -> float:
        return self._deadline - time.monotonic()

    @property
    def _layout(self) -> Layout:
        return self.place.runner.layout

    @property
    def log_text(self) -> str:
        """The log's two ends as text."""
        return self.log.value().decode(errors="replace")


def needs_python(plan: EnvironmentPlan) -> bool:
    """Whether a virtual environment is made: for Python, and when a line calls a tool of it.

    The machine itself need not have a `python`, and its `pip` may not install.
    """
    lines = "\n".join((*plan.setup, plan.test))
    return plan.language == "python" or bool(_PYTHON_TOOLS.search(lines))
