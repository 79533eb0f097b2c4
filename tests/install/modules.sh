#!/bin/bash
# SPDX-License-Identifier: MIT
# The module files, loaded and unloaded by environment-modules and by Lmod, whichever is there. Debian keeps each in a folder of its own.
# shellcheck source=tests/install/common.sh
source "$(dirname "$0")/common.sh"
cat >use.sh <<'USE'
set -e
init=$1 prefix=$2 library=$3
fail() { echo "modules.sh: $init: $*" >&2; exit 1; }
unset MODULEPATH LOADEDMODULES _LMFILES_ MODULESHOME OMPI_MCA_mca_base_env_list
before=$PATH
source "$init"
module use "$prefix/share/papfft/modulefiles"
module avail 2>&1 | grep -q papfft-preload || fail "module avail does not show papfft-preload"
module load papfft
[[ $(command -v papfft) == "$prefix/bin/papfft" ]] || fail "papfft is not in PATH"
papfft --version
pkg-config --exists papfft-comm || fail "no papfft-comm for pkg-config"
[[ :$MANPATH: == *:$prefix/share/man:* && :$CMAKE_PREFIX_PATH: == *:$prefix:* ]] || fail "MANPATH or CMAKE_PREFIX_PATH"
module load papfft-preload
[[ $OMPI_MCA_mca_base_env_list == "LD_PRELOAD=$library" && -z ${LD_PRELOAD-} ]] || fail "OMPI_MCA_mca_base_env_list: $OMPI_MCA_mca_base_env_list"
mpirun -n 2 --bind-to none sh -c 'echo "preloaded: $LD_PRELOAD"' | grep -cx "preloaded: $library" | grep -qx 2 || fail "the ranks have no LD_PRELOAD"
module show papfft-preload 2>&1 | grep -q 'collectives of unchanged' || fail "module show"
module unload papfft-preload papfft
[[ -z ${OMPI_MCA_mca_base_env_list-} ]] || fail "unload leaves OMPI_MCA_mca_base_env_list"
[[ :$PATH: != *:$prefix/bin:* ]] || fail "unload leaves PATH"
USE
unset PKG_CONFIG_PATH
found=0
for init in /usr/share/modules/init/bash /usr/share/lmod/lmod/init/bash; do
  [[ -e $init ]] || continue
  bash use.sh "$init" "$prefix" "$prefix/$PAPFFT_LIBDIR/libpapfft_mpi.so" || fail "the module files by $init"
  found=$((found + 1))
done
if ((found == 0)); then echo "skipped: neither environment-modules nor lmod is installed"; exit 77; fi
echo "$found module systems"
