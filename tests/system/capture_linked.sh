# A program that is linked with the recorder: recorded where SIMCAPTURE_DIR says so, and not at all elsewhere.
#
#   capture_linked.sh [COMPILER]       see use_mpi
source "$SIMREPLAY_TESTS/support/capture.sh"
use_mpi "$@"
skip_unless "$mpicxx"
golden=$SIMREPLAY_TESTS/golden/capture_point_to_point.txt
source=(-std=c++20 -DMPICH_SKIP_MPICXX -DOMPI_SKIP_MPICXX -I "$SIMREPLAY_TESTS/.."
  "$SIMREPLAY_TESTS/programs/point_to_point.cpp")

"$mpicxx" "${source[@]}" -o bare
"$mpicxx" "${source[@]}" -o linked -L"$SIMREPLAY_LIB" -Wl,-rpath,"$SIMREPLAY_LIB" -Wl,--no-as-needed "-l$recorder"

echo "== not recorded"
"$launcher" -n 3 ./bare 2>bare.err | sort >bare.txt
"$launcher" -n 3 ./linked 2>linked.err | sort >linked.txt
diff bare.txt linked.txt || fail "the recorder changes what the program prints"
! grep simcapture linked.err || fail "it is not silent"
[ -z "$(find . -name '*.spool')" ] || fail "it is recorded"

echo "== recorded, without simcapture"
export SIMCAPTURE_DIR=$PWD/spools
"$launcher" -n 3 ./linked | sort >linked.txt
diff bare.txt linked.txt || fail "recording changes what the program prints"
unset SIMCAPTURE_DIR
"$simtrace" pack spools -o linked.h5 2>messages.txt
expect_text messages.txt "linked.h5: 3 processes"
"$dump" linked.h5 | diff "$golden" - || fail "the trace is not as expected"

echo "== recorded by simcapture: it is there once"
expect_golden point_to_point "$launcher" -n 3 ./linked
expect_status 0 "$simcapture" --no-pack --spool-dir twice -o none.h5 -- "$launcher" -n 3 ./linked
[ "$(compgen -G 'twice/*.spool' | wc -l)" -eq 3 ] || fail "recorded twice"
