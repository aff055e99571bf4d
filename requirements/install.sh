#!/bin/sh
# Makes .venv ready: `requirements/install.sh base` for running, `dev` for tests and checks as well.
# PYTHON names the interpreter. Quick when nothing has changed; a set-up that was cut short is done again.
set -eu
cd "$(dirname "$0")/.."
wanted=$1
python=${PYTHON:-python3}
log=var/setup.log

fail() {
    echo "idcsched: $*" >&2
    exit 1
}

fail_with_log() {
    tail -n 5 "$log" >&2
    fail "$1 (the whole output is in $log)"
}

command -v "$python" >/dev/null 2>&1 || fail "there is no $python here; name a Python 3.11 or newer: make PYTHON=python3.12 ..."
# In an activated .venv, python3 is its own: what counts is the interpreter that it was made with.
if [ "$(dirname "$(command -v "$python")")" -ef .venv/bin ]; then
    python=$("$python" -c 'import sys; print(sys._base_executable)') || fail "$python does not start; remove .venv and try again"
fi
# Runs on any Python since 2.7, so that an old one can be told from a broken one.
facts=$("$python" - requirements/base.lock requirements/dev.lock 2>/dev/null <<'PY'
import hashlib, sys
locks = hashlib.sha256(b"".join(open(name, "rb").read() for name in sys.argv[1:])).hexdigest()
print("%d %d.%d.%d %s %s" % ((sys.version_info >= (3, 11),) + tuple(sys.version_info[:3]) + (getattr(sys, "base_prefix", sys.prefix), locks)))
PY
) || fail "$python does not start; name a working Python 3.11 or newer: make PYTHON=/path/to/python3 ..."
version=$(echo "$facts" | cut -d' ' -f2)
case $facts in
0*) fail "Python 3.11 or newer is needed, and $python is $version; name another: make PYTHON=python3.12 ..." ;;
esac

interpreter=${facts% *}
if [ "$(cat ".venv/installed-$wanted" 2>/dev/null)" = "$facts" ] && [ -x .venv/bin/python ]; then
    exit 0
fi

mkdir -p var 2>/dev/null && [ -w var ] && [ -w . ] || fail "cannot write to $(pwd); make it writable for $(id -un)"
: >"$log"
if [ "$(cat .venv/interpreter 2>/dev/null)" != "$interpreter" ] || [ ! -x .venv/bin/pip ]; then
    echo "Creating .venv with Python $version ..."
    rm -rf .venv
    "$python" -m venv .venv >>"$log" 2>&1 || {
        rm -rf .venv
        fail "$python has no working venv module (on Debian: apt-get install python3-venv); see $log"
    }
    echo "$interpreter" >.venv/interpreter
fi
rm -f .venv/installed-*
echo "Installing dependencies (about a minute the first time) ..."
# The lock names every package that there is to install: with --no-deps nothing is resolved again, where a version
# published since could be chosen.
.venv/bin/python -m pip install --disable-pip-version-check --no-input --require-hashes --no-deps \
    -r "requirements/$wanted.lock" >>"$log" 2>&1 </dev/null || fail_with_log "the dependencies could not be installed"
echo "$facts" >.venv/installed-base
[ "$wanted" = base ] || echo "$facts" >".venv/installed-$wanted"
