"""Shell scripts of the harness: git on a tree nobody trusts, files, ending processes.

They run where the tree is, never beside it. git is given its own GIT_DIR in every call, so a
`.git` in the tree – deleted, poisoned or nested – decides nothing; attributes, filters, hooks
and configuration of tree and user are switched off. Source: sandbox.md attacks on git, as
tests in tests/sandbox.
"""

from shlex import quote

from sandbox.runner import Layout

# Never part of a patch or a snapshot, whatever .gitignore says.
GENERATED = (
    "__pycache__/",
    "*.py[co]",
    ".pytest_cache/",
    ".mypy_cache/",
    ".ruff_cache/",
    ".hypothesis/",
    ".coverage",
    "*.egg-info/",
    "node_modules/",
)

_GIT = """
set -e
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_OPTIONAL_LOCKS=0
export GIT_TERMINAL_PROMPT=0 GIT_WORK_TREE="$tree"
export GIT_AUTHOR_NAME=prism GIT_AUTHOR_EMAIL=prism@localhost GIT_AUTHOR_DATE='@0 +0000'
export GIT_COMMITTER_NAME=prism GIT_COMMITTER_EMAIL=prism@localhost GIT_COMMITTER_DATE='@0 +0000'
git() {
  command git -c core.bare=false -c core.fsmonitor=false -c core.hooksPath=/dev/null \\
    -c core.attributesFile=/dev/null -c core.excludesFile=/dev/null -c core.autocrlf=false \\
    -c safe.directory='*' "$@"
}
bare_repository() (
  unset GIT_DIR GIT_WORK_TREE
  command git init -q --bare "$1"
)
# Highest precedence: no line-ending conversion, filter or diff driver of the tree applies.
plain_attributes() {
  mkdir -p "$1/info"
  echo '* -text !eol -ident !filter !working-tree-encoding !diff !merge' > "$1/info/attributes"
}
cd "$tree"
"""

RECORD_BASE = (
    _GIT
    + """
bare_repository "$base_git"
plain_attributes "$base_git"
: > "$base_git/info/exclude"
export GIT_DIR="$base_git" GIT_INDEX_FILE="$base_git/index"
git add -A -f
commit=$(git commit-tree -m base "$(git write-tree)")
git update-ref refs/heads/base "$commit"
git symbolic-ref HEAD refs/heads/base
rm -f "$base_git/index"
chmod -R a+rX "$base_git"
git ls-tree -r -z --name-only HEAD
"""
)

# After the set-up, as the sandbox user: tracked files as in the commit again, a repository for the
# agent to look at, and the list of everything the set-up left untracked.
SETTLE = (
    _GIT
    + """
base=$(GIT_DIR="$base_git" git rev-parse HEAD)
mine=$(mktemp -d "$scratch/settle.XXXXXX")
trap 'rm -rf "$mine"' EXIT
export GIT_DIR="$base_git" GIT_INDEX_FILE="$mine/index"
git read-tree "$base"
git update-index -q --refresh || true
git checkout-index -q -f -u -a
rm -rf "$tree/.git"
(
  unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
  command git init -q -b main "$tree"
  export GIT_DIR="$tree/.git" GIT_WORK_TREE="$tree"
  plain_attributes "$tree/.git"
  echo "$base_git/objects" > "$tree/.git/objects/info/alternates"
  git config user.name sandbox
  git config user.email sandbox@localhost
  git update-ref refs/heads/main "$base"
  git read-tree "$base"
  git update-index -q --refresh || true
)
git ls-files -z -o --directory --no-empty-directory
"""
)

# As root: the excludes, and the repository of snapshots. Repository code can read both. Of the
# latter the extracting user may write objects, refs and the index; the rest stays root's.
WRITE_EXCLUDES = (
    _GIT
    + """
cat > "$base_git/info/exclude"
chmod a+r "$base_git/info/exclude"
rm -rf "$work_git"
bare_repository "$work_git"
plain_attributes "$work_git"
cp "$base_git/info/exclude" "$work_git/info/exclude"
echo "$base_git/objects" > "$work_git/objects/info/alternates"
base=$(GIT_DIR="$base_git" git rev-parse HEAD)
export GIT_DIR="$work_git" GIT_INDEX_FILE="$work_git/own/index"
mkdir "$work_git/own" "$work_git/refs/prism"
git update-ref refs/prism/base "$base"
git read-tree "$base"
chmod -R a+rX "$work_git"
if [ "$(id -u)" = 0 ]; then
  chown -R 10003:10003 "$work_git/objects" "$work_git/refs/prism" "$work_git/own"
fi
"""
)

