#!/bin/sh
# Prints the name of the newest clang on the PATH; fails when there is none. CLANG overrides.
if [ -n "${CLANG:-}" ]; then
  printf '%s\n' "$CLANG"
  exit 0
fi
if command -v clang >/dev/null 2>&1; then
  echo clang
  exit 0
fi
for version in 21 20 19 18 17 16 15 14; do
  if command -v "clang-$version" >/dev/null 2>&1; then
    echo "clang-$version"
    exit 0
  fi
done
exit 1
