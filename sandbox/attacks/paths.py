"""Paths and archives that lead elsewhere or never end."""

import io
import tarfile

from sandbox.attacks.base import Attack, Finding, Scene, first_line
from sandbox.base import Command
from sandbox.errors import FileNotFound, NotAllowed, SandboxError

_OUTSIDE = ("link", "dir/x", "../etc/passwd", "/etc/passwd", "a/../../x", "src/../../../etc/shadow",
            "/proc/self/environ", "dir", ".", "", "nul\0byte")  # fmt: skip


async def _refused(scene: Scene, path: str, *, write: bool) -> bool:
    try:
        if write:
            await scene.workspace.write(path, "x")
        else:
            await scene.workspace.read(path)
    except (NotAllowed, FileNotFound):
        return True
    return False


async def _links(scene: Scene) -> Finding:
    await scene.shell("ln -sfn /etc/passwd link; ln -sfn /tmp dir")
    passed = [
        repr(path)
        for path in _OUTSIDE
        for write in (False, True)
        if not await _refused(scene, path, write=write)
    ]
    await scene.shell("rm -f link dir")
    seen = f"passed: {passed[0]}" if passed else f"{len(_OUTSIDE)} paths, read and write refused"
    return Finding(not passed, seen)


async def _odd_files(scene: Scene) -> Finding:
    await scene.shell("mkfifo pipe; ln -s loop loop; ln -s /dev/zero zero; truncate -s 40M sparse")
    names = ("pipe", "loop", "zero", "sparse")
    passed = [name for name in names if not await _refused(scene, name, write=False)]
    await scene.shell("rm -f pipe loop zero sparse")
    return Finding(not passed, f"passed: {passed}" if passed else "4 of 4 refused, none waited for")


async def _swapped(scene: Scene) -> Finding:
    """A link that changes while it is looked at leads nowhere the user could not go anyway."""
    await scene.shell(
        "echo mine > swap; setsid bash -c 'while :; do ln -sfn /etc/shadow swap; "
        "rm -f swap; echo mine > swap; done' >/dev/null 2>&1 &"
    )
    seen = set()
    for _ in range(8):
        try:
            seen.add((await scene.workspace.read("swap")).strip())
        except SandboxError as error:
            seen.add(type(error).__name__)
    await scene.workspace.diff()  # ends the process
    await scene.shell("rm -f swap")
    return Finding(seen <= {"mine", "", "NotAllowed", "FileNotFound"}, f"8 reads: {sorted(seen)}")


async def _tree_closed(scene: Scene) -> Finding:
    await scene.workspace.write("before.txt", "here\n")
    await scene.shell("chmod 0 . ; chmod -R 0 src 2>/dev/null; true")
    patch = await scene.workspace.diff()
    await scene.shell("rm -f before.txt")
    return Finding("+here" in patch, "opened again; the patch is whole")


def _archive() -> bytes:
    """A tar with every trick a tar can carry."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:

        def add(
            name: str, kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o644
        ) -> None:
            info = tarfile.TarInfo(name)
            info.type, info.linkname, info.mode = kind, link, mode
            data = b"evil\n" if kind == tarfile.REGTYPE else b""
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))

        add("fine.txt")
        add("to-etc", tarfile.SYMTYPE, "/etc")
        add("to-etc/evil")
        add("up", tarfile.SYMTYPE, "../../tmp")
        add("up/evil-up")
        add("shadow", tarfile.LNKTYPE, "/etc/shadow")
        add("block", tarfile.BLKTYPE)
        add("char", tarfile.CHRTYPE)
        add("setuid", mode=0o6755)
        add("../evil-dots")
        add("/tmp/evil-absolute")  # noqa: S108 - must not be made
    return out.getvalue()


async def _archives(scene: Scene) -> Finding:
    """Unpacked as the set-up unpacks a tree: by tar, as the sandbox user, below one folder."""
    unpack = Command(
        'mkdir unpacked && tar -x --no-same-owner -C "$PWD/unpacked" -f -', stdin=_archive()
    )
    result = await scene.workspace.exec(unpack)
    found = await scene.shell(
        "find /etc /tmp /workspace -maxdepth 1 -name 'evil*' 2>/dev/null; ls /evil* 2>/dev/null; "
        "find unpacked -type b -o -type c; find unpacked -user 0; "
        "[ unpacked/shadow -ef /etc/shadow ] && echo linked; rm -rf unpacked"
    )
    held = not found.output.strip() and result.exit_code != 0
    return Finding(held, first_line(found.output) or "nothing outside, no device; tar said no")


async def _odd_names(scene: Scene) -> Finding:
    names = ("new\\nline", "tab\\there", "\\033[31mred", "-rf", "a b", 'quo"te', "back\\\\slash")
    quoted = " ".join(f"$'{name}'" for name in names)
    await scene.shell(f'for n in {quoted}; do echo x > ./"$n"; done')
    patch = await scene.workspace.diff()
    count = patch.count("\nnew file mode 100644\n")
    raw = any(ord(c) < 32 and c not in "\n\t" for c in patch)
    await scene.shell(f'for n in {quoted}; do rm -f ./"$n"; done')
    return Finding(count == len(names) and not raw, f"{count} files in the patch, names escaped")


PATHS = (
    Attack("outside", "paths", "read and write through links, `..`, absolute paths, NUL",
           "real paths are compared with the tree", _links),
    Attack("odd-files", "paths", "have a pipe, an endless device, a sparse giant read",
           "only regular files up to 1 MB are read", _odd_files),
    Attack("swapped", "paths", "swap a file for a link while it is read",
           "reading runs as the sandbox user, inside", _swapped, alone=True),
    Attack("closed-tree", "paths", "close the tree's folders to everybody",
           "modes are opened before the patch is made", _tree_closed, alone=True),
    Attack("archives", "paths", "an archive with links, devices, set-uid files, `..`",
           "unpacked by tar as the sandbox user, never on the host", _archives),
    Attack("odd-names", "paths", "file names with control characters, spaces, leading dashes",
           "git quotes them; the patch policy refuses them", _odd_names),
)  # fmt: skip
