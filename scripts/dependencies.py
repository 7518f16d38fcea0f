#!/usr/bin/env python3
"""Compares the dependencies of the crates with `crates/dependencies.toml`; exit code 1 where they differ.

    python3 scripts/dependencies.py
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = tomllib.loads((ROOT / "crates" / "dependencies.toml").read_text())


def cargo(*arguments):
    return subprocess.run(["cargo", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def main():
    problems = []
    packages = json.loads(cargo("metadata", "--format-version", "1", "--locked"))["packages"]
    crates = {Path(p["manifest_path"]).parent.name: p for p in packages
              if Path(p["manifest_path"]).parent.parent == ROOT / "crates"}
    folder_of = {p["name"]: folder for folder, p in crates.items()}
    allowed = TABLE["workspace-dependencies"]
    for missing in sorted(allowed.keys() ^ crates.keys()):
        problems.append(f"crate `{missing}` is only in {'the table' if missing in allowed else 'the workspace'}")
    above = set()
    for crate, expected in allowed.items():
        if not set(expected) <= above:
            problems.append(f"`{crate}` names crates that aren't above it: {sorted(set(expected) - above)}")
        above.add(crate)
        normal = {d["name"] for d in crates.get(crate, {"dependencies": []})["dependencies"] if d["kind"] != "dev"}
        found = {folder_of[name] for name in normal & folder_of.keys()}
        for name in sorted(found - set(expected)):
            problems.append(f"`{crate}` depends on `{name}`, which the table doesn't allow")
        for name in sorted(set(expected) - found):
            problems.append(f"`{crate}` doesn't depend on `{name}`, as the table says; remove it there")
        for name, users in TABLE["only"].items():
            if name in normal and crate not in users:
                problems.append(f"`{crate}` depends on `{name}`, which only {users} may")
    for crate, forbidden in TABLE["forbidden"].items():
        if crate in crates:
            tree = cargo("tree", "--locked", "-e", "normal", "--prefix", "none", "-f", "{p}", "-p", crates[crate]["name"])
            names = {line.split()[0] for line in tree.splitlines() if line.strip()}
            for name in sorted(names & set(forbidden)):
                problems.append(f"`{crate}` reaches `{name}`; `cargo tree -p {crates[crate]['name']} -i {name}` shows how")
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    print(f"{len(crates)} crates compared with crates/dependencies.toml, {len(problems)} differences")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
