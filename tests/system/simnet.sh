#!/usr/bin/env bash
# simnet as users run it: made fabrics, files, tables that go out and come back; bad input with one message.
set -uo pipefail
PATH=$SIMREPLAY_BIN:$PATH
source "$SIMREPLAY_TESTS/support/failures.sh"

# shows "part of the output" arguments...: exit status 0
shows() {
  local out
  out=$(simnet "${@:2}" 2>&1) || fail "simnet ${*:2}: exit status $?" "$out"
  grep -qF -- "$1" <<<"$out" || fail "simnet ${*:2}: expected '$1'" "$out"
}

# refuses "part of the message" arguments...: one message, exit status not 0
refuses() {
  local out
  if out=$(simnet "${@:2}" 2>&1); then fail "simnet ${*:2}: exit status 0" "$out"; fi
  grep -qF -- "$1" <<<"$out" || fail "simnet ${*:2}: expected '$1'" "$out"
  [ "$(grep -c '^simnet: ' <<<"$out")" = 1 ] || fail "simnet ${*:2}: expected one message" "$out"
}

tree=fat-tree:leaves=8,spines=4,hosts=8,links=2
shows "64 hosts, 12 switches, 128 cables" -t $tree
shows "56 to 56 routes in each direction of a cable between switches; 0 of 128 unused" -t $tree -r ftree
shows "deadlock    can be: 6 channels wait for each other" -t torus:4x4
shows "deadlock    cannot be" -t torus:4x4 -r torus-2QoS
shows "4 service levels, 4 lanes" -t torus:6x5,hosts=2 -r lash

# What goes out comes back.
shows "all 4,032 pairs" -t $tree -r updn --write-tables updn.lfts --write-fabric tree.txt
shows "routing     updn.lfts" -t tree.txt -r updn.lfts --write-tables again.lfts --write-fabric again.txt
cmp updn.lfts again.lfts && cmp tree.txt again.txt || fail "written files differ" ""
refuses "updn.lfts: exists already" -t $tree --write-tables updn.lfts
shows "all 4,032 pairs" -t $tree --write-tables updn.lfts --force

# Pairs that tables do not join: named, and exit status 1.
sed '/^0x0001 /d' updn.lfts >broken.lfts
out=$(simnet -t $tree -r broken.lfts) && fail "lost pairs: exit status 0" "$out"
grep -q '63 of 4,032 pairs of hosts do not arrive' <<<"$out" || fail "lost pairs are not counted" "$out"
grep -q 'h1 to h0: leaf0, which has no route' <<<"$out" || fail "lost pairs are not named" "$out"

echo "0x0000000000200008" >one.root
shows "arrival     all" -t $tree -r updn --roots one.root
echo "0x1234" >bad.root
refuses "bad.root:1: expected the GUID of a switch of the fabric" -t $tree -r updn --roots bad.root
refuses "expected --topology SPEC|FILE" -r minhop
refuses "topolgy: unknown option; did you mean --topology?" --topolgy x
refuses "expected a routing: minhop, updn" -t $tree -r minhops
refuses "expected 1 to 15, found 16" -t $tree --max-lanes 16
refuses "updn: expected switches that are equally far from nearly all hosts, found none; name the roots (--roots of simnet, infiniband.roots of a machine)" -t torus:4x4 -r updn
refuses "no-such-file: expected a file, found none that can be read" -t no-such-file

# Packets. Two messages of one list meet on one link; times are exact.
cat >two.list <<'LIST'
# time source destination bytes id
0 h0 h2 8192 5
{"time": "0", "source": 1, "destination": "h2", "bytes": "8KiB", "id": 6}
LIST
out=$(simnet -t single:3 -m two.list --json -) || fail "two messages: exit status $?" "$out"
grep -q '"id":5,.*"arrival_ps":1109280,.*"contention_ps":329760' <<<"$out" || fail "the first of two messages" "$out"
grep -q '"id":6,.*"arrival_ps":1439040,' <<<"$out" || fail "the second of two messages" "$out"

# The same bits for any number of ranks.
sum() { grep '^checksum'; }
one=$(simnet -t $tree --traffic uniform --count 20 --bytes 20000 --seed 3 | sum)
[ -n "$one" ] || fail "no checksum" "$one"
for n in 2 3 4; do
  out=$($MPIRUN -np $n "$SIMREPLAY_BIN/simnet" -t $tree --traffic uniform --count 20 --bytes 20000 --seed 3 | sum)
  [ "$out" = "$one" ] || fail "$n ranks differ from one" "$out, $one"
