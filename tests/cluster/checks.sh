# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154,SC2034 # who sources it has those
# For the tests of the virtual cluster: source it with the script in `script` and the cluster's name in `name`.

failures=0

cluster() {
  local command=$1
  shift
  "$script" "$command" --name "$name" "$@"
}
check() { # check WHAT COMMAND...: the command must succeed
  local what=$1
  shift
  if "$@"; then
    echo "ok: $what"
  else
    echo "FAILED: $what" >&2
    failures=$((failures + 1))
  fi
}
# result COMMAND...: its exit code in `code`, what it wrote in `output`
result() {
  code=0
  output=$("$@" 2>&1) || code=$?
}
