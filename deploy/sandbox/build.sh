#!/usr/bin/env bash
# Build images of the sandbox without an image registry: the base with Python and Node.js, and
# on top of it one image per further language, which shares the base's layers.
#
# Packages are data: packages/<name>.txt and packages/<name>.wheels. An image is named
# prism-<name>:<hash of its recipe>, so a changed recipe is a new image, and one that exists is
# not built again. The base's tar is kept in the cache folder: a lost engine costs one import.
# Usage: build.sh [base|go|rust|java|ruby|php]…   (without a name: base)
#        build.sh --name NAME                     (says the image's name, builds nothing)
set -euo pipefail
cd "$(dirname "$0")"
export LC_ALL=C

recipe_of() {
    local parts=(bootstrap.sh install.sh packages/base.*)
    [ "$1" = base ] || parts+=(packages/"$1".*)
    cat "${parts[@]}" | sha256sum | cut -c1-16
}

if [ "${1:-}" = --name ]; then
    echo "prism-$2:$(recipe_of "$2")"
    exit 0
fi

# The recipe's folder with the wheels it names, downloaded with this machine's own pip settings.
gather() {
    mkdir "$work/$1" && cp -r install.sh packages "$work/$1/"
    [ -s "packages/$1.wheels" ] || return 0
    local python=python3
    [ -x ../../.venv/bin/python ] && python=../../.venv/bin/python
    "$python" -m pip download --quiet --no-deps --only-binary :all: --dest "$work/$1/wheels/$1" \
        -r "packages/$1.wheels" 2>"$work/pip.log" || { cat "$work/pip.log" >&2; exit 1; }
}

build_base() {
    local cache="${XDG_CACHE_HOME:-$HOME/.cache}/prism"
    local tar="$cache/base-$1.tar"
    mkdir -p "$cache"
    if [ ! -s "$tar" ]; then
        gather base
        ./bootstrap.sh "$work/base" "$tar"
    fi
    docker import --change 'LABEL prism.role=base' --change "LABEL prism.recipe=$1" \
        "$tar" "prism-base:$1" >/dev/null
}

# No repository's code runs here, so this container has a network and the usual rights.
build_language() {
    local name=$1 recipe=$2
    gather "$name"
    container=$(docker create --label prism.role=image --entrypoint '' \
        "prism-base:$(recipe_of base)" \
        bash -c "/tmp/recipe/install.sh $name && rm -rf /tmp/recipe")
    docker cp -q "$work/$name" "$container:/tmp/recipe"
    docker start --attach "$container"
    docker commit --change "LABEL prism.role=base" --change "LABEL prism.recipe=$recipe" \
        --change 'CMD []' "$container" "prism-$name:$recipe" >/dev/null
    docker rm -f "$container" >/dev/null
    container=
}

work=$(mktemp -d)
container=
trap 'rm -rf "$work"; [ -z "$container" ] || docker rm -f "$container" >/dev/null' EXIT

[ $# -gt 0 ] || set -- base
for name in "$@"; do
    if [ ! -s "packages/$name.txt" ]; then
        echo "There is no recipe for $name: deploy/sandbox/packages/$name.txt is missing." >&2
        exit 1
    fi
    recipe=$(recipe_of "$name")
    docker image inspect "prism-$name:$recipe" >/dev/null 2>&1 && continue
    start=$SECONDS
    if [ "$name" = base ]; then
        echo "Building the sandbox's base image (about half a minute) …"
        build_base "$recipe"
    else
        ./build.sh base
        echo "Building the sandbox's $name image (about a minute) …"
        build_language "$name" "$recipe"
    fi
    echo "Image prism-$name:$recipe is ready after $((SECONDS - start)) s."
done