done
for pattern in permutation incast all-to-all; do
  shows "checksum" -t $tree --traffic $pattern --count 2 --bytes 5000 --links $pattern.json --bin 10us
  grep -q '"busy_ps_by_bin"' $pattern.json || fail "$pattern: no bins" "$(head $pattern.json)"
done
shows "268435456" -t single:2 --sizes

# A server: requests in, answers out; what is wrong is answered and told at the end.
out=$(printf '%s\n' '{"time_ps":0,"source":"h0","destination":"h1","bytes":4096}' '{"advance_ps":1000}' \
  '{"time_ps":2000,"source":"h0","destination":"nowhere","bytes":1}' '{"advance_ps":"end"}' '{"figures":true}' |
  simnet -t single:2 --serve 2>errors) && fail "serve: exit status 0 in spite of a refused request" "$out"
grep -q '"arrival_ps":449760' <<<"$out" || fail "serve: no arrival" "$out"
grep -q '"advanced_ps":1000' <<<"$out" || fail "serve: no answer to advance" "$out"
grep -q 'expected a host (h0, ..., or a number from 0 to 1), found `nowhere`' <<<"$out" || fail "serve: no error" "$out"
grep -q '"packet_hops":2' <<<"$out" || fail "serve: no figures" "$out"
simnet -t single:2 --socket sock >socket.out 2>&1 &
server=$!
for _ in $(seq 100); do [ -S sock ] && break; sleep 0.1; done
out=$("$PYTHON" -c '
import socket
for last in ({}, {"shutdown": True}):
    import json
    s = socket.socket(socket.AF_UNIX); s.connect("sock"); f = s.makefile("rw")
    f.write(json.dumps({"source": 0, "destination": 1, "bytes": 4096, "id": 7}) + "\n")
    f.write(json.dumps({"advance_ps": "end"}) + "\n"); f.flush()
    print(f.readline().strip()); f.readline()
    if last: f.write(json.dumps(last) + "\n"); f.flush()
    f.close(); s.close()')
[ "$(grep -c '"id":7.*"arrival_ps":449760' <<<"$out")" = 2 ] || fail "socket: two clients" "$out"
wait $server || fail "socket: exit status $?" "$(cat socket.out)"

echo "0 h0 h9 1" >bad.list
refuses "bad.list:1: expected a host (h0, ..., or a number from 0 to 2), found \`h9\`" -t single:3 -m bad.list
printf '0 h0 h1 1 4\n0 h1 h0 1 4\n' >bad.list
refuses "bad.list:2: id 4 is given twice" -t single:3 -m bad.list
echo "-5ns h0 h1 1" >bad.list
refuses "bad.list:1: " -t single:3 -m bad.list
echo "0 h1 h0 1" >lost.list
refuses "message 0: h1 to h0: leaf0, which has no route" -t $tree -r broken.lfts -m lost.list
refuses "infiniband.mtu: expected 256, 512, 1024, 2048 or 4096, found 1000" -t single:2 --sizes --infiniband.mtu 1000
refuses "expected uniform, permutation, incast or all-to-all, found unifrom" -t single:2 --traffic unifrom
refuses "did you mean --infiniband.switch-delay?" -t single:2 --sizes --infiniband.switch-dealy 1ns
refuses "expected one of --messages, --traffic, --sizes, --serve, found two" -t single:2 --sizes --serve
for i in 0 1 2 3 4 5 6 7 8 9; do echo "0 $i $(((i + 4) % 10)) 1MiB"; done >ring.list
refuses "packets wait for each other" -t torus:5,hosts=2 -m ring.list --infiniband.switch-buffer 4160
shows "latency" -t torus:5,hosts=2 -r lash -m ring.list --infiniband.switch-buffer 4160
if out=$($MPIRUN -np 3 "$SIMREPLAY_BIN/simnet" -t single:2 --sizes 2>&1); then fail "3 ranks, 2 hosts: exit status 0" "$out"; fi
grep -q 'expected at most as many processes as the fabric has hosts (2), found 3' <<<"$out" || fail "3 ranks, 2 hosts" "$out"

[ $failures = 0 ] || exit 1
