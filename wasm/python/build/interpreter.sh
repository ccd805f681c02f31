# The interpreter: a native build that the cross build needs as its tool (and that writes the goldens of
# the tests), the cross build, and the reactor; sourced by build.sh.

python_source=$src/python3.13
native=$work/native
cross=$work/cross

patch_source() {
  local p
  for p in "$here"/patches/*.patch; do
    patch -d "$python_source" -p1 --forward --batch --reject-file=- <"$p" || patch -d "$python_source" -p1 --reverse --dry-run --batch <"$p" >/dev/null
  done
}

# The native interpreter has none of our patches, so that it can say what unpatched Python does.
build_native() (
  mkdir -p "$native"
  cd "$native"
  "$python_source/configure" --prefix=/usr --without-ensurepip CFLAGS=-O3
  make -j"$jobs"
)

build_cross() (
  patch_source
  rm -rf "$cross"
  mkdir -p "$cross" "$work/no-pkgconfig"
  cd "$cross"
  # A host's .pc file must not be found: it would lead to headers that are not in the sysroot.
  export PKG_CONFIG_LIBDIR=$work/no-pkgconfig PKG_CONFIG_PATH=
  export CONFIG_SITE=$python_source/Tools/wasm/config.site-wasm32-wasi
  zstd -q -d -f "$here/profile.profdata.zst" -o "$work/profile.profdata"
  # Python leaves its own allocator out on WASI, to save memory; malloc in its place is slower.
  # A relative path, because it becomes a string in the interpreter.
  ../src/python3.13/configure --host=wasm32-unknown-wasi --build="$("$python_source/config.guess")" \
    --with-build-python="$native/python" --prefix=/usr --disable-test-modules --with-ensurepip=no \
    --with-pymalloc \
    CC="$cc --target=$target --sysroot=$sysroot" CPP="$cc -E --target=$target --sysroot=$sysroot" CXX="${cc/clang/clang++} --target=$target --sysroot=$sysroot" \
    AR="$ar" RANLIB="$ranlib" ARFLAGS=rcsD \
    OPT="-DNDEBUG -fwrapv -O3 -Wall -fprofile-instr-use=$work/profile.profdata -Wno-profile-instr-unprofiled -Wno-profile-instr-out-of-date" \
    CFLAGS="$prefix_map" \
    LIBSQLITE3_LIBS="-lsqlite3 -lwasi-emulated-getpid" LIBSQLITE3_CFLAGS=" "
  make -j"$jobs" python.wasm pybuilddir.txt
)

# link_reactor links the objects of python.wasm again, with our shim in the place of Python's main().
link_reactor() (
  cd "$cross"
  local flags="-DNDEBUG -fwrapv -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -Werror"
  # shellcheck disable=SC2086 # one word a flag
  local part parts=()
  for part in sandbar request script end scan scan_uses scan_known immortal clock; do
    "$cc" $cross_flags $flags -I. -I"$python_source/Include" -I"$python_source/Include/internal" -DPy_BUILD_CORE \
      -c "$here/shim/$part.c" -o "$work/$part.o"
    parts+=("$work/$part.o")
  done
  # The linker takes python.o before any library, and our clock functions before libc's.
  wasm-ld-$llvm -r "${parts[@]}" -o Programs/python.o
  rm -f python.wasm
  # 40 MiB at first leaves room above the image, so that small scripts need not grow the memory: an
  # instance whose memory has grown cannot be used again.
  make python.wasm LINKCC="$cc --target=$target --sysroot=$sysroot -mexec-model=reactor" \
    CONFIGURE_LDFLAGS_NODIST="-z stack-size=8388608 -Wl,--stack-first -Wl,--initial-memory=41943040"
  cp python.wasm "$work/python-names.wasm"
  "$strip" --strip-all -o "$work/python.wasm" python.wasm
  zstd -q -f --ultra -22 --no-progress "$work/python.wasm" -o "$out/python.wasm.zst"
)
