#!/bin/sh
# Puts the cJSON sources (cJSON.c, cJSON.h) into the folder $1.
#
# CJSON_DIR, when set, is where they are copied from. Else, where apt has the source package `cjson`, that
# one is taken: it carries the distribution's security patches. Else the upstream release, by its checksum.
#
# libcjson-dev is no help: it holds headers and a shared object, and the core is compiled to WebAssembly.
set -eu

target=$1
upstream_version=1.7.19
upstream_url=https://github.com/DaveGamble/cJSON/archive/refs/tags/v$upstream_version.tar.gz
upstream_sha256=7fa616e3046edfa7a28a32d5f9eacfd23f92900fe1f8ccd988c1662f30454562

mkdir -p "$(dirname "$target")"
work=$(cd "$(dirname "$target")" && pwd)/cjson-fetch
rm -rf "$work"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT

say() { printf 'tamp: %s\n' "$*" >&2; }

# install_from DIRECTORY ORIGIN: the two files, whole or not at all, and a note of where they came from.
install_from() {
  for file in cJSON.c cJSON.h; do
    if [ ! -f "$1/$file" ]; then
      say "$1 holds no $file"
      return 1
    fi
  done
  rm -rf "$target.new" "$target"
  mkdir -p "$target.new"
  cp "$1/cJSON.c" "$1/cJSON.h" "$target.new/"
  [ ! -f "$1/LICENSE" ] || cp "$1/LICENSE" "$target.new/"
  printf '%s\n' "$2" > "$target.new/ORIGIN"
  mv "$target.new" "$target"
}

# The machine's own package sources, as sources of source packages, in a folder of our own: nothing of the
# machine's set-up is changed, and no root is needed.
from_apt() {
  command -v apt-get >/dev/null && command -v dpkg-source >/dev/null || return 1
  parts=$work/sources
  lists=$work/lists
  mkdir -p "$parts" "$lists/partial" "$work/package"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ ! -f "$file" ] || sed -n 's/^[[:space:]]*deb[[:space:]]/deb-src /p' "$file" > "$parts/$(basename "$file" .list).list"
  done
  for file in /etc/apt/sources.list.d/*.sources; do
    [ ! -f "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" > "$parts/$(basename "$file")"
  done
  private() {
    apt-get -q -oDir::Etc::SourceList=/dev/null -oDir::Etc::SourceParts="$parts" \
      -oDir::State::Lists="$lists" -oDir::Cache="$work/cache" -oAPT::Sandbox::User="$(id -un)" "$@"
  }
  mkdir -p "$work/cache/archives/partial"
  private update >"$work/log" 2>&1 &&
    (cd "$work/package" && private source --only-source cjson >>"$work/log" 2>&1) || return 1
  version=$(sed -n 's/^Version: //p' "$work"/package/cjson_*.dsc | head -n 1)
  for folder in "$work"/package/cjson-*/; do
    install_from "${folder%/}" "distribution source package cjson $version" && return 0
  done
  return 1
}

from_upstream() {
  if ! command -v curl >/dev/null; then
    say "curl is needed to fetch cJSON $upstream_version"
    return 1
  fi
  curl -fsSL --retry 3 -o "$work/cjson.tar.gz" "$upstream_url" || return 1
  if ! printf '%s  %s\n' "$upstream_sha256" "$work/cjson.tar.gz" | sha256sum -c - >/dev/null 2>&1; then
    say "cJSON $upstream_version: the archive has not the expected SHA-256; not used"
    return 1
  fi
  mkdir -p "$work/upstream"
  tar -xzf "$work/cjson.tar.gz" -C "$work/upstream" --strip-components=1
  install_from "$work/upstream" "upstream release $upstream_version"
}

if [ -n "${CJSON_DIR:-}" ]; then
  install_from "$CJSON_DIR" "CJSON_DIR"
else
  say "fetching the cJSON sources (reads policies and writes reports in the core)"
  from_apt || from_upstream || {
    say "could not fetch cJSON: download a release of it and run make with CJSON_DIR=<its folder>"
    exit 1
  }
fi
say "cJSON: $(cat "$target/ORIGIN")"
