#!/bin/bash
# SPDX-License-Identifier: MIT
# Usage: make_deb_documents.sh SOURCE TREE VERSION CONTACT
# Makes of the installed TREE (its usr/) what Debian's policy asks for: copyright, changelog, compressed manual pages.
set -euo pipefail
source=$1 tree=$2 version=$3 contact=$4
documents=$tree/share/doc/papfft

rm "$documents/LICENSE" # it is in copyright
cat >"$documents/copyright" <<COPYRIGHT
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: papfft
Upstream-Contact: $contact
Comment:
 The program and libpapfft_fft link FFTW, which is under the GNU GPL, version 2
 or later: whoever passes on these binaries must follow the GPL, which is in
 /usr/share/common-licenses/GPL-2.

Files: *
Copyright: $(sed -n 's/^Copyright (c) //p' "$source/LICENSE")
License: Expat

License: Expat
$(sed -e '1,/^Copyright/d' -e '/^$/s/^/./' -e 's/^/ /' "$source/LICENSE" | sed '1{/^ \.$/d}')
COPYRIGHT

# The date of the changes, and not of the build: packages of the same sources are the same.
date=$(date --utc --rfc-email --date="@${SOURCE_DATE_EPOCH:-$(stat -c %Y "$source/CHANGELOG.md")}")
printf 'papfft (%s) unstable; urgency=medium\n\n  * The changes are in CHANGELOG.md.\n\n -- %s  %s\n' "$version" "$contact" "$date" |
  gzip -9n >"$documents/changelog.gz"
find "$tree/share/man" -name '*.1' -exec gzip -9n {} +

mkdir -p "$tree/share/lintian/overrides"
cat >"$tree/share/lintian/overrides/papfft" <<'OVERRIDES'
# One package for the program, the libraries and the headers: whoever runs it on a cluster compiles there, too.
papfft: link-to-shared-library-in-wrong-package *
papfft: package-name-doesnt-match-sonames *
papfft: pkg-config-unavailable-for-cross-compilation *
# For LD_PRELOAD; nobody links it.
papfft: shared-library-lacks-version *libpapfft_mpi.so*
# CPack writes scripts that call ldconfig where dpkg would take a trigger.
papfft: lacks-ldconfig-trigger *
papfft: maintscript-calls-ldconfig *
OVERRIDES
