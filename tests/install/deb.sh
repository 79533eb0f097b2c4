#!/bin/bash
# SPDX-License-Identifier: MIT
# The .deb: built, looked at by lintian, installed, used under mpirun and srun, and removed. It is installed over this machine's own tree by
# an overlay, so dpkg checks what it depends on, and the machine stays as it is. All of it is a process namespace, which ends with this script.
# shellcheck source=tests/install/common.sh
source "$(dirname "$0")/common.sh"
skip() { echo "skipped: $*"; exit 77; }
[[ $EUID == 0 ]] || skip "only root can install a package"
for tool in dpkg-shlibdeps unshare; do command -v $tool >/dev/null || skip "no $tool"; done

(cd "$PAPFFT_BUILD" && cpack -B "$scratch") >log 2>&1 || { cat log; fail "cpack"; }
deb=$(echo "$scratch"/papfft_*_*.deb)
[[ -e $deb ]] || fail "no package"
if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error,warning --tag-display-limit 0 "$deb" || fail "lintian has complaints"
else
  echo "not looked at by lintian, which is not installed"
fi

cat >inside.sh <<'INSIDE'
set -euo pipefail
root=$1 scratch=$2
mount -t tmpfs tmpfs "$root" && mkdir "$root/upper" "$root/work" "$root/all"
mount -t overlay overlay -o "lowerdir=/,upperdir=$root/upper,workdir=$root/work" "$root/all" || exit 77
for folder in dev sys; do mount --rbind /$folder "$root/all/$folder"; done
mount -t proc proc "$root/all/proc"
for folder in tmp dev/shm run; do mount -t tmpfs tmpfs "$root/all/$folder"; done
cp "$scratch"/papfft_*.deb "$scratch/use.sh" "$root/all/tmp"
mkdir "$root/all/tmp/examples"
chroot "$root/all" /bin/bash /tmp/use.sh
INSIDE
cat >use.sh <<'USE'
# On the machine with the package.
set -euo pipefail
cd /tmp
fail() { echo "deb.sh: $*" >&2; exit 1; }
dpkg -i papfft_*.deb >log 2>&1 || { cat log; fail "dpkg -i"; }
hash -r
[[ $(command -v papfft) == /usr/bin/papfft ]] || fail "papfft is not in PATH"
papfft --version
[[ $(papfft preload --path) == /usr/lib/*libpapfft_mpi.so ]] || fail "papfft preload --path: $(papfft preload --path)"
head -c 65536 /dev/urandom >in.ci16
papfft transform in.ci16 --format ci16_le --batch --length 1024 -o alone.npy -q
mpirun -n 2 --bind-to none papfft transform in.ci16 --format ci16_le --batch --length 1024 -o together.npy -q
cmp alone.npy together.npy || fail "two ranks have another result than one"
# The examples, compiled with what is installed, and one under the preload library.
cp -r /usr/share/doc/papfft/app/examples/. examples
make -s -C examples
mpirun -n 2 --bind-to none examples/pat_gather | grep -x '2 ranks, 20 iterations, 0 wrong numbers' || fail "an example"
mpirun -n 2 --bind-to none -x LD_PRELOAD="$(papfft preload --path)" -x PAPFFT_PRELOAD_REPORT=- examples/pat_gather 2>said || fail "with the preload library"
grep -q 'papfft preload' said || fail "the preload library says nothing"
# The same under Slurm, on two virtual hosts that the package makes.
cluster() { local command=$1; shift; papfft cluster "$command" --name deb "$@"; }
code=0
cluster up 2 --slurm 2>log || code=$?
if ((code == 0)); then
  cluster exec -- srun --mpi=pmix --nodes=2 papfft transform in.ci16 --format ci16_le --batch --length 1024 -o slurm.npy -q
  cmp alone.npy slurm.npy || fail "under srun: another result"
  PAPFFT_PRELOAD_REPORT=- cluster exec -- srun --mpi=pmix --nodes=2 --export=ALL,LD_PRELOAD="$(papfft preload --path)" examples/pat_gather 2>said ||
    { cat said; fail "under srun, with the preload library"; }
  grep -q 'papfft preload' said || fail "under srun the preload library says nothing"
  cluster down
  echo "used under srun"
elif ((code == 77)); then
  echo "not used under srun: $(cat log)"
else
  cat log
  fail "papfft cluster up --slurm: exit code $code"
fi
man_pages=$(dpkg -L papfft | grep -c '/man1/papfft.*\.1\.gz')
((man_pages > 10)) || fail "only $man_pages manual pages"
dpkg -L papfft | sort >files
dpkg -r papfft >log 2>&1 || { cat log; fail "dpkg -r"; }
while read -r file; do
  if [[ -f $file || -L $file ]]; then fail "$file is left"; fi
done <files
[[ ! -e /usr/share/doc/papfft && ! -e /usr/libexec/papfft && ! -e /usr/share/papfft ]] || fail "folders are left"
if [[ -e /usr/bin/papfft ]]; then fail "the program is left"; fi
echo "installed, used, removed"
USE
mkdir root
code=0
# An overlay inside of an overlay, or a kernel without: the package was built and looked at, no more.
unshare --mount --pid --fork --kill-child --propagation private bash inside.sh "$scratch/root" "$scratch" || code=$?
[[ $code != 77 ]] || skip "this machine has no overlay file system; the package was built"
exit "$code"
