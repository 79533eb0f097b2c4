#!/bin/bash
# SPDX-License-Identifier: MIT
#
# slurm_test.sh short|long SCRIPT RING PAPFFT TEMPLATES: Slurm on the virtual cluster, and the scripts for sbatch in the folder TEMPLATES as they
# are. short: 4 hosts, one preemption; long: 8 hosts, three.
# Exit 0: passed, 1: failed, 77: this machine has no Slurm, or allows no network namespaces.

set -euo pipefail

length=$1
script=$2
ring=$3
papfft=$4
templates=$5
name=slurm-$$
hosts=4 preemptions=1 patience_s=60
[[ $length == short ]] || hosts=8 preemptions=3 patience_s=300
scratch=$(mktemp -d)
# shellcheck source=tests/cluster/checks.sh
. "$(dirname "$0")/checks.sh"
clean_up() {
  "$script" down --name "$name" >/dev/null || true
  rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP
cd "$scratch"
PATH=$(dirname "$papfft"):$PATH
export PAPFFT_WAIT=nap # the hosts share this machine's cores

on_host() { cluster exec -- "$@"; }
not() { ! "$@"; }
namespaces() { find /run/netns -maxdepth 1 -name "papfft.$name.*" 2>/dev/null; }
# wait_until COMMAND...: for at most $patience_s
wait_until() {
  local deadline=$((SECONDS + patience_s))
  until "$@"; do
    ((SECONDS < deadline)) || return 1
    sleep 0.1
  done
}

# --- without Slurm, and up ----------------------------------------------------------------------------------------------
result "$script" up 2 --name "$name" --slurm=yes
check "--slurm takes no value: 64" [ "$code" = 64 ]
if ((EUID == 0)); then
  mkdir bin
  for tool in ip tc; do ln -s "$(command -v $tool)" bin/; done
  result env PATH="$scratch/bin:/usr/bin:/bin" "$script" up 2 --name "$name" --slurm
  check "without slurmctld: 77, in one line that names the packages" [ "$code $(grep -c 'packages slurmctld' <<<"$output")" = "77 1" ]
  check "and nothing is made" [ -z "$(namespaces)" ]
fi
result cluster up "$hosts" --slurm
if ((code == 77)); then
  echo "skipped: $output"
  exit 77
fi
check "up --slurm" [ "$code" = 0 ]
result cluster up "$hosts" --slurm
check "a second up leaves it alone" grep -q 'up already' <<<"$output"
check "all hosts take jobs" [ "$(on_host sinfo --noheader --partition=batch --format='%D %T')" = "$hosts idle" ]
check "status shows it" grep -q '"slurm": "yes"' <<<"$(cluster status --json)"
result cluster exec --host h2 -- sh -c 'hostname; exit 7'
check "exec runs in a host, and passes on the exit code" [ "$code $output" = "7 h2" ]
result cluster exec --host "h$hosts" -- true
check "exec in no host: 64" [ "$code" = 64 ]

# --- srun ---------------------------------------------------------------------------------------------------------------
result on_host srun --mpi=pmix --nodes="$hosts" "$ring"
check "srun starts a rank on each host" [ "$(grep -c '^host h' <<<"$output")" = "$hosts" ]
result on_host srun --mpi=pmix --nodes=2 --ntasks-per-node=2 papfft info
check "info reports the allocation, once" [ "$(grep -c "Slurm job .* of partition batch: 2 hosts (h\[0-1\]), 4 ranks, 2(x2) per host" <<<"$output")" = 1 ]

# --- the templates ------------------------------------------------------------------------------------------------------
head -c 512K /dev/urandom >in.ci16
transform=(transform in.ci16 --format ci16_le --batch --length 1024)
result on_host sbatch --wait --nodes=2 --ntasks-per-node=2 --output=ranks.txt "$templates/ranks.sbatch" "${transform[@]}" -o ranks.npy
check "ranks.sbatch ends well" [ "$code" = 0 ]
papfft "${transform[@]}" -o alone.npy -q
check "and its result is one process's" cmp alone.npy ranks.npy

for i in 0 1; do tail -c 65536 in.ci16 | papfft transform - --format ci16_le --length $((8192 >> i)) --batch -o file-$i.npy -q; done
result on_host sbatch --wait --array=0-1 --output=array-%a.txt "$templates/array.sbatch" file-0.npy file-1.npy
check "array.sbatch ends well" [ "$code" = 0 ]
check "with a result of each file" [ -s spectra-file-0.npy -a -s spectra-file-1.npy ]

export PAPFFT_PRELOAD_REPORT=-
result on_host sbatch --wait --nodes=2 --output=preload.txt "$templates/preload.sbatch" "$ring"
unset PAPFFT_PRELOAD_REPORT
check "preload.sbatch ends well" [ "$code" = 0 ]
check "its program runs with the preload library" grep -q 'papfft preload' preload.txt

# --- a batch that is preempted ------------------------------------------------------------------------------------------
vectors=$((preemptions * 40 + 40)) # about 0.2 s each
head -c $((vectors * 4096)) /dev/urandom >batch.ci16
batch=(transform batch.ci16 --format ci16_le --batch --length 1024 --engine dif --delay uniform:200ms)
done_bytes() { stat -c %s preempted.npy.partial 2>/dev/null || echo 0; }
grows_beyond() { [[ $(done_bytes) -gt $1 ]]; }
# Slurm lets a job that is back in the queue wait for two minutes. The short form does not.
is_in_the_queue() { [[ $(on_host squeue --noheader --jobs="$job" --format=%T) == PENDING ]]; }
hurry() {
  [[ $length == short ]] || return 0
  wait_until is_in_the_queue && on_host scontrol update JobId="$job" StartTime=now
}
is_over() { [[ ! -e preempted.npy.partial && -e preempted.npy ]]; }
job=$(on_host sbatch --parsable --nodes="$hosts" --output=batch.txt "$templates/resume.sbatch" "${batch[@]}" -o preempted.npy)
for ((i = 1; i <= preemptions; i++)); do
  before=$(done_bytes)
  check "the batch has written something new ($i)" wait_until grows_beyond $((before + 65536))
  result on_host sbatch --wait --partition=urgent --nodes="$hosts" --output=/dev/null --wrap true
  check "an urgent job takes the hosts ($i)" [ "$code" = 0 ]
  check "the batch was not over by then ($i)" not is_over
  check "it waits for its next turn ($i)" hurry
done
check "the batch gets to its end by itself" wait_until is_over
check "it was started again as often as it was preempted" \
  [ "$(on_host scontrol show job "$job" | sed -n 's/.* Restarts=\([0-9]*\).*/\1/p')" = "$preemptions" ]
check "each run but the first took up where the last one stopped" [ "$(grep -c 'vectors are there already' batch.txt)" = "$preemptions" ]
on_host srun --mpi=pmix --nodes="$hosts" papfft transform batch.ci16 --format ci16_le --batch --length 1024 --engine dif -o undisturbed.npy -q
check "the result is that of an undisturbed run, to the bit" cmp preempted.npy undisturbed.npy

cluster down >/dev/null
check "down leaves nothing" [ -z "$(namespaces)" -a ! -e "/run/papfft-cluster/$name" ]
check "no daemon either" not pgrep --full "papfft-cluster/$name/"

if ((failures)); then
  tail -n 5 ./*.txt >&2 || true
  echo "$failures failed" >&2
  exit 1
fi
echo "all passed"
