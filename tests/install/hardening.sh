#!/bin/bash
# SPDX-License-Identifier: MIT
# What the flags of cmake/PapfftHarden.cmake leave in the installed program and libraries, by readelf.
# shellcheck source=tests/install/common.sh
source "$(dirname "$0")/common.sh"
has() { grep -qE -- "$1" "$2" || fail "$file: $3"; }
has_not() { if grep -qE -- "$1" "$2"; then fail "$file: $3"; fi; }

# Whether this toolchain marks what it links as ready for indirect-branch tracking.
echo 'int main() { return 0; }' >one.cpp
g++ -fcf-protection one.cpp -o one 2>log && readelf -n one >note || : >note
tracks=$(grep -c 'x86 feature:.*IBT' note || true)

found=0
while read -r file; do
  [[ $(head -c 4 "$file") == $'\x7fELF' ]] || continue
  readelf --wide --dynamic "$file" >dynamic
  readelf --wide --program-headers "$file" >segments
  readelf --wide --dyn-syms "$file" >symbols
  has GNU_RELRO segments "no RELRO"
  has '\((FLAGS|FLAGS_1)\).*NOW' dynamic "its tables are filled in lazily, so they stay writable"
  has_not 'GNU_STACK.* RWE ' segments "an executable stack"
  has_not ' LOAD .* RWE ' segments "memory that is writable and executable"
  has_not 'RPATH|RUNPATH|TEXTREL' dynamic "RPATH, RUNPATH or TEXTREL"
  has __stack_chk_fail symbols "no stack protector"
  if ((tracks)); then readelf --notes "$file" >note && has 'x86 feature:.*IBT' note "no indirect-branch tracking"; fi
  if [[ $file == */bin/papfft ]]; then
    has 'FLAGS_1.*PIE' dynamic "no position-independent program"
    has '__[a-z]+_chk\b' symbols "no checked string functions"
  fi
  found=$((found + 1))
done < <(find "$prefix/bin" "$prefix/$PAPFFT_LIBDIR" "$prefix/libexec" -type f \( -perm -u+x -o -name '*.so*' \) 2>/dev/null)
((found >= 2)) || fail "only $found programs and libraries"
echo "$found programs and libraries"
