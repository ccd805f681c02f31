# The archive of the standard library and the time zones, and the manifest; sourced by build.sh.

build_stdlib() (
  local tree=$work/stdlib
  rm -rf "$tree"
  mkdir -p "$tree/python" "$tree/zoneinfo"
  cp -a "$python_source/Lib/." "$tree/python/"
  cp "$here"/stdlib/_sandbar_*.py "$tree/python/"
  cp "$here"/stdlib/wasi_events.py "$tree/python/asyncio/"
  # No path of the machine that builds it may be in what is built.
  sed -e "s|$work|/build|g; s|$here|/recipe|g" "$cross"/build/lib.*/_sysconfigdata_*.py >"$tree/python/_sysconfigdata__wasi_wasm32-wasi.py"
  cp -a "$src/tzdata/usr/share/zoneinfo/." "$src/tzdata-legacy/usr/share/zoneinfo/." "$tree/zoneinfo/"
  "$native/python" -I "$here/assemble.py" "$tree" "$out/stdlib.zip"
)

write_manifest() (
  "$native/python" -I "$here/manifest.py" "$here/sources.lock" "$work" "$out"
)

# write_licences puts the licence texts of what is in the artefact into one file. Debian's copyright file
# of Python has those of the libraries within its source.
write_licences() (
  cd "$src"
  {
    echo "The artefacts in this folder are built from the sources below, under these licences."
    for text in python3.13/LICENSE python3.13/debian/copyright zlib/debian/copyright bzip2/LICENSE xz-utils/COPYING.0BSD \
      sqlite3/LICENSE.md wasi-libc/usr/share/doc/wasi-libc/copyright tzdata/usr/share/doc/tzdata/copyright; do
      printf '\n==== %s ====\n\n' "$text"
      cat "$text"
    done
  } >"$out/LICENSES.txt"
)
