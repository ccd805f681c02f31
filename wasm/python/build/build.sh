#!/usr/bin/env bash
# Builds the interpreter and the standard library from Debian's source packages, as sources.lock pins
# them, into OUT. Takes some ten minutes on two cores the first time; a second call on the same WORK
# folder does only what changed.
#
#   wasm/python/build/build.sh WORK OUT
#
# WORK is a scratch folder (about 1 GB), OUT gets python.wasm.zst, stdlib.zip, LICENSES.txt and manifest.json.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
work=$(mkdir -p "${1:?WORK folder}" && cd "$1" && pwd)
out=$(mkdir -p "${2:?OUT folder}" && cd "$2" && pwd)
sysroot=$work/sysroot
src=$work/src
jobs=$(nproc)
export SOURCE_DATE_EPOCH=1748995200 LC_ALL=C TZ=UTC PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1
umask 022

. "$here/toolchain.sh"
. "$here/fetch.sh"
. "$here/libraries.sh"
. "$here/interpreter.sh"
. "$here/stdlib.sh"

# step NAME FUNCTION INPUTS...: runs FUNCTION unless it has run on the same inputs.
step() {
  local name=$1 function=$2 stamp=$work/.done-$1 key
  shift 2
  key=$(sha256sum "$@" | sha256sum | cut -d' ' -f1)
  if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$key" ]; then return; fi
  echo "== $name" >&2
  # In the background, because bash ignores errexit in what an "if" calls.
  "$function" >"$work/$name.log" 2>&1 &
  if ! wait $!; then
    tail -n 40 "$work/$name.log" >&2
    echo "step $name ended with an error; the whole log is $work/$name.log" >&2
    exit 1
  fi
  echo "$key" >"$stamp"
}

step packages   install_packages  "$here/toolchain.sh"
step sources    fetch_sources     "$here/fetch.sh" "$here/sources.lock"
step libc       build_libc        "$here/libraries.sh" "$here/toolchain.sh" "$here/sources.lock"
step libraries  build_libraries   "$here/libraries.sh" "$here/toolchain.sh" "$here/sources.lock" "$here"/compat/*
step native     build_native      "$here/interpreter.sh" "$here/sources.lock" "$here"/patches/*
step cross      build_cross       "$here/interpreter.sh" "$here/sources.lock" "$here"/patches/* "$here/toolchain.sh" "$here/libraries.sh" "$here/profile.profdata.zst"
step link       link_reactor      "$here/interpreter.sh" "$here"/shim/* "$here"/patches/*
step stdlib     build_stdlib      "$here/stdlib.sh" "$here"/stdlib/* "$here"/patches/* "$here/sources.lock"
step licences   write_licences    "$here/stdlib.sh" "$here/sources.lock"
step manifest   write_manifest    "$here/stdlib.sh" "$here/manifest.py" "$out/python.wasm.zst" "$out/stdlib.zip"
sha256sum "$out/python.wasm.zst" "$out/stdlib.zip"
