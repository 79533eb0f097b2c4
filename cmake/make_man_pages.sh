#!/bin/sh
# SPDX-License-Identifier: MIT
# make_man_pages.sh PROGRAM FOLDER: papfft.1 and papfft-COMMAND.1 from what --help says.
set -eu
program=$1 folder=$2
mkdir -p "$folder"

# Headings ("Options:") become sections, lines of an option or command a tagged paragraph; all else stays as it is.
troff() {
  awk -v page="$1" -v version="$2" '
    function safe(s) { gsub(/\\/, "\\e", s); gsub(/-/, "\\-", s); sub(/^[.\x27]/, "\\\\\\&&", s); return s }
    function section(s) { print ".SH " s }
    function as_is(on) { if (on != nofill) print on ? ".nf" : ".fi"; nofill = on }
    BEGIN { printf ".TH %s 1 \"\" \"papfft %s\" \"User Commands\"\n", toupper(page), version }
    NR == 1 { sub(/^papfft: /, ""); section("NAME"); printf "%s \\- %s\n", safe(page), safe($0); next }
    /^Usage:/ { sub(/^Usage: */, ""); section("SYNOPSIS"); print safe($0); next }
    /^[^ ]/ && !/:$/ && !any { section("DESCRIPTION"); any = 1 }
    /^[A-Z][A-Za-z ]*:$/ {
      as_is(0); sub(/:$/, ""); section(toupper($0)); any = 1
      tags = !/^Examples$/; next
    }
    /^[^ ]/ { as_is(0); if (tags) print ".PP"; tags = 0; print safe($0); print ".br"; next }
    /^  [^ ]/ && tags {
      tag = $0; sub(/^  /, "", tag); text = ""
      if (match(tag, /   +/)) { text = substr(tag, RSTART + RLENGTH); tag = substr(tag, 1, RSTART - 1) }
      as_is(0); print ".TP"; print "\\fB" safe(tag) "\\fR"; if (text != "") print safe(text); next
    }
    /^   +/ && tags { sub(/^ +/, ""); print safe($0); next }
    /^$/ { if (nofill) print ""; next }
    { as_is(1); print safe($0) }
    END { as_is(0) }'
}

version=$("$program" --version)
commands=$("$program" --help | awk '/^Examples:/ { over = 1 } !over && /^  [a-z]/ { print $1 }')
{
  "$program" --help | troff papfft "$version"
  echo '.SH SEE ALSO'
  for command in $commands; do echo ".BR papfft\\-$command (1)"; done
} >"$folder/papfft.1"
for command in $commands; do
  about=$("$program" --help | awk -v command="$command" '$1 == command { sub(/^ *[a-z]+ +/, ""); print; exit }')
  # A command of CLI11 begins with what it does; the cluster's script with its usage.
  { "$program" "$command" --help | awk -v about="$about" 'NR == 1 && $0 != about { print about } { print }' |
    troff "papfft-$command" "$version"
    printf '.SH SEE ALSO\n.BR papfft (1)\n'; } >"$folder/papfft-$command.1"
done
