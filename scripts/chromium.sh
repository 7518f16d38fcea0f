#!/usr/bin/env bash
# Prints the path of a Chromium, for REASONSCAPE_CHROMIUM, and on a second line that of its driver, for
# REASONSCAPE_CHROMEDRIVER; what it has to say goes to standard error.
#
# Those that are there are taken. Otherwise Debian's packages are installed; whoever may not install anything, or where
# that fails, gets them unpacked beside the build, with the libraries that they need and the machine does not have.
set -euo pipefail
cd "$(dirname "$0")/.."
# Data to standard output, talk to standard error: the paths are all that is printed.
exec 3>&1 1>&2

found() { printf '%s\n%s\n' "$1" "$2" >&3; exit 0; }
# The first of these that is a program.
first() { for name in "$@"; do command -v "$name" && return; done; return 1; }
look() {
    program=$(first "${REASONSCAPE_CHROMIUM:-chromium}" chromium-browser google-chrome) \
        && driver=$(first "${REASONSCAPE_CHROMEDRIVER:-chromedriver}") \
        && found "$program" "$driver"
}

for variable in REASONSCAPE_CHROMIUM REASONSCAPE_CHROMEDRIVER; do
    named=${!variable:-}
    if [[ -n $named ]] && ! command -v "$named" >/dev/null; then
        echo "error: $variable is \`$named\`, which is no program"
        exit 1
    fi
done
look || true

folder=$(realpath -m "${CARGO_TARGET_DIR:-target}")/chromium
if [[ -x $folder/chromium && -x $folder/chromedriver ]]; then found "$folder/chromium" "$folder/chromedriver"; fi

command -v apt-get >/dev/null || {
    echo "error: there is no Chromium with its driver and no apt-get to get them; install both and put them on the path"
    exit 1
}
export DEBIAN_FRONTEND=noninteractive
packages=(chromium chromium-driver)
if [[ $(id -u) == 0 ]]; then
    echo "==> installing ${packages[*]}"
    if apt-get install -qq -y --no-install-recommends "${packages[@]}" \
        || { apt-get update -qq && apt-get install -qq -y --no-install-recommends "${packages[@]}"; }; then
        look
    fi
    echo "they could not be installed"
fi

echo "==> unpacking ${packages[*]} in $folder"
# Lists and packages of our own, so that nobody has to be root.
mkdir -p "$folder"/{lists,cache,packages,root}/partial
apt=(-o "Dir::State::Lists=$folder/lists" -o "Dir::Cache=$folder/cache" -o APT::Sandbox::User=)
apt-get "${apt[@]}" update -qq
# Of what they need, what is not installed; a package that is installed is taken along for its program.
needed=$(apt-get "${apt[@]}" install -qq -s --no-install-recommends -o Debug::NoLocking=true "${packages[@]}" \
    | awk '$1 == "Inst" { print $2 }')
# shellcheck disable=SC2086 # One word a package.
(cd "$folder/packages" && apt-get "${apt[@]}" download -qq $(printf '%s\n' $needed "${packages[@]}" | sort -u))
for package in "$folder"/packages/*.deb; do dpkg-deb -x "$package" "$folder/root"; done
libraries=$(find "$folder/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
wrap() {
    printf '#!/bin/sh\nLD_LIBRARY_PATH="%s" exec "%s" "$@"\n' "$libraries" "$folder/root/usr/$2" >"$folder/$1"
    chmod +x "$folder/$1"
    "$folder/$1" --version
}
wrap chromium lib/chromium/chromium
wrap chromedriver bin/chromedriver
rm -rf "$folder"/{lists,cache,packages}
found "$folder/chromium" "$folder/chromedriver"