COPY_EXCLUDES = """
cp "$base_git/info/exclude" "$tree/.git/info/exclude"
"""

# As the sandbox user, before the tree is read. A test suite can leave behind what git stumbles
# over: folders and files that are closed to others or to their own user, and nested repositories
# without a commit, which hold nothing yet but make `git add` fail; their files count as plain
# ones. Ignored folders keep theirs. One walk: it is a good part of a snapshot's time.
OPEN_UP = (
    'chmod u+rwx,go+rx "$tree" 2>/dev/null || true\n'  # else not even `cd` gets there
    + _GIT
    + """
export GIT_DIR="$work_git" GIT_INDEX_FILE="$work_git/own/index"
find . -xdev -path ./.git -prune -o \\( \\( \\
    -type d ! -perm -755 -exec chmod u+rwx,go+rx {} \\; \\
    -o -type f ! -perm -444 -exec chmod a+r {} + -o -true \\) , -name .git -prune -print0 \\) \\
  2>/dev/null | while IFS= read -r -d '' nested; do
  folder=$(dirname -- "$nested")
  GIT_DIR="$nested" git rev-parse -q --verify HEAD >/dev/null 2>&1 && continue
  git check-ignore -q -- "$folder" 2>/dev/null || rm -rf -- "$nested"
done
"""
)

# As the extracting user, whose git runs nothing of the tree: for nested repositories that were
# in the index already it would ask a git inside them, whose configuration names programs.
_READ_TREE = (
    _GIT
    + """
export HOME="$work_git/own" GIT_DIR="$work_git" GIT_INDEX_FILE="$work_git/own/index"
rm -f "$work_git/own/index.lock" "$work_git"/refs/prism/*.lock
read_tree() {
  if git ls-files -s | grep -q '^160000 '; then
    git ls-files -s -z | sed -z -n 's/^160000 [^\\t]*\\t//p' |
      git update-index --force-remove -z --stdin
  fi
  git add -A "$@" >&2
}
# Root's own word for the base; and a snapshot is the commit it is named by or none at all.
read -r base < "$base_git/refs/heads/base"
[ "$(git rev-parse -q --verify refs/prism/base)" = "$base" ] ||
  { echo "the recorded base was changed" >&2; exit 3; }
exists() {
  local found
  found=$(git rev-parse -q --verify "refs/prism/$1") || { echo "no such snapshot" >&2; exit 3; }
  [ "$found" = "$1" ] || { echo "the snapshot was changed" >&2; exit 3; }
}
"""
)

DIFF = (
    _READ_TREE
    + """
read_tree --ignore-errors
export GIT_OBJECT_DIRECTORY="$work_git/objects"
show() {
  GIT_DIR="$1" git diff --cached --binary --full-index --no-ext-diff \\
    --no-textconv --no-renames --no-color --src-prefix=a/ --dst-prefix=b/ "$base" -- "${@:2}"
}
if [ "$1" != split ]; then show "$work_git"; exit; fi
# Once more, file by file: what is not UTF-8 before or after is shown as a binary change.
mine=$(mktemp -d "$scratch/extract.XXXXXX")
trap 'rm -rf "$mine"' EXIT
utf8() { git cat-file blob "$1" 2>/dev/null | iconv -f UTF-8 -t UTF-8 >/dev/null 2>&1; }
bare_repository "$mine/binary"
echo '* -diff' > "$mine/binary/info/attributes"
git diff --cached --name-only --no-renames -z "$base" | while IFS= read -r -d '' path; do
  if utf8 ":$path" && utf8 "$base:$path"; then kind="$work_git"; else kind="$mine/binary"; fi
  show "$kind" ":(top,literal)$path"
done
"""
)

SNAPSHOT = (
    _READ_TREE
    + """
read_tree
commit=$(git commit-tree -m snapshot -p "$base" "$(git write-tree)")
git update-ref "refs/prism/$commit" "$commit"
echo "$commit"
"""
)

