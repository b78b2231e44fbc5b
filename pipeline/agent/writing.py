"""Tools that change or run: edit, shell, run_tests. Coders get these beside the reading ones."""

from dataclasses import dataclass

from pipeline.agent.tool import Tool, ToolProblem, inside, make_tool
from pipeline.index.units import parses
from sandbox.base import Command, TestRun, Workspace
from sandbox.errors import FileNotFound

MAX_SHELL_S = 120
SHOWN_TESTS = 40
SHOWN_OUTPUT = 4000


@dataclass(frozen=True, slots=True)
class EditArguments:
    """Input of `edit`: `old` must occur exactly once; with `create` the file is new."""

    path: str
    new: str
    old: str = ""
    create: bool = False


@dataclass(frozen=True, slots=True)
class ShellArguments:
    """Input of `shell`."""

    command: str
    timeout: int = 60


@dataclass(frozen=True, slots=True)
class TestArguments:
    """Input of `run_tests`; no targets means the whole suite."""

    targets: tuple[str, ...] = ()

    __test__ = False


def writing_tools(workspace: Workspace) -> tuple[Tool, ...]:
    """edit, shell and run_tests over one workspace."""

    async def edit(arguments: EditArguments) -> str:
        path = inside(workspace.path, arguments.path)
        text = await _edited(workspace, path, arguments)
        await workspace.write(path, text)
        note = await _parse_note(path, text)
        return f"{path} {'created' if arguments.create else 'changed'}. {note}"

    async def shell(arguments: ShellArguments) -> str:
        seconds = min(max(1, arguments.timeout), MAX_SHELL_S)
        result = await workspace.exec(Command(arguments.command, timeout_s=seconds))
        if result.timed_out:
            how = f"ended after {seconds} s: the time limit"
        elif result.out_of_memory:
            how = "ended: out of memory"
        else:
            how = f"exit code {result.exit_code}"
        return f"({how})\n{result.output}".rstrip()

    async def run_tests(arguments: TestArguments) -> str:
        return summary(await workspace.test(arguments.targets))

    return (
        make_tool(
            "edit",
            "Replace one passage of a file: `old` must occur exactly once, with its exact "
            "indentation. With create=true, write `new` as a new file.",
            EditArguments,
            edit,
        ),
        make_tool(
            "shell",
            "Run a command with bash in the repository's root: no network, at most "
            f"{MAX_SHELL_S} s, long output is cut in the middle.",
            ShellArguments,
            shell,
        ),
        make_tool(
            "run_tests",
            "Run tests with the repository's own test command and see the result of each. "
            "`targets` are files or test ids; without targets the whole suite runs.",
            TestArguments,
            run_tests,
        ),
    )


def occurrences(text: str, part: str) -> int:
    """How often `part` occurs, overlapping ones counted; "" occurs once in an empty text only."""
    if not part:
        return 0 if text else 1
    count, at = 0, text.find(part)
    while at >= 0:
        count, at = count + 1, text.find(part, at + 1)
    return count


def summary(run: TestRun) -> str:
    """A test run in words: counts, then what failed, then the end of the output."""
    if not run.results:
        how = "ran out of time" if run.timed_out else "gave no result"
        return f"The test run {how}.\n{run.output[-SHOWN_OUTPUT:]}".rstrip()
    bad = sorted(run.with_status("fail") | run.with_status("error"))
    good = sorted(run.with_status("pass"))
    skipped = len(run.results) - len(bad) - len(good)
    parts = [f"{len(bad)} failed, {len(good)} passed, {skipped} skipped"]
    parts += [f"{run.results[test].upper()} {test}" for test in bad[:SHOWN_TESTS]]
    if bad:
        return "\n".join([*parts, run.output[-SHOWN_OUTPUT:].rstrip()])
    return "\n".join([*parts, *(f"PASS {test}" for test in good[:SHOWN_TESTS])])


async def _edited(workspace: Workspace, path: str, arguments: EditArguments) -> str:
    try:
        text = await workspace.read(path)
    except FileNotFound:
        if arguments.create:
            return arguments.new
        raise ToolProblem(
            f"There is no file {path}. Use create=true for a new one, or `list` to find it."
        ) from None
    if arguments.create:
        raise ToolProblem(f"{path} exists. Leave create out and name the passage to replace.")
    count = occurrences(text, arguments.old)
    if count == 0:
        raise ToolProblem(
            f"`old` does not occur in {path}. `view` the place again: indentation and line "
            "breaks must be exact, without line numbers."
        )
    if count > 1:
        raise ToolProblem(f"`old` occurs {count} times in {path}; take more lines around it.")
    return text.replace(arguments.old, arguments.new, 1)


async def _parse_note(path: str, text: str) -> str:
    ok = await parses(path, text)
    if ok is None:
        return ""
    return "It parses." if ok else "It does NOT parse any more: view the place and repair it."
