# The C library and the libraries that Python's extension modules need, for wasm32-wasi; sourced by build.sh.

build_libc() (
  rm -rf "$sysroot"
  mkdir -p "$sysroot"
  cp -a "$src/wasi-libc/usr/include" "$src/wasi-libc/usr/lib" "$sysroot/"
)

# compile DIR OBJECTDIR FLAGS... -- FILES...: compiles the C files of a library.
compile() {
  local dir=$1 objects=$2 flags=()
  shift 2
  while [ "$1" != -- ]; do flags+=("$1"); shift; done
  shift
  mkdir -p "$objects"
  printf '%s\n' "$@" | xargs -P "$jobs" -I{} sh -c \
    'o=$(echo "{}" | tr / _); exec '"$cc $cross_flags"' "$@" -c "'"$dir"'/{}" -o "'"$objects"'/${o%.c}.o"' sh "${flags[@]}"
}

archive() {
  rm -f "$sysroot/lib/$target/$2"
  # shellcheck disable=SC2012 # sorted, so that the order is the same each time
  (cd "$1" && "$ar" rcsD "$sysroot/lib/$target/$2" $(ls ./*.o))
}

build_libraries() (
  local include=$sysroot/include/$target b=$work/libraries
  rm -rf "$b"

  cd "$src/zlib"
  compile "$PWD" "$b/z" -DHAVE_UNISTD_H -D_LARGEFILE64_SOURCE=1 -- \
    gzclose.c gzlib.c gzread.c gzwrite.c adler32.c compress.c crc32.c deflate.c inffast.c inflate.c inftrees.c trees.c uncompr.c zutil.c infback.c
  archive "$b/z" libz.a
  cp zlib.h zconf.h "$include/"

  cd "$src/bzip2"
  compile "$PWD" "$b/bz2" -D_FILE_OFFSET_BITS=64 -- blocksort.c huffman.c crctable.c randtable.c compress.c decompress.c bzlib.c
  archive "$b/bz2" libbz2.a
  cp bzlib.h "$include/"

  # xz's own configure knows how to leave threads out.
  mkdir -p "$b/xz"
  cd "$b/xz"
  "$src/xz-utils/configure" --host=wasm32-unknown-none --prefix=/ --enable-threads=no --disable-shared --disable-nls \
    --disable-xz --disable-xzdec --disable-lzmadec --disable-lzmainfo --disable-lzma-links --disable-scripts --disable-doc \
    --disable-sandbox --disable-assembler \
    CC="$cc" CFLAGS="$cross_flags" AR="$ar" RANLIB="$ranlib" ARFLAGS=crD
  make -j"$jobs" -C src/liblzma
  "$ranlib" -D src/liblzma/.libs/liblzma.a
  cp src/liblzma/.libs/liblzma.a "$sysroot/lib/$target/"
  cp -r "$src/xz-utils/src/liblzma/api/lzma.h" "$src/xz-utils/src/liblzma/api/lzma" "$include/"

  mkdir -p "$b/sqlite-source"
  cd "$b/sqlite-source"
  "$src/sqlite3/configure" --disable-tcl --disable-readline --disable-shared || true
  make sqlite3.c
  # No shared memory, no loading of libraries; compat/sqlite_wasi.h says what becomes of locks.
  compile "$PWD" "$b/sqlite" -include "$here/compat/sqlite_wasi.h" -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION \
    -DSQLITE_OMIT_WAL -DSQLITE_DEFAULT_UNIX_VFS='"unix"' -DSQLITE_MAX_MMAP_SIZE=0 -DSQLITE_OMIT_POPEN -DSQLITE_DISABLE_LFS \
    -DSQLITE_ENABLE_FTS3 -DSQLITE_ENABLE_FTS3_PARENTHESIS -DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_RTREE \
    -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_JSON1 -DSQLITE_TEMP_STORE=2 \
    -DSQLITE_SECURE_DELETE -DHAVE_USLEEP=0 -D_WASI_EMULATED_GETPID -D_WASI_EMULATED_MMAN -- sqlite3.c
  archive "$b/sqlite" libsqlite3.a
  cp sqlite3.h sqlite3ext.h "$include/"

  # util-linux's libuuid wants sockets and file locks; Python's uuid module falls back to os.urandom.
)
