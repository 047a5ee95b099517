#!/bin/sh
# Installs what is missing for `build` (compile the core), `test` (the same, and a browser) or `fuzz`.
# Prints one line for each thing it installs and nothing when all is there.
set -eu

missing=
wanted=
playwright=
have() { command -v "$1" >/dev/null 2>&1; }
say() { printf 'tamp: %s\n' "$*" >&2; }

# need PACKAGE WHY: remembers a package to be installed.
need() {
  missing="$missing $1"
  say "$1 is missing: $2"
}

# want PACKAGE WHY: the same, but without it some tests are skipped and the rest runs.
want() {
  wanted="$wanted $1"
  say "$1 is missing: $2"
}

have node || { say "Node 20 or newer is needed and not on the PATH: https://nodejs.org"; exit 1; }
node -e 'process.exit(parseInt(process.versions.node, 10) >= 20 ? 0 : 1)' ||
  { say "Node 20 or newer is needed; this is $(node --version)"; exit 1; }
have "${CC:-cc}" || { say "a C compiler is needed and \`${CC:-cc}\` is not on the PATH: install gcc or clang"; exit 1; }

have "${EMCC:-emcc}" || need emscripten "compiles the C core to WebAssembly"
if [ -z "${CJSON_DIR:-}" ] && [ ! -f build/cjson/cJSON.c ] && have apt-get; then
  have dpkg-source && have patch || need dpkg-dev "unpacks the cJSON sources with the distribution's patches"
fi

if [ "$1" = test ]; then
  have valgrind || need valgrind "counts the instructions of the hot paths"
  if ! node tools/chromium.js >/dev/null; then
    # Ubuntu has it as a snap only, which neither a container nor an empty profile gets on with.
    case $(LC_ALL=C apt-cache policy chromium 2>/dev/null | sed -n 's/^ *Candidate: //p') in
      '' | '(none)' | *snap*) playwright=yes ;;
      *) need chromium "runs the browser tests" ;;
    esac
  fi
fi

# Debian has it; Ubuntu has Firefox as a snap only, and there its tests are skipped.
if [ "$1" = test ] && ! node tools/firefox.js >/dev/null; then
  case $(LC_ALL=C apt-cache policy firefox-esr 2>/dev/null | sed -n 's/^ *Candidate: //p') in
    '' | '(none)' | *snap*) ;;
    *) want firefox-esr "runs the tests in Firefox" ;;
  esac
fi

if [ "$1" = fuzz ]; then
  probe=$(mktemp -d)
  trap 'rm -rf "$probe"' EXIT
  printf '#include <stddef.h>\nint LLVMFuzzerTestOneInput(const unsigned char *d, size_t n) { (void)d; (void)n; return 0; }\n' > "$probe/fuzz.c"
  clang=$(tools/clang.sh || true)
  if [ -z "$clang" ]; then
    need clang "builds the fuzzers"
    need libclang-rt-dev "holds libFuzzer and the sanitizers"
  elif ! "$clang" -fsanitize=fuzzer,address "$probe/fuzz.c" -o "$probe/fuzz" 2>/dev/null; then
    need "libclang-rt-$("$clang" -dumpversion | cut -d. -f1)-dev" "holds libFuzzer and the sanitizers"
  fi
fi

# fetch_chromium: where no package has it, Playwright's own build and the libraries that it needs.
fetch_chromium() {
  say "Chromium is missing and no package has it: fetching Playwright's build (runs the browser tests)"
  node tools/modules.js
  node_modules/.bin/playwright-core install --with-deps chromium >&2 || {
    say "could not fetch it: install Chromium or Chrome yourself and name it in CHROMIUM=<path>"
    exit 1
  }
}

if [ -z "$missing$wanted" ]; then
  [ -z "$playwright" ] || fetch_chromium
  exit 0
fi

# cannot WHY DO: an end where something is needed; where it is only wanted, a line.
cannot() {
  if [ -z "$missing" ]; then
    say "$1: going on without$wanted, its tests are skipped"
    [ -z "$playwright" ] || fetch_chromium
    exit 0
  fi
  say "$1: $2"
  exit 1
}

have apt-get || cannot "this machine has no apt" "install$missing yourself and run make again"
if [ "$(id -u)" = 0 ]; then
  root=env
elif have sudo && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
  root='sudo env'
else
  cannot "this needs root" "run \`apt-get install --no-install-recommends$missing\` as root and make again"
fi

say "installing$missing$wanted with apt"
mkdir -p build
log=build/apt.log
apt() { $root DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0 "$@" >>"$log" 2>&1; }
: > "$log"
# shellcheck disable=SC2086 # a list of names
if ! { apt update && { [ -z "$missing" ] || apt install -y --no-install-recommends $missing; }; }; then
  tail -n 20 "$log" >&2
  cannot "apt could not install$missing (whole log: $log)" "install them yourself and run make again"
fi
# shellcheck disable=SC2086 # a list of names
[ -z "$wanted" ] || apt install -y --no-install-recommends $wanted ||
  say "apt could not install$wanted (whole log: $log): going on without, its tests are skipped"
[ -z "$playwright" ] || fetch_chromium
