#!/usr/bin/env bash
# Prints the path of a Chromium, for REASONSCAPE_CHROMIUM; what it has to say goes to standard error.
#
# One that is there is taken. Otherwise Debian's package is installed; whoever may not install anything, or where that
# fails, gets it unpacked beside the build, with the libraries that it needs and the machine does not have.
set -euo pipefail
cd "$(dirname "$0")/.."
# Data to standard output, talk to standard error: the path is all that is printed.
exec 3>&1 1>&2

found() { printf '%s\n' "$1" >&3; exit 0; }

if [[ -n ${REASONSCAPE_CHROMIUM:-} ]]; then
    command -v "$REASONSCAPE_CHROMIUM" >/dev/null \
        || { echo "error: REASONSCAPE_CHROMIUM is \`$REASONSCAPE_CHROMIUM\`, which is no program" >&2; exit 1; }
    found "$REASONSCAPE_CHROMIUM"
fi
for name in chromium chromium-browser google-chrome; do
    if program=$(command -v "$name"); then found "$program"; fi
done

folder=$(realpath -m "${CARGO_TARGET_DIR:-target}")/chromium
program=$folder/chromium
if [[ -x $program ]]; then found "$program"; fi

command -v apt-get >/dev/null \
    || { echo "error: there is no Chromium and no apt-get to get one; install Chromium and put it on the path" >&2; exit 1; }
export DEBIAN_FRONTEND=noninteractive
if [[ $(id -u) == 0 ]]; then
    echo "==> installing Chromium"
    if { apt-get install -qq -y --no-install-recommends chromium \
            || { apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium; }; } \
        && installed=$(command -v chromium); then
        found "$installed"
    fi
    echo "it could not be installed"
fi

echo "==> unpacking Chromium in $folder"
# Lists and packages of our own, so that nobody has to be root.
mkdir -p "$folder"/{lists,cache,packages,root}/partial
apt=(-o "Dir::State::Lists=$folder/lists" -o "Dir::Cache=$folder/cache" -o APT::Sandbox::User=)
apt-get "${apt[@]}" update -qq
# Of what Chromium needs, what is not installed.
needed=$(apt-get "${apt[@]}" install -qq -s --no-install-recommends -o Debug::NoLocking=true chromium \
    | awk '$1 == "Inst" { print $2 }')
# shellcheck disable=SC2086 # One word a package.
(cd "$folder/packages" && apt-get "${apt[@]}" download -qq $needed)
for package in "$folder"/packages/*.deb; do dpkg-deb -x "$package" "$folder/root"; done
libraries=$(find "$folder/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
cat >"$program" <<WRAPPER
#!/bin/sh
LD_LIBRARY_PATH="$libraries" exec "$folder/root/usr/lib/chromium/chromium" "\$@"
WRAPPER
chmod +x "$program"
rm -rf "$folder"/{lists,cache,packages}
"$program" --version
found "$program"
