#!/bin/bash
# SPDX-License-Identifier: MIT
# The installed program, its manual pages and its completion.
# shellcheck source=tests/install/common.sh
source "$(dirname "$0")/common.sh"
"$prefix/bin/papfft" --version
"$prefix/bin/papfft" cluster --help | grep -q 'papfft cluster COMMAND' || fail "papfft cluster"
preloaded=$("$prefix/bin/papfft" preload --path)
[[ $preloaded == "$prefix/$PAPFFT_LIBDIR/libpapfft_mpi.so" && -e $preloaded ]] || fail "papfft preload --path: $preloaded"
# The module file, by the one language that both kinds of module systems read.
if command -v tclsh >/dev/null; then
  module=$prefix/share/papfft/modulefiles/papfft-preload
  { echo 'proc module-whatis {text} {}; proc prepend-path {name value} {puts "$name $value"}; proc setenv {name value} {puts "$name $value"}'
    echo "set ModulesCurrentModulefile $module; source $module"; } >read_module.tcl
  tclsh read_module.tcl >module
  diff - module <<END || fail "the module file"
PATH $prefix/bin
OMPI_MCA_mca_base_env_list LD_PRELOAD=$preloaded
END
fi
pages=$("$prefix/bin/papfft" --help |
  awk '/^Examples:/ { over = 1 } !over && /^  [a-z]/ { print "papfft-" $1 }')
[[ $pages == *papfft-transform* ]] || fail "no commands in --help"
for page in papfft $pages; do
  file=$prefix/share/man/man1/$page.1
  [[ -s $file ]] || fail "no manual page $page"
  for section in NAME SYNOPSIS; do
    grep -q "^\.SH $section" "$file" || fail "$page.1 has no $section"
  done
  if command -v groff >/dev/null; then
    [[ -z $(groff -man -ww -Tutf8 "$file" 2>&1 >/dev/null) ]] || fail "groff has complaints about $page.1"
  fi
done

complete_words() { # WORD...: the candidates for the last one
  COMP_WORDS=("$prefix/bin/papfft" "$@") COMP_CWORD=$#
  _papfft 2>/dev/null
  echo " ${COMPREPLY[*]} "
}
# shellcheck disable=SC1091
source "$prefix/share/bash-completion/completions/papfft"
[[ $(complete_words tra) == ' transform ' ]] || fail "completion of a command"
[[ $(complete_words transform --inv) == ' --inverse ' ]] || fail "completion of an option"
[[ $(complete_words transform --gather sl) == ' sls ' ]] || fail "completion of an algorithm"
[[ $(complete_words schedule --op scatter --algorithm sl) == ' sln ' ]] || fail "completion of an operation's algorithm"
echo "all is there"
