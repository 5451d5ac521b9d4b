#!/usr/bin/env bash
# A cluster on one computer: hosts as network namespaces, joined by a switch of set rate and delay, or by one medium
# that they share (Linux, root).
#
#   scripts/testbed/hosts.sh up HOSTS RATE_BITS_PER_S DELAY_US    e.g. up 4 10e6 5000
#   scripts/testbed/hosts.sh up HOSTS RATE_BITS_PER_S shared      e.g. up 8 10e6 shared
#   scripts/testbed/hosts.sh run COMMAND...                       on host 1: mpirun -np 4 ./app spreads over the hosts
#   scripts/testbed/hosts.sh down
#
# A frame takes bytes / rate + delay; frames are jumbos ($HOSTS_MTU, default 9000), for each costs this computer time
# that it does not cost the network. Each host has `data` (10.93.0.I, the switch) for messages and `control`
# (10.94.0.I, a plain bridge) for the launcher, a host name and /dev/shm of its own; files are shared.
# On a shared medium all frames of all hosts pass one link of the kernel (htb), hosts with frames to send taking turns; frames
# have 1500 bytes. What comes in at `data` has gone out at `send`.
# All hosts share the processors of this computer: keep the network slow against them. A rank that waits sleeps
# for moments, a 25th of a delay of 2 ms or more, instead of polling (libsleep_in_yield.so beside the switch; keep it in an LD_PRELOAD of your own).
# What `run` starts is nice by $HOSTS_NICE (default -20), so that other work disturbs less (not real-time: that would starve the kernel threads of the network).
# State lies in $HOSTS_STATE (default /run/simreplay-hosts), the switch in $NETWORK_SWITCH
# (default build/release/bin/tests/network_switch).
set -euo pipefail

state=${HOSTS_STATE:-/run/simreplay-hosts}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
switch=${NETWORK_SWITCH:-$here/build/release/bin/tests/network_switch}
patience=$(dirname "$switch")/libsleep_in_yield.so
mtu=${HOSTS_MTU:-9000} medium_mtu=1500
name=srhost # of host I: srhostI; srhost0 holds the switch

die() {
  echo "hosts: $*" >&2
  exit 1
}
in_ns() { # host command...
  local host=$1
  shift
  ip netns exec "$name$host" "$@"
}
hardware_address() { printf '02:53:52:00:00:%02x' "$1"; }

up() {
  local hosts=$1 rate=$2 delay_us=$3 i j join out
  [ "$(id -u)" -eq 0 ] || die "root is needed for network namespaces"
  [ ! -e "$state" ] || die "$state exists: run down first"
  [ -x "$switch" ] || die "$switch is not built"
  ((hosts >= 1 && hosts <= 64)) || die "expected 1 to 64 hosts, found $hosts"
  ip netns list 2>/dev/null | grep -q "^${name}[0-9]" && die "namespaces $name* exist already"
  mkdir -p "$state"
  echo "$hosts" >"$state/count"
  case $delay_us in
    shared) echo 100000 ;;
    *) awk "BEGIN { printf \"%d\", ($delay_us >= 2000 ? $delay_us * 1000 / 25 : 0) }" ;;
  esac >"$state/moment"
  trap 'down >/dev/null 2>&1' ERR

  echo "127.0.0.1 localhost" >"$state/hosts"
  for ((i = 1; i <= hosts; i++)); do
    echo "10.94.0.$i $name$i" >>"$state/hosts"
    echo "$name$i slots=1" >>"$state/hostfile"
  done
  write_agent

  ip netns add "${name}0"
  in_ns 0 ip link add control type bridge
  in_ns 0 ip link set control up
  if [ "$delay_us" = shared ]; then
    join=join_medium out=send
    start_medium "$hosts" "$rate"
  else
    join=join_switch out=data
    start_switch "$hosts" "$rate" "$delay_us"
  fi
  for ((i = 1; i <= hosts; i++)); do add_host "$i" "$hosts"; done
  trap - ERR
  echo "hosts: $hosts, $rate bit/s, $delay_us$([ "$delay_us" = shared ] || echo " us")"
}

start_switch() { # hosts rate delay_us
  local hosts=$1 rate=$2 delay_us=$3 i
  # The switch before the ranks: a late frame is an error of the network that is to be there.
  local first=()
  chrt -f 10 true 2>/dev/null && first=(chrt -f 10) || echo "hosts: no real-time priority for the switch" >&2
  in_ns 0 setsid "${first[@]}" "$switch" "$hosts" "$rate" "$(awk "BEGIN { printf \"%d\", $delay_us * 1000 }")" "$mtu" >"$state/switch.log" 2>&1 </dev/null &
  for ((i = 0; i < 100; i++)); do
    grep -qs ready "$state/switch.log" && break
    sleep 0.05
  done
  grep -qs ready "$state/switch.log" || die "the switch did not start: $(cat "$state/switch.log")"
}

