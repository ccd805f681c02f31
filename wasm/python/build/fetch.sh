# Fetches the pinned sources with the machine's own apt, from a second suite of the archive that the
# machine already uses; sourced by build.sh. The machine's lists and settings stay untouched.

suite=trixie

install_packages() {
  local missing
  missing=$(for p in $build_packages; do dpkg -s "$p" >/dev/null 2>&1 || echo "$p"; done)
  if [ -z "$missing" ]; then return 0; fi
  apt-get update
  # shellcheck disable=SC2086 # one word a package
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
}

# machine_uri prints the archive that this machine installs from.
machine_uri() {
  awk '/^URIs:/ { print $2; exit } /^deb / { print $2; exit }' \
    $(ls /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null)
}

private_apt() {
  local apt=$work/apt uri
  uri=$(machine_uri)
  mkdir -p "$apt"/etc/{sources.list.d,apt.conf.d,preferences.d} "$apt"/state/lists/partial "$apt"/cache/archives/partial
  printf 'Types: deb deb-src\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n\n' \
    "$uri" "$suite $suite-updates" "$uri-security" "$suite-security" >"$apt/etc/sources.list.d/suite.sources"
  printf '%s\n' "Dir::Etc \"$apt/etc\";" 'Dir::Etc::sourcelist "/dev/null";' "Dir::State \"$apt/state\";" \
    'Dir::State::status "/dev/null";' "Dir::Cache \"$apt/cache\";" 'APT::Sandbox::User "root";' >"$apt/apt.conf"
  export APT_CONFIG=$apt/apt.conf
  apt-get update
}

# fetch_sources brings every file of sources.lock and refuses one whose hash differs.
fetch_sources() (
  private_apt
  mkdir -p "$work/downloads"
  cd "$work/downloads"
  while read -r kind package version _; do
    case $kind in
      source) apt-get source --download-only "$package=$version" || true ;;
      binary) apt-get download "$package=$version" || true ;;
    esac
  done < <(grep -E '^(source|binary) ' "$here/sources.lock" | sort -u)
  grep -E '^file ' "$here/sources.lock" | awk '{ print $2 "  " $3 }' | sha256sum --check --strict
  rm -rf "$src"
  mkdir -p "$src"
  for dsc in *.dsc; do dpkg-source --no-check -x "$dsc" "$src/${dsc%%_*}"; done
  for deb in *.deb; do dpkg-deb -x "$deb" "$src/${deb%%_*}"; done
)
