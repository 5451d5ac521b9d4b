# For tests of many cases: each failure is told, and counted. To be sourced.
failures=0

fail() { # what output
  printf 'FAILED: %s\n%s\n' "$1" "$2"
  failures=$((failures + 1))
}
