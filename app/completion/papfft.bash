# SPDX-License-Identifier: MIT
# bash completion for papfft. Asks the program itself, so that it knows what that version knows.

_papfft_registry() { # PROGRAM OPERATION (or "" for all)
  "$1" algorithms --json 2>/dev/null | awk -F'"' -v want="$2" '
    $2 == "op" { op = $4 }
    $2 == "algorithm" && (want == "" || op == want) { print $4 }'
}

_papfft_algorithms() { # the same, and what a call may also say: b before a name, for the background, auto, mpi
  _papfft_registry "$@" | sed 'p; s/^/b/'
  echo auto mpi
}

_papfft() {
  local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local word command='' operation='' i words=''
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ -z $command && $word != -* ]]; then command=$word; fi
    if [[ $word == --op ]]; then operation=${COMP_WORDS[i + 1]}; fi
  done
  COMPREPLY=()
  case $previous in
    --scatter | --gather | --bcast | --reduce) words=$(_papfft_algorithms "$program" "${previous#--}") ;;
    --algorithm | --algorithms)
      if [[ $command == bench ]]; then
        words=$(_papfft_algorithms "$program" "$operation")
      else
        words=$(_papfft_registry "$program" "$operation")
      fi
      ;;
    --gathers) words=$(_papfft_algorithms "$program" gather) ;;
    --delay)
      words=$("$program" bench collective --help 2>/dev/null |
        sed -nE '/^Patterns:/,/^ *with D/s/^ +([a-z-]+:?)[A-Z:]* .*/\1/p' | grep -vx with)
      ;;
    --op) words='scatter gather bcast reduce allgather allgatherv allreduce reduce_scatter' ;;
    --wait) words='spin yield nap auto' ;;
    --progress) words='auto always never' ;;
    --precision) words='float double' ;;
    --read) words='root parallel' ;;
    --window) words='boxcar hann hamming blackman tukey' ;;
    --scaling) words='density spectrum' ;;
    --detrend) words='constant linear none' ;;
    --picture) words='magnitude phase' ;;
    --mode)
      case $command in
        spectrogram) words='psd magnitude' ;;
        convolve) words='full same valid' ;;
      esac
      ;;
    *)
      if [[ -z $command ]]; then
        words=$("$program" --help 2>/dev/null | awk '
          /^Examples:/ { over = 1 } !over && /^  [a-z]/ { print $1 }')
        words+=' --help --version'
      elif [[ $current == -* ]]; then
        words=$("$program" "$command" --help 2>/dev/null | grep -oE '^ +(-[a-z],)?--[a-z][a-z0-9-]*' |
          grep -oE -- '--[a-z][a-z0-9-]*')
      elif [[ $command == cluster && $previous == cluster ]]; then
        words='up run link status down'
      fi
      ;;
  esac
  if [[ -n $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  else
    compopt -o default 2>/dev/null
  fi
}
complete -F _papfft papfft