start_medium() { # hosts rate: from the bridge `spoken` to the bridge `heard`
  local hosts=$1 rate i burst
  rate=$(awk "BEGIN { printf \"%d\", $2 }")
  burst=$((medium_mtu + 14 + rate / 8 / 5000)) # a frame, and 200 us for timers that are late
  in_ns 0 ip link add spoken type bridge
  in_ns 0 ip link add heard type bridge
  in_ns 0 ip link add medium txqueuelen 10000 type veth peer name ear
  in_ns 0 ip link set medium master spoken gso_max_segs 1
  in_ns 0 ip link set ear master heard
  for i in spoken heard medium ear; do in_ns 0 ip link set "$i" up; done
  in_ns 0 tc qdisc add dev medium root handle 1: htb
  in_ns 0 tc class add dev medium parent 1: classid 1:1 htb rate "$rate" ceil "$rate" \
    burst "$burst" cburst "$burst" quantum $((medium_mtu + 14))
  for ((i = 1; i <= hosts; i++)); do
    in_ns 0 tc class add dev medium parent 1:1 classid "1:$((i + 15))" htb rate $((rate / hosts)) ceil "$rate" \
      burst $((medium_mtu + 14)) cburst "$burst" quantum $((medium_mtu + 14))
    in_ns 0 tc filter add dev medium parent 1: protocol ip u32 match ip src "10.93.0.$i/32" flowid "1:$((i + 15))"
  done
}

add_host() { # number hosts
  local i=$1 j
  ip netns add "$name$i"
  in_ns "$i" ip link set lo up
  in_ns "$i" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1 || true
  # TCP that keeps its pace: the network loses nothing, so the window only opens and stays open.
  in_ns "$i" sysctl -qw net.ipv4.tcp_congestion_control=reno net.ipv4.tcp_slow_start_after_idle=0 \
    net.ipv4.tcp_no_metrics_save=1 net.ipv4.tcp_autocorking=0
  in_ns 0 ip link add "control$i" type veth peer name control netns "$name$i"
  in_ns 0 ip link set "control$i" master control up
  in_ns "$i" ip addr add "10.94.0.$i/24" dev control
  in_ns "$i" ip link set control up
  "$join" "$i"
  for ((j = 1; j <= $2; j++)); do
    [ "$j" -eq "$i" ] || in_ns "$i" ip neigh replace "10.93.0.$j" lladdr "$(hardware_address "$j")" dev "$out" nud permanent
  done
}

join_switch() { # host
  local i=$1
  in_ns 0 ip link set "port$i" netns "$name$i"
  in_ns "$i" ip link set "port$i" name data mtu "$mtu" address "$(hardware_address "$i")" txqueuelen 10000
  in_ns "$i" ip addr add "10.93.0.$i/24" dev data
  in_ns "$i" ip link set data up
  in_ns "$i" ip route change 10.93.0.0/24 dev data src "10.93.0.$i" initcwnd 64 initrwnd 64 quickack 1
}

join_medium() { # host
  local i=$1
  in_ns "$i" sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0
  in_ns 0 ip link add "out$i" mtu "$medium_mtu" type veth peer name send mtu "$medium_mtu" netns "$name$i"
  in_ns 0 ip link add "in$i" mtu "$medium_mtu" type veth peer name data mtu "$medium_mtu" netns "$name$i"
  in_ns 0 ip link set "out$i" master spoken up
  in_ns 0 ip link set "in$i" master heard up
  in_ns "$i" ip link set data address "$(hardware_address "$i")"
  in_ns "$i" ip link set send gso_max_segs 1
  in_ns "$i" ip addr add "10.93.0.$i/32" dev data
  in_ns "$i" ip link set data up
  in_ns "$i" ip link set send up
  in_ns "$i" ip route add 10.93.0.0/24 dev send src "10.93.0.$i"
  in_ns 0 bridge fdb add "$(hardware_address "$i")" dev medium master static
  in_ns 0 bridge fdb add "$(hardware_address "$i")" dev "in$i" master static
}

write_agent() { # stands in for ssh: agent HOST WORDS...
  cat >"$state/agent" <<AGENT
#!/bin/bash
host=\$1
shift
export LD_PRELOAD="\${LD_PRELOAD-}\${LD_PRELOAD:+:}$patience"
exec ip netns exec "\$host" unshare --uts --mount bash -c '
  hostname "\$0" && mount --make-rprivate / && mount --bind "$state/hosts" /etc/hosts &&
  mount -t tmpfs -o mode=1777 none /dev/shm && eval "exec \$*"' "\$host" "\$@"
AGENT
  chmod +x "$state/agent"
}

run() {
  [ -e "$state/count" ] || die "not up"
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OMPI_MCA_plm=rsh OMPI_MCA_plm_rsh_agent=$state/agent OMPI_MCA_plm_rsh_no_tree_spawn=1
  export OMPI_MCA_orte_default_hostfile=$state/hostfile
  export OMPI_MCA_oob_tcp_if_include=control OMPI_MCA_btl_tcp_if_include=data
  export SLEEP_IN_YIELD=$(cat "$state/moment")
  # Connections are made in MPI_Init, which is not compared.
  export OMPI_MCA_mpi_preconnect_mpi=1
  export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader,tcp
  # The hosts share processors: no binding, always yield; and look for TCP in every turn of waiting.
  export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_mpi_event_tick_rate=1
  exec nice -n "${HOSTS_NICE:--20}" "$state/agent" "${name}1" "$(printf '%q ' "$@")"
}

down() {
  local i
  [ -e "$state/count" ] || return 0
  for ((i = 0; i <= $(cat "$state/count"); i++)); do # only what runs in our own namespaces
    ip netns pids "$name$i" 2>/dev/null | xargs -r kill 2>/dev/null || true
  done
  sleep 0.2
  for ((i = 0; i <= $(cat "$state/count"); i++)); do ip netns del "$name$i" 2>/dev/null || true; done
  rm -rf "$state"
}

case ${1-} in
  up) [ $# -eq 4 ] || die "usage: up HOSTS RATE_BITS_PER_S DELAY_US|shared"; shift; up "$@" ;;
  run) shift; run "$@" ;;
  down) down ;;
  *) sed -n '2,19s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
