# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What the tests of an installation share. $PAPFFT_PREFIX is what tree.sh has installed; a test works in $scratch.
set -euo pipefail
# shellcheck disable=SC2034  # used by those who source this
here=$(cd "$(dirname "$0")" && pwd)
prefix=$PAPFFT_PREFIX
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
PKG_CONFIG_PATH=$prefix/$PAPFFT_LIBDIR/pkgconfig
export PKG_CONFIG_PATH

fail() { echo "$(basename "$0"): $*" >&2; exit 1; }
run() { mpirun -n 3 --bind-to none "$@"; }
# Words, as a user's shell would split them.
flags() { pkg-config "$@"; }
# shellcheck disable=SC2034  # used by those who source this
rpath=-Wl,-rpath,$prefix/$PAPFFT_LIBDIR
