# SPDX-License-Identifier: MIT
# bash completion for papfft. Asks the program itself, so that it knows what that version knows.

_papfft_registry() { # PROGRAM OPERATION (or "" for all)
  "$1" algorithms --json 2>/dev/null | awk -F'"' -v want="$2" '
    $2 == "op" { op = $4 }
    $2 == "algorithm" && (want == "" || op == want) { print $4 }'
}

_papfft_algorithms() { # the same as _papfft_registry, and what a call may also say: b before a name, for the background
  _papfft_registry "$@" | sed 'p; s/^/b/'
  echo auto mpi
}

_papfft_peers() { # PROGRAM OPERATION: what only bench collective takes
  _papfft_algorithms "$@"
  echo all mpi-best
  [[ $2 != gather ]] || echo mpi-igather
  [[ $2 != scatter ]] || echo mpi-iscatter
}

_papfft_help() { # PROGRAM COMMAND...: without colours and line breaks inside of an option's text
  "$@" --help 2>/dev/null
}

_papfft_values() { # OPTION, --help on stdin: the values of an option that takes a few words only, {these,words}
  sed -nE "s/^ +(-[a-zA-Z],)?$1 [^{]*:\{([^}]*)\}.*/\2/p" | tr ',' ' '
}

# What the option in $option may be followed by; nothing: a file or free text.
_papfft_words_after() {
  case $option in
    --scatter | --gather | --bcast | --reduce) _papfft_algorithms "$program" "${option#--}" ;;
    --gathers) _papfft_algorithms "$program" gather ;;
    --algorithm) _papfft_registry "$program" "$operation" ;;
    --algorithms)
      if [[ ${command[*]} == 'bench collective' ]]; then
        _papfft_peers "$program" "${operation:-gather}"
      elif [[ ${command[0]} == bench ]]; then
        _papfft_registry "$program" "${operation:-reduce}"
      else
        _papfft_algorithms "$program" "${operation:-reduce}" | grep -vx mpi
      fi
      ;;
    --delay | --arrivals)
      _papfft_help "$program" bench collective |
        sed -nE '/^Patterns:/,/^ *with D/s/^ +([a-z-]+:?)[A-Z:]* .*/\1/p' | grep -vx with
      ;;
    *) _papfft_help "$program" "${command[@]}" | _papfft_values "$option" ;;
  esac
}

_papfft() {
  local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}
  local word operation='' i words='' before=''
  local -a command=()
  # readline makes three words of --op=gather.
  [[ $current != = ]] || current=''
  if [[ $option == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  elif [[ ${COMP_WORDS[COMP_CWORD]} == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 1]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $word == --op ]]; then
      operation=${COMP_WORDS[i + 1]}
      [[ $operation != = ]] || operation=${COMP_WORDS[i + 2]-}
    fi
    if ((${#command[@]} == 0)) && [[ $word != -* ]]; then
      command=("$word")
    elif [[ ${command[*]} == bench && $word != -* && ${COMP_WORDS[i - 1]} == bench ]]; then
      command+=("$word")
    fi
  done
  COMPREPLY=()
  # A list, as in --algorithms ls,bs: the last of its words is completed.
  if [[ $option == --* && $current == *,* ]]; then
    before=${current%,*},
    current=${current##*,}
  fi
  if [[ $option == --* ]]; then words=$(_papfft_words_after); fi
  if [[ -z $words ]]; then
    if ((${#command[@]} == 0)) || [[ ${command[*]} == bench && $option == bench ]]; then
      words=$(_papfft_help "$program" "${command[@]}" | awk '/^Examples:/ { over = 1 } !over && /^  [a-z]/ { print $1 }')
      ((${#command[@]})) || words+=' --help --version'
    elif [[ $current == -* ]]; then
      words=$(_papfft_help "$program" "${command[@]}" | grep -oE '^ +(-[a-z],)?--[a-z][a-z0-9-]*' |
        grep -oE -- '--[a-z][a-z0-9-]*')
    elif [[ ${command[0]} == cluster && $option == cluster ]]; then
      words='up run exec link status down'
    fi
  fi
  if [[ -n $words ]]; then
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$words" -- "$current")
  else
    compopt -o default 2>/dev/null
  fi
}
complete -F _papfft papfft
