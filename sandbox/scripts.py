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

# After the set-up: tracked files as in the commit again, a repository for the agent to look at,
# and the list of everything the set-up left untracked.
SETTLE = (
    _GIT
    + """
bare_repository "$work_git"
plain_attributes "$work_git"
echo "$base_git/objects" > "$work_git/objects/info/alternates"
base=$(GIT_DIR="$base_git" git rev-parse HEAD)
export GIT_DIR="$work_git"
git read-tree "$base"
git update-index -q --refresh || true
git checkout-index -q -f -u -a
git update-ref refs/prism/base "$base"
rm -rf "$tree/.git"
(
  unset GIT_DIR GIT_WORK_TREE
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

WRITE_EXCLUDES = """
cat > "$base_git/info/exclude"
chmod a+r "$base_git/info/exclude"
"""

COPY_EXCLUDES = """
cp "$base_git/info/exclude" "$work_git/info/exclude"
cp "$base_git/info/exclude" "$tree/.git/info/exclude"
"""

# What a test suite can leave behind that git stumbles over: folders and files closed to their
# own user, locks of an ended git, and nested repositories without a commit, which hold nothing
# yet but make `git add` fail; their files count as plain ones. Ignored folders keep theirs.
_TIDY = (
    """
find "$tree" -xdev -type d ! -perm -700 -exec chmod u+rwx {} \\; 2>/dev/null || true
find "$tree" -xdev -type f ! -perm -400 -exec chmod u+r {} + 2>/dev/null || true
find "$work_git" -xdev -name '*.lock' -delete 2>/dev/null || true
"""
    + _GIT
    + """
export GIT_DIR="$work_git"
find . -xdev -mindepth 2 -name .git -prune -print0 | while IFS= read -r -d '' nested; do
  folder=$(dirname -- "$nested")
  GIT_DIR="$nested" git rev-parse -q --verify HEAD >/dev/null 2>&1 && continue
  git check-ignore -q -- "$folder" 2>/dev/null || rm -rf -- "$nested"
done
"""
)

# Files the sandbox user made unreadable would be missing from the patch.
OPEN_MODES = (
    _TIDY
    + """
find "$tree" -xdev \\( -type d ! -perm -055 -o -type f ! -perm -044 \\) \\
  -exec chmod go+rX {} + 2>/dev/null || true
"""
)

DIFF = (
    _GIT
    + """
mine=$(mktemp -d "$scratch/extract.XXXXXX")
trap 'rm -rf "$mine"' EXIT
mkdir "$mine/objects"
export HOME="$mine" GIT_DIR="$base_git" GIT_INDEX_FILE="$mine/index"
export GIT_OBJECT_DIRECTORY="$mine/objects" GIT_ALTERNATE_OBJECT_DIRECTORIES="$base_git/objects"
git read-tree HEAD
git add -A --ignore-errors >&2
base=$(git rev-parse HEAD)
show() {
  GIT_DIR="$1" git diff --cached --binary --full-index --no-ext-diff \\
    --no-textconv --no-renames --no-color --src-prefix=a/ --dst-prefix=b/ "$base" -- "${@:2}"
}
if [ "$1" != split ]; then show "$base_git"; exit; fi
# Once more, file by file: what is not UTF-8 before or after is shown as a binary change.
utf8() { git cat-file blob "$1" 2>/dev/null | iconv -f UTF-8 -t UTF-8 >/dev/null 2>&1; }
bare_repository "$mine/binary"
echo '* -diff' > "$mine/binary/info/attributes"
git diff --cached --name-only --no-renames -z "$base" | while IFS= read -r -d '' path; do
  if utf8 ":$path" && utf8 "$base:$path"; then kind="$base_git"; else kind="$mine/binary"; fi
  show "$kind" ":(top,literal)$path"
done
"""
)

SNAPSHOT = (
    _TIDY
    + """
git add -A >&2
commit=$(git commit-tree -m snapshot -p refs/prism/base "$(git write-tree)")
git update-ref "refs/prism/$commit" "$commit"
echo "$commit"
"""
)

RESTORE = (
    _TIDY
    + """
git rev-parse -q --verify "refs/prism/$1" >/dev/null || { echo "no such snapshot" >&2; exit 3; }
git add -A >&2
git read-tree --reset -u "refs/prism/$1"
git clean -ffdq
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
# fork, so a round catches a fork bomb too.
END_PROCESSES = """
exec 2>/dev/null
for round in 1 2 3 4 5 6 7 8 9 10; do
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
