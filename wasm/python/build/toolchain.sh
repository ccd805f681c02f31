# Names of the cross tools and flags; sourced by build.sh. $sysroot and $src are set there.
target=wasm32-wasi
llvm=19
cc="clang-$llvm"
ar="llvm-ar-$llvm"
ranlib="llvm-ranlib-$llvm"
strip="llvm-strip-$llvm"

# Paths of the build folder must not reach the artefact, or two builds would differ.
prefix_map="-ffile-prefix-map=$work=/build"
cross_flags="--target=$target --sysroot=$sysroot $prefix_map -O3"

# The Debian packages that the build needs on the machine it runs on.
build_packages="clang-$llvm lld-$llvm llvm-$llvm libclang-rt-$llvm-dev-wasm32 dpkg-dev
  zlib1g-dev libbz2-dev liblzma-dev libsqlite3-dev libffi-dev libssl-dev uuid-dev libexpat1-dev
  make gcc patch zstd xz-utils tclsh"
