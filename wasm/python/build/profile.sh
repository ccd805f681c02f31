#!/usr/bin/env bash
# Makes profile.profdata.zst, which tells the compiler what is hot in CPython: how often each branch was taken in a
# training run. It is an input of build.sh, and needs to be made again only for another version of Python. Its
# counts are not the same bytes each time; what is built from one profile is.
#
#   wasm/python/build/profile.sh WORK SCRIPT...
#
# WORK is the folder of a finished build.sh. The training runs in a native 32-bit build, which has the widths of
# wasm32, without computed gotos, which wasm has not: so the functions match those of the cross build. The profile
# here came from bench/cpu and the scripts of internal/integration/corpus.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
work=$(cd "${1:?WORK folder}" && pwd)
shift
train=$work/profile
missing=$(for p in libclang-rt-19-dev libc6-dev-i386 gcc-multilib; do dpkg -s "$p" >/dev/null 2>&1 || echo "$p"; done)
# shellcheck disable=SC2086 # one word a package
if [ -n "$missing" ]; then apt-get install -y --no-install-recommends $missing; fi

rm -rf "$train"
mkdir -p "$train/raw" "$train/cwd" "$train/none"
cd "$train"
PKG_CONFIG_LIBDIR=$train/none "$work/src/python3.13/configure" --host=i686-pc-linux-gnu --build=x86_64-pc-linux-gnu \
  --with-build-python="$work/native/python" --without-computed-gotos --disable-test-modules --with-ensurepip=no \
  ac_cv_file__dev_ptmx=no ac_cv_file__dev_ptc=no ac_cv_buggy_getaddrinfo=no \
  CC="clang-19 -m32" OPT="-DNDEBUG -fwrapv -O2" CFLAGS=-fprofile-instr-generate
make -j"$(nproc)" python sharedmods LINKCC="clang-19 -m32 -fprofile-instr-generate" \
  BLDSHARED="clang-19 -m32 -shared -fprofile-instr-generate"
for script; do
  script=$(realpath "$script")
  (cd cwd && LLVM_PROFILE_FILE=$train/raw/%p-%m.profraw timeout 60 ../python "$script" </dev/null >/dev/null 2>&1) || true
done
llvm-profdata-19 merge --sparse -o profile.profdata raw/*.profraw
zstd -q -f --ultra -22 --no-progress profile.profdata -o "$here/profile.profdata.zst"
