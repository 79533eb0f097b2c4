#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Usage: ./demo.sh
# From a fresh machine to a result: installs what is missing, builds papfft, and transforms a recording by one process and by
# four. Results are in demo-out/.
set -euo pipefail
cd "$(dirname "$0")"
out=$PWD/demo-out
log=$out/demo.log
program=build/release/app/papfft
recording=data/perc_bell.flac
mkdir -p "$out"
: >"$log"

say() { echo "demo: $*"; }
fail() { tail -n 15 "$log" >&2; echo "demo: FAILED: $* (all output: $log)" >&2; exit 1; }
quietly() { "$@" >>"$log" 2>&1; }

say 'packages'
scripts/install.sh demo || { code=$?; echo 'demo: FAILED: packages are missing' >&2; exit "$code"; }
say 'build'
tests=()
if [ ! -e build/release/CMakeCache.txt ]; then tests=(-DPAPFFT_BUILD_TESTS=OFF); fi  # they need more packages
quietly cmake --preset release "${tests[@]}" || fail 'cmake cannot configure the build'
quietly cmake --build --preset release --target papfft || fail 'papfft does not build'

export OMPI_MCA_btl_vader_single_copy_mechanism=none  # containers forbid what the default needs
if [ "$(id -u)" -eq 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
mpirun=(mpirun -n 4 --bind-to none)
if [ "$(nproc)" -lt 4 ]; then mpirun+=(--oversubscribe); fi

say 'spectrogram of a struck bell, by one process'
quietly $program spectrogram "$recording" --nperseg 1024 --noverlap 896 --window hann --log-frequency \
  -o "$out/spectrogram.png" || fail 'papfft spectrogram'
say 'spectrum of its first 262144 samples, by one process and by four'
quietly $program transform "$recording" --length 262144 --engine alone -o "$out/alone.csv" || fail 'papfft transform'
quietly "${mpirun[@]}" $program transform "$recording" --length 262144 --engine dif --stats \
  -o "$out/spectrum.npy" -o "$out/four.csv" -o "$out/spectrum.png" || fail 'mpirun -n 4 papfft transform'

# Columns: frequency, re, im of both.
error=$(paste -d, "$out/alone.csv" "$out/four.csv" | awk -F, '
  NR == 1 { next }
  $1 != $4 { exit }
  { difference += ($2 - $5) ^ 2 + ($3 - $6) ^ 2; norm += $2 ^ 2 + $3 ^ 2; bins += 1 }
  END { if (bins == 131073 && norm > 0) printf "%.2e", sqrt(difference / norm); else print "none" }')
rm -f "$out/alone.csv" "$out/four.csv"
awk -v e="$error" 'BEGIN { exit !(e != "none" && e + 0 < 1e-15) }' ||
  fail "the result of four ranks is not that of one (relative error $error)"
say "four ranks agree with one: relative error $error"
echo "$out/spectrogram.png"
echo "$out/spectrum.npy"