# Two steps: the extracting user brings the index up to date with the tree, and the sandbox user,
# who alone may write the tree, goes on from a copy of it, so that only what differs is written.
RESTORE_INDEX = (
    _READ_TREE
    + """
exists "$1"
read_tree
"""
)
RESTORE_FILES = (
    _GIT
    + """
mine=$(mktemp -d "$scratch/restore.XXXXXX")
trap 'rm -rf "$mine"' EXIT
cp "$work_git/own/index" "$mine/index"
export GIT_DIR="$work_git" GIT_INDEX_FILE="$mine/index"
git read-tree --reset -u "$1^{tree}"
git clean -ffdq
"""
)

# Snapshots on their way to another workspace; what arrives is checked as if anybody had sent it.
PACK = (
    _READ_TREE
    + """
for name in "$@"; do exists "$name"; done
{ printf '%s\\n' "$@" "^$base"; } |
  git -c pack.threads=1 pack-objects --revs --thin --stdout -q
"""
)
UNPACK = (
    _READ_TREE
    + """
limit=$1; shift
git -c pack.threads=1 index-pack --stdin --fix-thin --max-input-size="$limit" >&2
for name in "$@"; do
  [ "$(git rev-parse -q --verify "$name^{commit}")" = "$name" ]
  git rev-list --objects --quiet "$name" "^$base"
  git update-ref "refs/prism/$name" "$name"
done
"""
)

APPLY = (
    _GIT
    + """
export GIT_DIR="$work_git"
git apply --whitespace=nowarn - 2>&1
"""
)

# Exit codes of the file scripts: 2 no such file, 4 outside the workspace, 5 too large,
# 6 the system refuses the path (standard error says why).
READ = """
real=$(realpath -m -- "$tree/$1") || exit 2
case "$real" in "$tree"/*) ;; *) exit 4 ;; esac
[ -f "$real" ] || exit 2
[ "$(stat -c %s -- "$real")" -le "$2" ] || exit 5
head -c "$2" -- "$real" || exit 6
"""

WRITE = """
real=$(realpath -m -- "$tree/$1") || exit 4
case "$real" in "$tree"/*) ;; *) exit 4 ;; esac
[ -d "$real" ] && exit 2
mkdir -p -- "$(dirname -- "$real")" && cat > "$real" || exit 6
"""

READ_REPORT = """
[ -f "$1" ] && [ ! -L "$1" ] || exit 2
exec head -c "$2" -- "$1"
"""

# Ends processes of the calling user until none is left: all but this shell, or, given a
# marker, those that carry it in their environment. A process that has SIGKILL pending cannot
# fork, so a round catches a fork bomb too. One that waits for a disk takes a while to go.
END_PROCESSES = """
exec 2>/dev/null
for round in {1..80}; do
  [ -n "$1" ] || kill -9 -1
  left=
  for p in /proc/[0-9]*; do
    [ "$p" = "/proc/$$" ] || [ ! -O "$p" ] && continue
    read -r line < "$p/stat" || continue
    case "${line##*) }" in Z*|X*) continue ;; esac
    if [ -n "$1" ]; then
      tr '\\0' '\\n' < "$p/environ" | grep -qx "PRISM_COMMAND=$1" || continue
      kill -9 "${p#/proc/}"
    fi
    left=1
  done
  [ -n "$left" ] || exit 0
  sleep 0.02
done
exit 1
"""


def script(text: str, layout: Layout) -> str:
    """A script with the layout's paths as shell variables."""
    paths = {
        "tree": layout.tree,
        "base_git": layout.base_git,
        "work_git": layout.work_git,
        "scratch": layout.scratch,
    }
    return "".join(f"{name}={quote(path)}\n" for name, path in paths.items()) + text


def exclude_patterns(untracked: tuple[str, ...]) -> str:
    """The exclude file: generated names and the exact paths the set-up left untracked.

    A path that ends with "/" stands for a folder and everything below it.
    """
    lines = list(GENERATED)
    for path in untracked:
        if "\n" in path:
            continue  # cannot be written down; it would then show up in patches
        escaped = "".join("\\" + c if c in "\\*?[" else c for c in path)
        if escaped.endswith(" "):
            escaped = escaped[:-1] + "\\ "
        lines.append("/" + escaped)
    return "\n".join(lines) + "\n"
