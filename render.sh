#!/usr/bin/env bash
# The front door: makes .venv if there is none, then renders. See ./render.sh --help.
# Runs with the bash 3.2 that macOS has. LECTURE_PYTHON names the Python to build .venv with.
set -euo pipefail
unset PYTHONHOME PYTHONPATH # they would lead .venv to the packages of another Python

say() { printf 'render.sh: %s\n' "$*" >&2; }
fail() { say "$*"; exit 2; }

# The folder of this script, through any symbolic links.
source_file=${BASH_SOURCE[0]}
while [ -L "$source_file" ]; do
    link=$(readlink "$source_file")
    case $link in
        /*) source_file=$link ;;
        *) source_file=$(dirname -- "$source_file")/$link ;;
    esac
done
ROOT=$(CDPATH='' cd -- "$(dirname -- "$source_file")" && pwd -P)
VENV=$ROOT/.venv
VENV_PYTHON=$VENV/bin/python
EXTRAS_KEPT=$ROOT/.venv.extras # outlives .venv, so that a new one has the same extras

# The extras that were asked for so far, as pip takes them: cluster,s3
extras() { if [ -s "$EXTRAS_KEPT" ]; then cat "$EXTRAS_KEPT"; fi; }
keep_extras() {
    printf '%s' "${1:+$1
}" >"$EXTRAS_KEPT.new"
    mv "$EXTRAS_KEPT.new" "$EXTRAS_KEPT"
}

# What an environment must have been made from: checked at every start, so it is cheap.
wanted_state() {
    printf '%s\n' "$ROOT"
    cksum <"$ROOT/pyproject.toml"
    cksum <"$ROOT/constraints.txt"
    extras
}

# ready_for NAME: whether .venv holds the packages of the stamp NAME, as now wanted.
ready_for() {
    [ -x "$VENV_PYTHON" ] && [ -f "$VENV/$1" ] && [ "$(cat "$VENV/$1")" = "$(wanted_state)" ]
}

is_new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

# Prints the path of a Python of 3.11 or newer, or nothing.
find_python() {
    local name
    if [ -n "${LECTURE_PYTHON:-}" ]; then
        is_new_enough "$LECTURE_PYTHON" ||
            fail "LECTURE_PYTHON=$LECTURE_PYTHON is no Python of 3.11 or newer"
        command -v "$LECTURE_PYTHON"
        return
    fi
    for name in python3.13 python3.12 python3.11 python3; do
        if command -v "$name" >/dev/null && is_new_enough "$name"; then
            command -v "$name"
            return
        fi
    done
}

# as_root COMMAND...: run it as root, if that needs no password.
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n -- "$@"; fi
}
may_be_root() {
    [ "$(id -u)" = 0 ] || { sudo -n true 2>/dev/null; }
}

# moving WHAT COMMAND...: run a command that takes minutes, and meanwhile say how long it has taken
# and what it said last: in place on a terminal, else a line every ten seconds. Where it fails its
# last lines are shown. The exit code is the command's.
moving() {
    local what=$1
    shift
    {
        local code=0
        "$@" </dev/null 2>&1 || code=$?
        trap '' PIPE
        printf '%s %s\n' "$END" "$code" 2>/dev/null || true
        exit "$code"
    } | tell "$what"
}
END=$'\001end' # no line of a command begins so

# tell WHAT: reads what a command says, until its last line, which holds the exit code.
tell() {
    local what=$1 line code stage='' said='' began=$SECONDS next=10 each=10 waited
    if [ -t 2 ]; then each=1 next=0; fi
    while :; do
        code=0 waited=$SECONDS
        IFS= read -r -t "$each" line || code=$?
        if [ "$code" = 0 ]; then
            case $line in
                "$END "*) code=${line##* } && break ;;
            esac
            said=$said$line$'\n'
            if [ "${#said}" -gt 8000 ]; then said=${said:4000}; fi
            case $line in
                *WARNING* | *notice*) ;; # of no use to a newcomer while all goes well
                *)
                    stage=${line//[[:cntrl:]]/}
                    stage=${stage#"${stage%%[! ]*}"} # without blanks before
                    ;;
            esac
        elif [ "$code" -le 128 ] && [ $((SECONDS - waited)) -lt "$each" ]; then
            break # it was killed
        fi
        if [ $((SECONDS - began)) -ge "$next" ]; then
            next=$((SECONDS - began + each))
            tell_stage "$what, $((SECONDS - began)) s${stage:+: ${stage:0:60}}"
        fi
    done
    if [ -t 2 ]; then printf '\r\033[K' >&2; fi
    if [ "$code" != 0 ]; then printf '%s' "$said" >&2; fi
}
tell_stage() {
    if [ -t 2 ]; then printf '\r\033[Krender.sh: %s' "$1" >&2; else say "$1"; fi
}

# apt_get COMMAND ARGUMENT...: as root. Waits ten minutes at most for another apt, which holds locks.
apt_get() {
    local said tries=0 command=$1
    shift
    while ! said=$(as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C \
        apt-get "$command" -qq -o DPkg::Lock::Timeout=600 "$@" 2>&1); do
        tries=$((tries + 1))
        case $said in
            *"ould not get lock"*) if [ "$tries" -lt 60 ]; then sleep 10 && continue; fi ;;
        esac
        printf '%s\n' "$said"
        return 1
    done
}

# apt_install PACKAGE...: install, or tell the person what to type.
apt_install() {
    if ! may_be_root; then
        say "this system lacks packages that only an administrator can install. Type, then try again:"
        say "  sudo apt-get install $*"
        exit 2
    fi
    say "installing $*"
    moving "looking for packages" apt_get update ||
        say "apt-get update failed; trying with the lists there are"
    moving "installing packages" apt_get install -y --no-install-recommends "$@" ||
        fail "apt-get could not install: $*; the lines above say why"
}

# Sets PYTHON; gets one on systems that can give one.
need_python() {
    local name
    PYTHON=$(find_python)
    [ -z "$PYTHON" ] || return 0
    if command -v apt-get >/dev/null; then
        if may_be_root; then moving "looking for packages" apt_get update || true; fi
        for name in python3.13 python3.12 python3.11; do
            if apt-cache show "$name" 2>/dev/null | grep -q '^Package:'; then
                apt_install "$name" "$name-venv" "$name-dev"
                PYTHON=$(command -v "$name")
                return 0
            fi
        done
    elif command -v brew >/dev/null; then
        say "installing python@3.12 with Homebrew"
        moving "installing Python" brew install --quiet python@3.12 || fail "brew could not install python@3.12"
        PYTHON=$(brew --prefix)/bin/python3.12
        return 0
    fi
    name=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || echo none)
    fail "Python 3.11 or newer is needed, this system offers $name (Debian 11 has 3.9)." \
        "Use Debian 12, Ubuntu 22.04 or newer, or name another Python in LECTURE_PYTHON."
}

has_header() {
    "$PYTHON" -c 'import os, sysconfig as s, sys
sys.exit(not os.path.exists(os.path.join(s.get_paths()["include"], "Python.h")))'
}
has_library() { command -v pkg-config >/dev/null && pkg-config --exists "$1"; }

# Everything pip needs to build pycairo and manimpango, where it has to.
need_libraries() {
    local short=''
    if [ "$(uname -s)" = Darwin ]; then
        if ! has_library cairo; then
            command -v brew >/dev/null ||
                fail "cairo is missing. Install Homebrew (https://brew.sh), then: brew install pkgconf cairo"
            say "installing pkgconf and cairo with Homebrew"
            moving "installing libraries" brew install --quiet pkgconf cairo ||
                fail "brew could not install pkgconf and cairo"
        fi
        return 0
    fi
    command -v cc >/dev/null || short="$short gcc libc6-dev"
    command -v pkg-config >/dev/null || short="$short pkg-config"
    has_library cairo || short="$short libcairo2-dev"
    has_library pangocairo || short="$short libpango1.0-dev"
    has_header || short="$short $(debian_name dev)"
    "$PYTHON" -c 'import venv, ensurepip' 2>/dev/null || short="$short $(debian_name venv)"
    [ -n "$short" ] || return 0
    command -v apt-get >/dev/null || fail "this system lacks what Debian calls$short:" \
        "install them (Fedora: dnf install gcc pkgconf cairo-devel pango-devel python3-devel) and try again"
    # shellcheck disable=SC2086  # a list of words
    apt_install $short
}

# The Debian package with a part of Python, of the very version in use: python3.11-dev.
debian_name() {
    "$PYTHON" -c 'import sys; print("python%d.%d-%s" % (*sys.version_info[:2], sys.argv[1]))' "$1"
}

# pip_install STAMP EXTRAS: install, then leave the stamp that says so.
pip_install() {
    rm -f "$VENV/$1" "$VENV/.whole"
    (cd "$ROOT" && moving "installing Python packages" "$VENV_PYTHON" -m pip install \
        --disable-pip-version-check --no-input --progress-bar off \
        -c constraints.txt -e ".${2:+[$2]}") || return 1
    leave_stamp "$1"
}

leave_stamp() {
    wanted_state >"$VENV/$1.new"
    mv "$VENV/$1.new" "$VENV/$1"
    touch "$VENV/.whole"
}

# lock_venv: until unlock_venv no other render.sh touches .venv. The lock is the kernel's: it goes
# with the last process that holds it, even one killed.
lock_venv() {
    exec 9>"$ROOT/.venv.lock"
    "$PYTHON" -c 'import fcntl; fcntl.flock(9, fcntl.LOCK_EX | fcntl.LOCK_NB)' 2>/dev/null || {
        say "another render.sh is making .venv; waiting for it"
        "$PYTHON" -c 'import fcntl; fcntl.flock(9, fcntl.LOCK_EX)'
    }
}
unlock_venv() { exec 9>&-; }

# make_ready STAMP [EXTRA]: runs under a lock, since two first runs may come at once.
make_ready() {
    need_python
    need_libraries
    lock_venv
    if ! ready_for "$1"; then
        # An installation was cut short, or its Python is gone: begin anew. Else update.
        if [ ! -f "$VENV/.whole" ] || ! is_new_enough "$VENV_PYTHON"; then
            say "making .venv with $PYTHON (once, a few minutes)"
            rm -rf "$VENV"
            "$PYTHON" -m venv "$VENV" >&2 || fail "could not make $VENV"
        else
            say "bringing .venv up to date"
        fi
        local all
        all=$(extras)
        if [ -n "${2:-}" ]; then all=$2${all:+,$all}; fi
        pip_install "$1" "$all" ||
            fail "pip could not install the packages; the lines above say why"
    fi
    unlock_venv
}

# The extras of pyproject.toml, with blanks between.
known_extras() {
    "$PYTHON" -c 'import sys, tomllib
print(*sorted(tomllib.load(open(sys.argv[1], "rb"))["project"]["optional-dependencies"]))' \
        "$ROOT/pyproject.toml"
}

# install EXTRA...: packages that only some need, into .venv, now and whenever it is made anew.
install() {
    need_python
    local known name all before
    known=$(known_extras) || fail "pyproject.toml cannot be read"
    if [ $# = 0 ]; then fail "install: name one or more of: $known"; fi
    for name in "$@"; do
        case " $known " in
            *" $name "*) ;;
            *) fail "install: expected one or more of: $known; found: $name" ;;
        esac
    done
    ready_for .ready || make_ready .ready
    lock_venv
    all=$(extras)
    for name in "$@"; do
        case ",$all," in
            *",$name,"*) ;;
            *) all=${all:+$all,}$name ;;
        esac
    done
    if [ "$all" = "$(extras)" ]; then
        say "installed already: $*"
        return
    fi
    say "installing $*"
    before=$(extras)
    keep_extras "$all"
    pip_install .ready "$all" || {
        # pip changes nothing before it has everything, so what there was still works.
        keep_extras "$before"
        leave_stamp .ready
        fail "pip could not install: $*; the lines above say why. All else works as before"
    }
    say "installed: $*"
}

case ${1:-} in
    install)
        shift
        install "$@"
        exit
        ;;
    test) ready_for .ready-dev || make_ready .ready-dev dev ;;
    *) ready_for .ready || ready_for .ready-dev || make_ready .ready ;;
esac
# -P: files of the current folder cannot take the place of modules. Ctrl-C waits until our own code
# answers it, as Python would with a traceback: what a process blocks stays blocked over exec.
START='import _signal as signal, posix, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
posix.execv(sys.executable, [sys.executable, "-P", "-m", "render", *sys.argv[1:]])'
exec "$VENV_PYTHON" -I -S -c "$START" "$@"
