#!/usr/bin/env bash
# Produces the goldens of the corpus with a native CPython of the version that the wasm tier embeds.
#
#   regen.sh PYTHON LIBDIR [NAME...]
#   regen.sh PYTHON LIBDIR --modules     only native.modules
#
# PYTHON is the interpreter's binary, LIBDIR its standard library (the folder that holds os.py and
# lib-dynload). Both are taken as they are; nothing of the machine's own Python is used. Without NAME
# every script is run. Needs bwrap. See README.md for what the sandbox looks like and why.
set -euo pipefail

python=$(realpath "${1:?PYTHON binary}")
libdir=$(realpath "${2:?LIBDIR}")
shift 2
here=$(cd "$(dirname "$0")" && pwd)
limit=262144 # bytes; what is longer is kept as a digest

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# The tier puts the working directory first on sys.path. -P keeps native Python from putting the
# script's folder there, and this file puts the working directory in its place, so that no variable
# has to be added to the environment, which some scripts print.
mkdir "$scratch/site"
echo 'import sys; sys.path.insert(0, "/tmp/sandbox-work")' >"$scratch/site/corpus.pth"

system=()
for dir in /lib /lib64 /usr/lib /usr/lib64; do
  [ -d "$dir" ] || continue
  # The loader, the C libraries and the locales, but not the machine's /usr/lib/python3.13.
  for entry in "$dir"/ld-linux* "$dir"/*-linux-gnu "$dir"/locale; do
    [ -e "$entry" ] && system+=(--ro-bind "$entry" "$entry")
  done
done

# sandbox WORK SCRIPT [ARG...]: runs native Python in a fresh sandbox.
sandbox() {
  local work=$1 script=$2
  shift 2
  bwrap --unshare-all --die-with-parent --new-session --hostname sandbar \
    "${system[@]}" --ro-bind /usr/share/zoneinfo /usr/share/zoneinfo \
    --ro-bind "$python" /usr/bin/python3.13 --ro-bind "$libdir" /usr/lib/python3.13 \
    --ro-bind "$scratch/site" /usr/local/lib/python3.13/dist-packages \
    --proc /proc --dev /dev --tmpfs /tmp --bind "$work" /tmp/sandbox-work \
    --ro-bind "$script" /run/sandbar/main.py --chdir /tmp/sandbox-work --clearenv \
    --setenv PATH /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    --setenv HOME /tmp/sandbox-work --setenv USER sandbox --setenv LOGNAME sandbox \
    --setenv LANG C.UTF-8 --setenv TMPDIR /tmp --setenv PWD /tmp/sandbox-work \
    /usr/bin/python3.13 -P /run/sandbar/main.py "$@"
}

# run NAME: one script; leaves stdout, stderr and code in $scratch.
run() {
  local name=$1 work=$scratch/work stdin=/dev/null args=() code=0
  rm -rf "$work" && mkdir "$work"
  if [ -d "$here/scripts/$name.files" ]; then cp -r "$here/scripts/$name.files/." "$work/"; fi
  if [ -f "$here/scripts/$name.stdin" ]; then stdin=$here/scripts/$name.stdin; fi
  if [ -f "$here/scripts/$name.args" ]; then mapfile -t args <"$here/scripts/$name.args"; fi
  sandbox "$work" "$here/scripts/$name.py" "${args[@]}" <"$stdin" >"$scratch/stdout" 2>"$scratch/stderr" || code=$?
  echo "$code" >"$scratch/code"
}

# modules: what `import` does for each name of sys.stdlib_module_names.
modules() {
  mkdir -p "$scratch/work"
  sandbox "$scratch/work" "$here/modules.py" </dev/null >"$here/native.modules"
}

# keep NAME STREAM: moves one stream to its golden file, as a digest when it is long.
keep() {
  local from=$scratch/$2 golden=$here/golden/$1.$2 size
  rm -f "$golden" "$golden.sha256"
  size=$(stat -c %s "$from")
  if [ "$size" -gt "$limit" ]; then
    echo "$(sha256sum <"$from" | cut -d' ' -f1) $size" >"$golden.sha256"
  elif [ "$size" -gt 0 ]; then
    cp "$from" "$golden"
  fi
}

mkdir -p "$here/golden"
if [ "${1-}" = --modules ]; then
  modules
  exit
fi
if [ $# -eq 0 ]; then
  modules
  rm -f "$here"/golden/*
  for script in "$here"/scripts/*.py; do set -- "$@" "$(basename "$script" .py)"; done
fi
for name in "$@"; do
  run "$name"
  # An address says nothing and changes with each run; the test does the same to the tier's stderr.
  sed -i -E 's/0x[0-9a-f]{6,}/0xADDRESS/g' "$scratch/stderr"
  keep "$name" stdout
  keep "$name" stderr
  cp "$scratch/code" "$here/golden/$name.code"
done
