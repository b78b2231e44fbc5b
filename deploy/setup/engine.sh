#!/usr/bin/env bash
# See to it that a container engine answers and that the sandbox's base image exists.
#
# As root on Debian it installs and starts Docker Engine where there is none. Quick and silent
# when all is there; the daemon it starts keeps running, its log is /var/log/prism-dockerd.log.
# Names of images (go, rust, java …) after it build those too: engine.sh base go
# With --if-running it installs and starts nothing, and is content when no engine answers.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

answers() { docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

wait_for_engine() {
    for _ in $(seq 150); do
        answers && return 0
        sleep 0.2
    done
    return 1
}

install_missing() {
    local missing=()
    command -v dockerd >/dev/null || missing+=(docker.io cgroupfs-mount)
    command -v docker >/dev/null || missing+=(docker.io)
    command -v mmdebstrap >/dev/null || missing+=(mmdebstrap)
    [ ${#missing[@]} -eq 0 ] && return 0
    command -v apt-get >/dev/null || return 0
    echo "Installing ${missing[*]} …"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${missing[@]}" iptables >/dev/null
}

start_engine() {
    # Machines without systemd may come without cgroup controllers; the engine needs them.
    if [ ! -e /sys/fs/cgroup/cgroup.controllers ] && [ ! -d /sys/fs/cgroup/memory ]; then
        command -v cgroupfs-mount >/dev/null && cgroupfs-mount
    fi
    # Where an init system already starts the engine, give it a moment first.
    [ -d /run/systemd/system ] && wait_for_engine && return 0
    # An engine that was killed leaves pid files, and their numbers may be somebody else's by now.
    if ! pidof dockerd >/dev/null; then
        rm -f /var/run/docker.pid /var/run/docker/containerd/containerd.pid
    fi
    echo "Starting dockerd …"
    setsid nohup dockerd >/var/log/prism-dockerd.log 2>&1 </dev/null &
    wait_for_engine && return 0
    echo "dockerd does not answer; the end of /var/log/prism-dockerd.log:" >&2
    tail -n 15 /var/log/prism-dockerd.log >&2
    return 1
}

if [ "${1:-}" = --if-running ]; then
    answers || exit 0
    "$here/../sandbox/build.sh" || echo "The demo goes on without containers."
    exit 0
fi
if [ "$(id -u)" -eq 0 ] && [ -z "${DOCKER_HOST:-}" ]; then
    install_missing
    answers || start_engine
fi
if ! answers; then
    echo "No container engine answers: start Docker (or set DOCKER_HOST), or run this as root" \
        "on Debian, where it installs and starts one." >&2
    exit 1
fi
exec "$here/../sandbox/build.sh" "$@"
