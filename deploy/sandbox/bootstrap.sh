#!/usr/bin/env bash
# Make the base image's file system as a tar, without an image registry: Debian packages by
# mmdebstrap from this machine's own apt sources, Node.js from a Python wheel.
# Usage: bootstrap.sh RECIPE_FOLDER TAR (the folder holds install.sh, packages/ and wheels/)
set -euo pipefail
recipe=$1
tar=$2

if ! command -v mmdebstrap >/dev/null; then
    echo "The sandbox's base image is missing and so is mmdebstrap to build it: install" \
        "mmdebstrap, or build deploy/sandbox/Dockerfile and set PRISM_SANDBOX_IMAGE." >&2
    exit 1
fi
# The host's sources file carries mirror, components and security suite, whatever they are.
for sources in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list \
    /etc/apt/sources.list.d/*.sources; do
    [ -s "$sources" ] && break
done
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
mmdebstrap --quiet --variant=minbase --include="$(paste -sd, "$recipe/packages/base.txt")" \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='force-unsafe-io' \
    --aptopt='Acquire::Check-Valid-Until "false"' \
    --customize-hook='mkdir -p "$1/workspace" "$1/tmp/recipe"' \
    --customize-hook="sync-in $recipe /tmp/recipe" \
    --customize-hook='chroot "$1" /tmp/recipe/install.sh base' \
    --customize-hook='rm -rf "$1/tmp/recipe"' \
    "$suite" "${tar%.tar}.part.tar" "$sources"
mv "${tar%.tar}.part.tar" "$tar"
