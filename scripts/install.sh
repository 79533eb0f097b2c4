#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: scripts/install.sh demo|test
# Installs what is missing of the Debian packages in packages.txt that the demo, or demo and tests, need. Exits 3, after
# saying what to install, where it may not do so itself.
set -euo pipefail
cd "$(dirname "$0")"

case ${1:-} in
  demo) sets='^demo$' ;;
  test) sets='^(demo|test)$' ;;
  *) echo 'usage: scripts/install.sh demo|test' >&2; exit 64 ;;
esac

installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

missing=()
while read -r package; do
  installed "$package" || missing+=("$package")
done < <(awk -v sets="$sets" '!/^#/ && $2 ~ sets { print $1 }' packages.txt)
[ ${#missing[@]} -gt 0 ] || exit 0

give_up() {
  echo "$1; please run: sudo apt-get install --no-install-recommends ${missing[*]}" >&2
  exit 3
}

as_root=(env DEBIAN_FRONTEND=noninteractive)
if [ "$(id -u)" -ne 0 ]; then
  sudo -n true 2>/dev/null || give_up "${#missing[@]} Debian packages are missing, and only root can install them"
  as_root=(sudo -n "${as_root[@]}")
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "installing ${missing[*]}"
# Old package lists may name files that are gone; an update that fails may still leave lists that do.
"${as_root[@]}" apt-get -q update >"$log" 2>&1 || true
"${as_root[@]}" apt-get -q install -y --no-install-recommends "${missing[@]}" >>"$log" 2>&1 || {
  tail -n 20 "$log" >&2
  give_up 'apt-get cannot install what is missing'
}
