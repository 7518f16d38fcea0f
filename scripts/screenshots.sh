#!/usr/bin/env bash
# Draws docs/images/*.png: every page of the web app on the demo's study. Needs what scripts/chromium.sh gets.
#   scripts/screenshots.sh [PROGRAM]     the program to show, target/release/reasonscape unless given
set -euo pipefail
cd "$(dirname "$0")/.."

program=$(realpath "${1:-${CARGO_TARGET_DIR:-target}/release/reasonscape}")
[[ -x $program ]] || { echo "error: there is no \`$program\`; \`cargo build --release\` makes it" >&2; exit 1; }
browser=$(bash scripts/chromium.sh)
browser=${browser%%$'\n'*}
work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; rm -rf "$work"' EXIT

"$program" demo --quiet --dir "$work/demo" >/dev/null
"$program" serve "$work/demo" --port 0 --quiet >"$work/address" &
server=$!
for _ in $(seq 100); do [[ -s $work/address ]] && break; sleep 0.1; done
address=$(<"$work/address")
address=${address%/}

# shot NAME PATH [HEIGHT]
shot() {
    "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run --virtual-time-budget=15000 \
        --user-data-dir="$work/profile" --window-size="1280,${3:-860}" --screenshot="$work/$1.png" "$address$2" 2>"$work/log" \
        || { cat "$work/log" >&2; exit 1; }
    mv "$work/$1.png" "docs/images/$1.png"
    echo "docs/images/$1.png"
}

mkdir -p docs/images
trial=$(python3 - "$address" <<'PYTHON'
import json, sys, urllib.request
rows = json.load(urllib.request.urlopen(sys.argv[1] + "/api/v1/trials?eval=truncating&task=arithmetic&status=incorrect&limit=1"))["rows"]
row = rows[0]
print(f"/trials/{row['eval_id']}/{row['base_task']}/{row['point']}/{row['index']}")
PYTHON
)
shot leaderboard /
shot explorer '/explorer?task=arithmetic'
shot compare /compare
shot trials '/trials?status=truncated'
shot trial "$trial"
shot forensics /forensics
shot runs /runs
