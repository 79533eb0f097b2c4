#!/bin/bash
# SPDX-License-Identifier: MIT
# The manuals are installed, and their links lead somewhere, there and in the source tree.
# shellcheck source=tests/install/common.sh
source "$(dirname "$0")/common.sh"
manuals=$prefix/share/doc/papfft
for manual in README.md LICENSE docs/README.md comm/README.md comm/arrival/README.md fft/README.md app/cluster/README.md; do
  [[ -s $manuals/$manual ]] || fail "no $manual"
done
diff -r "$PAPFFT_SOURCE/docs" "$manuals/docs" || fail "docs/ is not whole"
python3 "$here/links.py" "$manuals" || fail "links between the installed manuals"
python3 "$here/links.py" "$PAPFFT_SOURCE" || fail "links in the source tree"
