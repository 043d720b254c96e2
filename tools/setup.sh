#!/usr/bin/env bash
# make setup: installs everything between a bare Debian 12 (git, make, python3-venv) and a build. Prints what it
# installs. A second run finds everything and returns at once, without the network.
#
#   tools/setup.sh [--tests] [PEER...]    --tests: also the Debian packages that only tests use; PEER: also makes .venv-PEER,
#                                         out of requirements-PEER.txt
set -eu
cd "$(dirname "$0")/.."

# names of Debian packages; the README describes their use
packages=(
  g++ clang lld libclang-rt-14-dev clang-format     # compilers, sanitisers
  libprotobuf-dev protobuf-compiler                 # model files
  libboost-dev                                      # the exact semantics' multiprecision numbers
  libgtest-dev libgmock-dev librapidcheck-dev       # tests
  libcli11-dev nlohmann-json3-dev libfmt-dev        # the command, reports, text
  libre2-dev libutf8proc-dev                        # operators on strings
  libjpeg62-turbo-dev libpng-dev libtiff-dev        # images
  libwebp-dev libopenjp2-7-dev pkg-config           # images too
  python3-dev python3-venv                          # find_package(Halide) needs the headers
  opencl-c-headers ocl-icd-libopencl1               # devices: the API's headers, and the loader
  pocl-opencl-icd                                   # an OpenCL device on the CPU: tests run on it
  ccache                                            # second builds
  dpkg-dev file                                     # make packages: the libraries that a .deb depends on
  locales                                           # ONNX Runtime's kernels on strings need en_US.UTF-8
)

install_debian_packages() {
  if ! command -v dpkg-query >/dev/null; then
    echo "setup: this is no Debian: have the equivalents of ${packages[*]}"
    return
  fi
  local missing=()
  for package in "${packages[@]}"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ]; then
    echo "setup: Debian packages are missing. Ask for this one command, then come back:" >&2
    echo "  sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 7
  fi
  echo "setup: installing Debian packages: ${missing[*]}"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# Installs a Debian package for tests: `install_for_tests PROGRAM PACKAGE WHAT`. Without it they are skipped, for the
# reason in tests/skips.yaml.
install_for_tests() {
  if command -v "$1" >/dev/null || ! command -v apt-get >/dev/null; then return; fi
  echo "setup: installing the Debian package $2, for $3"
  if [ "$(id -u)" != 0 ] || ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends "$2" >/dev/null; }; then
    echo "setup: $2 could not be installed; $3 are skipped" >&2
  fi
}

# The hashes in requirements*.txt are those of CPython 3.11, the version of Debian 12.
find_python() {
  local candidate
  for candidate in /usr/bin/python3 python3 python3.11; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  echo "setup: CPython 3.11 is needed (Debian 12's python3), and none was found" >&2
  exit 7
}

# environment FOLDER REQUIREMENTS: recreated only if the requirements, the interpreter or its path change.
environment() {
  local folder=$1 requirements=$2 python stamp
  python=$(find_python)
  stamp="$("$python" --version) $PWD $(sha256sum <"$requirements")"
  [ "$(cat "$folder/stamp" 2>/dev/null)" != "$stamp" ] || return 0
  echo "setup: installing into $folder what $requirements pins"
  rm -rf "$folder"
  "$python" -m venv "$folder"
  "$folder/bin/python" -m pip install -q --disable-pip-version-check --require-hashes --only-binary=:all: -r "$requirements"
  echo "$stamp" >"$folder/stamp"
}

# Makes a locale that ONNX Runtime requires by name, in its own environment: the system's list is unchanged.
locale_for_onnxruntime() {
  local folder=.venv-onnxruntime/locale
  [ ! -e $folder/en_US.UTF-8 ] && [ -e /usr/share/i18n/locales/en_US ] || return 0
  mkdir -p $folder
  localedef -i en_US -f UTF-8 "$PWD/$folder/en_US.UTF-8"
}

pinned_suite() {
  [ -e conformance/suites/make.py ] || return 0
  .venv/bin/python -m conformance.suites.make pinned
}

with_tests=no
if [ "${1:-}" = --tests ]; then
  with_tests=yes
  shift
fi
install_debian_packages
if [ $with_tests = yes ]; then
  install_for_tests chromium chromium "tests of pages"
  install_for_tests abidiff abigail-tools "tests of the binary interface"
fi
environment .venv-onnxruntime requirements-onnxruntime.txt & beside=$!
environment .venv requirements.txt
pinned_suite
wait "$beside"
locale_for_onnxruntime
for peer in "$@"; do
  if [ ! -f "requirements-$peer.txt" ]; then
    echo "setup: there is no peer '$peer': no requirements-$peer.txt" >&2
    exit 2
  fi
  environment ".venv-$peer" "requirements-$peer.txt"
done
