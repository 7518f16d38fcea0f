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
processes=()
trap 'kill "${processes[@]}" 2>/dev/null; rm -rf "$work"' EXIT
# wait_for FILE: until it isn't empty.
wait_for() { for _ in $(seq 300); do if [[ -s $1 ]]; then return; fi; sleep 0.1; done; echo "error: \`$1\` stays empty" >&2; exit 1; }

"$program" demo --quiet --dir "$work/demo" >/dev/null
# Accuracy over two parameters needs a grid of points: `quick` has three points per task, `r12` about ninety.
"$program" simulate --port 0 --suite r12 --count 32 --quiet >"$work/simulator" &
processes+=($!)
wait_for "$work/simulator"
mkdir "$work/landscape"
{
    printf 'suite = "r12"\ncount = 32\n'
    for model in strong truncating specialist; do
        printf '[[eval]]\nmodel = "sim-%s"\nname = "%s"\nbase_url = "%s"\n' "$model" "$model" "$(<"$work/simulator")"
    done
} >"$work/landscape/study.toml"
"$program" run "$work/landscape" --task arithmetic --quiet >/dev/null

# serve STUDY FILE: the address of its pages goes into the file.
serve() {
    "$program" serve "$1" --port 0 --quiet >"$2" &
    processes+=($!)
    wait_for "$2"
}
serve "$work/demo" "$work/address"
serve "$work/landscape" "$work/other"
address=$(<"$work/address")
address=${address%/}
other=$(<"$work/other")

# shot NAME ADDRESS [HEIGHT]
shot() {
    "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run --virtual-time-budget=15000 \
        --user-data-dir="$work/profile" --window-size="1400,${3:-860}" --screenshot="$work/$1.png" "$2" 2>"$work/log" \
        || { cat "$work/log" >&2; exit 1; }
    mv "$work/$1.png" "docs/images/$1.png"
    echo "docs/images/$1.png"
}

mkdir -p docs/images
trial=$(python3 - "$address" <<'PYTHON'
import json, sys, urllib.request

def get(path):
    return json.load(urllib.request.urlopen(sys.argv[1] + "/api/v1" + path))

eval_id = next(row["eval_id"] for row in get("/evals") if row["name"] == "truncating")
row = get(f"/trials?eval={eval_id}&task=sequence&status=incorrect&limit=1")["rows"][0]
print(f"/trials/{row['eval_id']}/{row['base_task']}/{row['point']}/{row['index']}")
PYTHON
)
shot leaderboard "$address/"
shot explorer "${other}explorer?task=arithmetic%402" 960
shot compare "$address/compare" 960
shot differ "$address/compare/tests" 700
shot trials "$address/trials?status=truncated"
shot trial "$address$trial"
shot forensics "$address/forensics" 960

# A run from the browser, so that the page of runs has something to show.
curl -sf -o /dev/null -H "Origin: $address" "$address/runs" --data-urlencode source=suite --data-urlencode suite=quick \
    --data-urlencode "models=sim-cheap" --data-urlencode "base_url=$(<"$work/simulator")" --data-urlencode count=8 \
    --data-urlencode provider=openai-chat --data-urlencode template=zero-shot-cot --data-urlencode sampler=greedy-2k
shot plan "$address/runs/quick-1" 700
