#!/usr/bin/env bash
# simnet as users run it: made fabrics, files, tables that go out and come back; bad input with one message.
set -uo pipefail
PATH=$SIMREPLAY_BIN:$PATH
failures=0

fail() { # what output
  printf 'FAILED: %s\n%s\n' "$1" "$2"
  failures=$((failures + 1))
}

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
refuses "updn: expected switches that are equally far from nearly all hosts, found none; name the roots with --roots" -t torus:4x4 -r updn
refuses "no-such-file: expected a file, found none that can be read" -t no-such-file

[ $failures = 0 ] || exit 1
