#!/bin/bash
# SPDX-License-Identifier: MIT
#
# cluster_test.sh SCRIPT RING [PAPFFT]: tests of the virtual cluster, and of the program where it needs several hosts. SCRIPT is
# papfft-cluster, RING the program of ring.c.
# Exit 0: passed, 1: failed, 77: this machine allows no network namespaces.

set -euo pipefail

script=$1
ring=$2
papfft=${3-}
name=test-$$
other=$name-b # one name is the beginning of the other: neither may touch the other's namespaces
scratch=$(mktemp -d)
clean_up() {
  "$script" down --name "$name" >/dev/null || true
  "$script" down --name "$other" >/dev/null || true
  rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP

# shellcheck source=tests/cluster/checks.sh
. "$(dirname "$0")/checks.sh"
# A port that nobody listens on: a host that is there refuses, one that is not lets us wait.
reaches() {
  local code=0
  ip netns exec "papfft.$name.h$1" timeout 1 bash -c ": >/dev/tcp/198.18.0.$(($2 + 1))/9" 2>/dev/null || code=$?
  ((code == 1))
}
not() { ! "$@"; }
namespaces_of() { find /run/netns -maxdepth 1 -name "papfft.$1.*" 2>/dev/null; }
nothing_is_left() { [[ -z $(namespaces_of "$name") && ! -e /run/papfft-cluster/$name ]]; }
nobody_is_inside() {
  local path
  for path in $(namespaces_of "$name"); do
    [[ -z $(ip netns pids "${path##*/}") ]] || return 1
  done
}
# wait_until COMMAND...: for at most 10 s
wait_until() {
  local tries
  for ((tries = 0; tries < 200; tries++)); do
    ! "$@" || return 0
    sleep 0.05
  done
  return 1
}
job_runs() { [[ -n $(ip netns pids "papfft.$name.h3") ]]; }
# What both ends of a connection from h0 to h1 use: "cubic cubic"
congestion() {
  local ask='s.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode()'
  ip netns exec "papfft.$name.h1" timeout 10 python3 -c "import socket
l = socket.create_server(('198.18.0.2', 9))
s, _ = l.accept()
s.sendall($ask.encode())" &
  ip netns exec "papfft.$name.h0" timeout 10 python3 -c "import socket, time
for _ in range(200):
    try:
        s = socket.create_connection(('198.18.0.2', 9))
        break
    except ConnectionRefusedError:
        time.sleep(0.02)
print($ask, s.recv(16).decode())" || true
  wait $! || true
}
passed_to() { ip -n "papfft.$name.switch" -s link show "$1" | awk '/TX:/ { getline; print $2 }'; }

# --- usage, which needs no rights -------------------------------------------------------------------------------------
for arguments in '' 'sideways' 'up' 'up 0' 'up 1000' 'up x' 'up 2 3' 'up 2 --rate' 'up 2 --rate fast' 'up 2 --rate 0mbit' \
  'up 2 --delay 5' 'up 2 --loss 100%' 'up 2 --loss 1' 'up 2 --buffer 10' 'up 2 --buffer x' 'up 2 --slow h2:1mbit' \
  'up 2 --congestion' 'up 2 --congestion Cubic!' 'up 2 --ranks 1,2,3' 'up 2 --ranks 1,0' 'up 2 --ranks 1,x' \
  'up 2 --slow h1' 'up 2 --name ../x' 'up 2 --what 3' 'run -n 2' 'run -- true' 'run -n 2 --timeout soon -- true' \
  'run -n 2 --env K -- true' 'run -n 2 --order sideways -- true' 'link h0' 'link h0 sideways' 'down now' 'status now'; do
  # shellcheck disable=SC2086 # words
  result "$script" $arguments
  check "'$arguments' is bad usage, in one line" [ "$code $(wc -l <<<"$output")" = "64 1" ]
done
result "$script" up --help
check "--help shows examples" grep -q '^Examples:' <<<"$output"
if ((EUID == 0)); then
  result setpriv --bounding-set -net_admin --inh-caps -net_admin "$script" up 2 --name "$name"
  check "no rights: 77, in one line" [ "$code $(wc -l <<<"$output")" = "77 1" ]
  check "no rights: nothing made" nothing_is_left
fi

# --- up ---------------------------------------------------------------------------------------------------------------
result cluster up 4 --rate 100mbit --slow h3:50mbit
if ((code == 77)); then
  echo "skipped: $output"
  exit 77
fi
check "up" [ "$code" = 0 ]
check "five namespaces" [ "$(namespaces_of "$name" | wc -l)" = 5 ]
check "TCP's congestion control is cubic at both ends" [ "$(congestion)" = "cubic cubic" ]
born=$(stat -c %Z "/run/netns/papfft.$name.h0")
result cluster up 4 --rate=100mbit --slow 3:50mbit
check "a second up changes nothing and says so" grep -q 'up already' <<<"$output"
check "the namespaces are the same" [ "$(stat -c %Z "/run/netns/papfft.$name.h0")" = "$born" ]
check "both ends of a cable have its rate" [ "$(
  tc -n "papfft.$name.h3" qdisc show dev eth0 | grep -c 'rate 50Mbit'
  tc -n "papfft.$name.switch" qdisc show dev h3 | grep -c 'rate 50Mbit'
)" = $'1\n1' ]
check "h0 reaches h3" reaches 0 3
check "h2 reaches h1" reaches 2 1

# --- link -------------------------------------------------------------------------------------------------------------
cluster link h3 down
check "an unplugged host is not reached" not reaches 0 3
check "the others are" reaches 0 1
check "status shows it" grep -q '"host": "h3".*"link": "down"' <<<"$(cluster status --json)"
cluster link h3 up
check "plugged in again it is reached" wait_until reaches 0 3
check "and still shaped" grep -q 'rate 50Mbit' <<<"$(tc -n "papfft.$name.switch" qdisc show dev h3)"
result cluster link h4 down
check "there is no h4" [ "$code" = 64 ]

# --- run --------------------------------------------------------------------------------------------------------------
cluster up 4 --rate 100mbit >/dev/null
result cluster run -n 4 --timeout 60 -- "$ring"
check "four ranks exchange data" [ "$code" = 0 ]
check "on four hosts" [ "$(grep '^host' <<<"$output" | sort -u | tr '\n' ' ')" = "host h0 host h1 host h2 host h3 " ]
rate=$(sed -n 's/^mbit_per_s //p' <<<"$output")
check "at most at the cables' rate ($rate of 100 Mb/s)" [ "${rate:-0}" -gt 10 -a "${rate:-0}" -lt 110 ]
# shellcheck disable=SC2016 # for the ranks' shell
result cluster run -n 4 --per-host 2 --env 'GREETING=two words' --mca mpi_yield_when_idle 0 -- \
  sh -c 'echo "$(hostname) $GREETING $OMPI_MCA_mpi_yield_when_idle"'
check "two ranks per host, --env, --mca" [ "$(sort <<<"$output" | uniq -c | tr -s ' \n' ' ')" = \
  " 2 h0 two words 0 2 h1 two words 0 " ]
result cluster run -n 2 -- printenv PAPFFT_CLUSTER_LINK
check "the ranks are told what the cables carry" [ "$(sort -u <<<"$output")" = \
  "rate_bits_per_s=100000000 burst_bytes=25000" ]
result cluster run -n 2 -- sh -c 'exit 7'
check "the job's exit code is passed on" [ "$code" = 7 ]
result cluster run -n 5 -- true
check "five ranks do not fit" [ "$code" = 64 ]
result cluster run -n 4 --timeout 2 -- sleep 60
check "a timeout ends the job with 124" [ "$code" = 124 ]
check "a timeout leaves no process" nobody_is_inside
for signal in INT:130 TERM:143 KILL:137; do
  env --default-signal=INT "$script" run --name "$name" -n 4 -- sleep 60 >/dev/null 2>&1 &
  job=$!
  check "a job runs" wait_until job_runs
  kill -"${signal%:*}" "$job"
  code=0
  wait "$job" 2>/dev/null || code=$?
  check "SIG${signal%:*} ends it with ${signal#*:}" [ "$code" = "${signal#*:}" ]
  check "SIG${signal%:*} leaves no process" wait_until nobody_is_inside
done

# --- hosts of several sizes -----------------------------------------------------------------------------------------
cluster up 3 --ranks 1,3,2 >/dev/null
result cluster run -- hostname
check "as many ranks on each host as up was told" [ "$(sort <<<"$output" | uniq -c | tr -s ' \n' ' ')" = " 1 h0 3 h1 2 h2 " ]
result cluster run -n 3 --per-host 1 -- hostname
check "unless run says another number" [ "$(sort <<<"$output" | uniq -c | tr -s ' \n' ' ')" = " 1 h0 1 h1 1 h2 " ]
result cluster run -n 7 -- true
check "seven ranks do not fit" [ "$code" = 64 ]
# shellcheck disable=SC2016 # for the ranks' shell
whose='echo "$OMPI_COMM_WORLD_RANK $(hostname)"'
result cluster run -- sh -c "$whose"
check "ranks of one host follow each other" [ "$(sort <<<"$output" | tr '\n' ' ')" = "0 h0 1 h1 2 h1 3 h1 4 h2 5 h2 " ]
result cluster run --order round-robin -- sh -c "$whose"
check "or hosts get a rank in turn while they have room" [ "$(sort <<<"$output" | tr '\n' ' ')" = "0 h0 1 h1 2 h2 3 h1 4 h2 5 h1 " ]

# --- the program on hosts with several ranks -------------------------------------------------------------------------
if [[ -n $papfft ]]; then
  bench() { # bench OPERATION ALGORITHMS [OPTION OF run]...
    local operation=$1 algorithms=$2
    shift 2
    result cluster run "$@" -- "$papfft" bench collective --op "$operation" --algorithms "$algorithms" --bytes 64K \
      --iterations 2 --warmup 1 --compute 1ms --json "$scratch/bench.json"
  }
  for order in by-host round-robin; do
    operations='bcast allreduce'
    # Open MPI 4.1's coll/han gathers wrong data unless each host's ranks follow each other: no gather here.
    [[ $order = by-host ]] || operations='reduce scatter'
    for operation in $operations; do
      bench "$operation" mpi-han,mpi-lane,auto -n 6 --per-host 2 --order "$order"
      check "$operation by peers that know hosts, $order" [ "$code" = 0 ]
    done
    bench reduce_scatter mpi-lane -n 6 --per-host 2 --order "$order"
    check "reduce_scatter by lanes, $order" [ "$code" = 0 ]
    check "the hosts and the order of the ranks are in words" grep -q "(3 hosts, 2 ranks each, ${order/-/ })" <<<"$output"
    check "and in JSON" grep -q "\"rank_order\": \"${order/-/ }\"" "$scratch/bench.json"
  done
  # What the library says of the communicators that it makes: of han, with its lists of components, only the peer's.
  bench bcast mpi -n 6 --per-host 2 --mca coll_base_verbose 10
  check "stock MPI goes without coll/han" not grep -q 'selecting *han,.*Enabled' <<<"$output"
  bench bcast mpi-han -n 6 --per-host 2 --mca coll_base_verbose 10
  check "mpi-han has it" grep -q 'selecting *han,.*Enabled' <<<"$output"
  bench bcast mpi-han -n 3
  check "mpi-han wants several ranks per host: 64" [ "$code" = 64 ]
  cluster up 4 >/dev/null
  truncate -s 16M "$scratch/z.cf64"
  for input in "long slices" "short dif --length 1000"; do
    read -r length engine more <<<"$input"
    # shellcheck disable=SC2086 # some options, or none
    result cluster run -n 4 -- "$papfft" transform "$scratch/z.cf64" --format cf64_le $more -o "$scratch/out.npy" --json "$scratch/job.json"
    check "a $length vector on several hosts" [ "$code" = 0 ]
    check "goes by $engine" grep -q "\"engine\": \"$engine\"" "$scratch/job.json"
  done
  "$script" run --name "$name" -n 4 --timeout 150 -- "$papfft" bench collective --op gather --algorithms lin --bytes 64K \
    --compute 1ms --iterations 1000000 --stuck-after 5 >/dev/null 2>"$scratch/said" &
  job=$!
  check "a job runs" wait_until job_runs
  sleep 3
  cluster link h2 down
  code=0
  wait "$job" || code=$?
  check "a host that stays out of reach ends the job (code $code)" [ "$code" = 74 -o "$code" = 205 ]
  check "and at most one rank says so" [ "$(grep -c '^papfft: no progress' "$scratch/said")" -le 1 ]
  check "and no process is left" wait_until nobody_is_inside
  cluster up 3 --ranks 1,3,2 >/dev/null
  bench bcast auto
  check "hosts of several sizes" [ "$code" = 0 ]
  check "are named" grep -q "(3 hosts, 1,3,2 ranks, by host)" <<<"$output"
  for peer in mpi-han mpi-lane; do
    bench bcast "$peer"
    check "$peer cannot: 64, and says why" [ "$code $(grep -c "$peer:.*different numbers of ranks" <<<"$output")" = "64 1" ]
  done
fi

# --- two jobs whose hosts have the same names and several ranks ------------------------------------------------------
"$script" up 3 --name "$other" >/dev/null
cluster up 3 >/dev/null
memory_of() { "$script" run --name "$1" -n 4 --per-host 2 -- printenv OMPI_MCA_btl_vader_backing_directory | sort -u; }
check "jobs share no memory with each other" [ "$(printf '%s\n' "$(memory_of "$name")" "$(memory_of "$other")" | sort -u | wc -l)" = 2 ]
check "it goes with the job" [ -z "$(find /dev/shm -maxdepth 1 -name "papfft-cluster.$name*")" ]
for turn in 1 2; do
  "$script" run --name "$other" -n 6 --per-host 2 --timeout 60 -- "$ring" >/dev/null 2>&1 &
  job=$!
  result cluster run -n 6 --per-host 2 --timeout 60 -- "$ring"
  code_of_other=0
  wait "$job" || code_of_other=$?
  check "two such jobs at a time, $turn" [ "$code $code_of_other" = "0 0" ]
done

# --- congestion control ----------------------------------------------------------------------------------------------
cluster up 2 --congestion reno >/dev/null
check "or another" [ "$(congestion)" = "reno reno" ]
check "status shows it" grep -q '"congestion": "reno"' <<<"$(cluster status --json)"
check "and in words" grep -q 'TCP reno' <<<"$(cluster status)"
result cluster up 2 --congestion no-such
check "one that the kernel lacks: 77, and it is named" [ "$code" = 77 ]
check "as the reason" grep -q 'kernel lacks.*congestion' <<<"$output"
check "and nothing is left of it" nothing_is_left
machine=$(</proc/sys/net/ipv4/tcp_congestion_control)
cluster up 2 --congestion machine >/dev/null
check "or the machine's own" [ "$(congestion)" = "$machine $machine" ]

# --- buffer, loss, delay, two clusters --------------------------------------------------------------------------------
"$script" up 2 --name "$other" >/dev/null
cluster up 3 --buffer 64K --loss 50% >/dev/null
check "other settings rebuild it" [ "$(namespaces_of "$name" | wc -l)" = 4 ]
check "the buffer is the switch port's" grep -q '65536' <<<"$(cluster status --json)"
check "and tc's" grep -q 'burst 32[K7]' <<<"$(tc -n "papfft.$name.switch" qdisc show dev h1)"
before=$(passed_to h1)
ip netns exec "papfft.$name.h0" bash -c 'for ((i = 0; i < 400; i++)); do echo x >/dev/udp/198.18.0.2/9 || true; done' 2>/dev/null
passed=$(($(passed_to h1) - before))
check "about half of 400 packets are lost ($passed pass)" [ "$passed" -gt 100 -a "$passed" -lt 300 ]
cluster run -n 3 -- sleep 60 >/dev/null 2>&1 &
job=$!
sleep 1
cluster down >/dev/null
check "down leaves nothing" nothing_is_left
code=0
wait "$job" 2>/dev/null || code=$?
check "down ends the job" [ "$code" != 0 ]
check "down leaves the other cluster" [ "$(namespaces_of "$other" | wc -l)" = 3 ]
result cluster down
check "down of nothing is no error" [ "$code" = 0 ]
result cluster run -n 2 -- true
check "run without a cluster: 64, in one line" [ "$code $(wc -l <<<"$output")" = "64 1" ]
result cluster up 2 --delay 20ms
if ((code == 77)); then
  check "a kernel without netem is named as the reason" grep -q 'kernel lacks' <<<"$output"
  check "and nothing is left" nothing_is_left
else
  check "the delay is netem's" grep -q 'netem.*delay 20' <<<"$(tc -n "papfft.$name.switch" qdisc show dev h1)"
  check "the port stays shaped" grep -q 'tbf.*parent 1:1' <<<"$(tc -n "papfft.$name.switch" qdisc show dev h1)"
  check "hosts reach each other" reaches 0 1
  cluster down >/dev/null
fi

# --- interrupted ------------------------------------------------------------------------------------------------------
# A tc that stops in the middle of building until the signal is sent.
mkdir "$scratch/bin"
cat >"$scratch/bin/tc" <<STUB
#!/bin/bash
touch '$scratch/reached'
sleep 0.5
exec $(command -v tc) "\$@"
STUB
chmod +x "$scratch/bin/tc"
for signal in INT:130 TERM:143 KILL:137; do
  rm -f "$scratch/reached"
  env --default-signal=INT PATH="$scratch/bin:$PATH" "$script" up 3 --name "$name" >/dev/null 2>&1 &
  builder=$!
  check "up is half-way" wait_until test -e "$scratch/reached"
  kill -"${signal%:*}" "$builder"
  code=0
  wait "$builder" 2>/dev/null || code=$?
  check "SIG${signal%:*} ends up with ${signal#*:}" [ "$code" = "${signal#*:}" ]
  [[ $signal == KILL:* ]] || check "SIG${signal%:*} during up leaves nothing" nothing_is_left
done
result cluster up 3
check "a half-built cluster is cleaned up and built" grep -q 'half-built.*is up' <<<"${output//$'\n'/ }"
cluster up 4 >/dev/null &
cluster down >/dev/null &
cluster up 3 >/dev/null &
wait
check "commands at the same time leave all or nothing" grep -q 'up: [34] hosts\|is down' <<<"$(cluster status)"

if ((failures)); then
  echo "$failures failed" >&2
  exit 1
fi
echo "all passed"
