#!/bin/sh
# usage: fuzz.sh SECONDS NAME...
# Runs build/fuzz/bin/NAME for that long each. tests/fuzz/corpus/NAME/ holds its seeds and past findings,
# tests/fuzz/seeds.js makes more of them, tests/fuzz/NAME.dict is its dictionary; what it learns goes to
# build/fuzz/corpus/NAME/, what it finds to build/fuzz/findings/NAME-*. FUZZ_FLAGS: more for libFuzzer.
set -eu

seconds=$1
shift
[ $# -gt 0 ] || echo "tamp: there are no fuzzers in tests/fuzz"

mkdir -p build/fuzz
node tests/fuzz/seeds.js build/fuzz/seeds

failed=
for name; do
  learned=build/fuzz/corpus/$name
  seeds=tests/fuzz/corpus/$name
  mkdir -p "$learned" build/fuzz/findings
  set -- "$learned"
  for more in "$seeds" "build/fuzz/seeds/$name"; do
    [ ! -d "$more" ] || set -- "$@" "$more"
  done
  [ ! -f "tests/fuzz/$name.dict" ] || set -- "-dict=tests/fuzz/$name.dict" "$@"
  log=build/fuzz/$name.log
  if build/fuzz/bin/"$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
      -print_final_stats=1 -artifact_prefix="build/fuzz/findings/$name-" ${FUZZ_FLAGS:-} "$@" >"$log" 2>&1; then
    echo "fuzz $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $seconds s at most, none fails"
  else
    tail -n 40 "$log"
    failed="$failed $name"
  fi
done
if [ -n "$failed" ]; then
  echo "fuzz: inputs that fail$failed: see build/fuzz/findings and build/fuzz/NAME.log"
  exit 1
fi
