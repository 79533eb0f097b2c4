#!/bin/bash
# SPDX-License-Identifier: MIT
# Each installed header compiles alone, with nothing but what is installed.
# shellcheck source=tests/install/common.sh
source "$(dirname "$0")/common.sh"
read -ra mpi < <(pkg-config --cflags mpi-c)
read -ra comm < <(pkg-config --cflags papfft-comm)
strict=(-fsyntax-only -Wall -Wextra -Wpedantic -Werror)
found=0
while read -r header; do
  name=${header#"$prefix/include/"}
  echo "#include <$name>" >one.cpp
  g++ "${comm[@]}" "${mpi[@]}" "${strict[@]}" one.cpp || fail "<$name> does not compile alone"
  if [[ $name == *.h ]]; then
    { cat one.cpp; echo "typedef int not_empty;"; } >one.c
    gcc -std=c99 -I"$prefix/include" "${mpi[@]}" "${strict[@]}" one.c || fail "<$name> is no C99"
  fi
  found=$((found + 1))
done < <(find "$prefix/include" -name '*.h*')
[ "$found" -ge 12 ] || fail "only $found headers"

# No header includes one that is not there, even where a condition would hide it.
while IFS=: read -r header include; do
  [[ $include == mpi.h || -e $prefix/include/$include ]] || fail "$header includes $include, which is not installed"
done < <(grep -rhoE --with-filename '^ *# *include +"[^"]+"' "$prefix/include" | sed -E 's/# *include +"([^"]+)"/\1/; s/: */:/')

# All at once, in either order.
find "$prefix/include" -name '*.hpp' | sort | sed 's/.*/#include "&"/' >all.cpp
tac all.cpp >reverse.cpp
for order in all reverse; do g++ "${comm[@]}" "${mpi[@]}" "${strict[@]}" $order.cpp || fail "all headers together"; done
