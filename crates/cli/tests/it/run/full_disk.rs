//! Commands on a disk without a free byte: a tmpfs of their own.

use super::RunEnv;
use super::unusable_paths::shell_with_mounts;
use crate::test_env::Run;

/// Runs a script where `$STUDY/disk` can be mounted; `None` without the right to.
fn with_disk(env: &RunEnv, size: &str, script: &str) -> Option<Run> {
    std::fs::create_dir(env.path().join("disk")).unwrap();
    let prelude = r#"
        cd "$STUDY" || exit 99
        mount -t tmpfs -o size=$SIZE tmpfs disk 2>/dev/null || exit 99
        fill() {
            dd if=/dev/zero of=disk/filler bs=64k 2>/dev/null
            dd if=/dev/zero of=disk/filler2 bs=1 count=8192 2>/dev/null
            [ "$(df --output=avail disk | tail -1)" -eq 0 ] || exit 97
        }
    "#;
    shell_with_mounts(env, &format!("SIZE={size}\n{prelude}\n{script}"))
}

/// Commands that only read a study, by the name of their output.
const READING: &str = r#"
read_all() {
    "$RUN" export disk >$1.export.out 2>$1.export.err; echo "export $?"
    "$RUN" verify disk >$1.verify.out 2>$1.verify.err; echo "verify $?"
    "$RUN" cache stats disk >$1.stats.out 2>$1.stats.err; echo "stats $?"
    "$RUN" plan disk >$1.plan.out 2>$1.plan.err; echo "plan $?"
    "$RUN" cache verify disk >$1.cache-verify.out 2>$1.cache-verify.err; echo "cache verify $?"
    "$RUN" cache export disk >$1.cache-export.out 2>$1.cache-export.err; echo "cache export $?"
    "$RUN" analyze scores disk >$1.scores.out 2>$1.scores.err; echo "scores $?"
    "$RUN" sql disk "SELECT count(*) FROM trials" >$1.sql.out 2>$1.sql.err; echo "sql $?"
    "$RUN" report disk -o $1.report.md >$1.report.out 2>$1.report.err; echo "report $?"
}
compare_all() {
    for name in export verify stats plan cache-verify cache-export scores sql; do
        cmp before.$name.out after.$name.out && echo "$name same"
        cat after.$name.err
    done
}
"#;
const READ: [&str; 9] =
    ["export", "verify", "stats", "plan", "cache verify", "cache export", "scores", "sql", "report"];

/// Asserts that every command worked before and after, with the same output.
fn assert_read(run: &Run) {
    for name in READ {
        let times = run.stdout.lines().filter(|line| *line == format!("{name} 0")).count();
        assert_eq!(times, 2, "{name}: {}", run.stdout);
    }
    assert_eq!(run.stdout.lines().filter(|line| line.ends_with(" same")).count(), 8, "{}", run.stdout);
    assert!(!run.stdout.contains("error:"), "{}", run.stdout);
}

#[test]
fn reading_commands_work_on_a_full_disk() {
    let env = RunEnv::new();
    let script = format!(
        r#"{READING}
        cp study.toml small.toml disk
        "$RUN" run disk --quiet >/dev/null || exit 96
        read_all before
        fill
        read_all after
        compare_all
        exit 0
        "#
    );
    let Some(run) = with_disk(&env, "4m", &script) else { return };
    assert_read(&run);
}

#[test]
fn reading_commands_work_on_a_full_disk_after_a_kill() {
    let env = RunEnv::with("kinds=slow,slow-ms=50", None);
    env.write_study(&["sim-p0.9", "sim-cheap"], "concurrency = 2");
    // The killed run leaves a write-ahead log with responses that are in no other file.
    let script = format!(
        r#"{READING}
        cp study.toml small.toml disk
        "$RUN" run disk --quiet >/dev/null || exit 96
        "$RUN" run disk --count 64 >/dev/null 2>&1 & run=$!
        while [ ! -s disk/cache.sqlite-wal ]; do sleep 0.01; done
        sleep 0.5
        kill -9 $run
        wait $run 2>/dev/null
        [ -s disk/cache.sqlite-wal ] || exit 95
        mkdir copy; cp -r disk/* copy
        read_all before
        rm -rf disk/*; cp -r copy/* disk
        [ -s disk/cache.sqlite-wal ] || exit 94
        fill
        read_all after
        compare_all
        exit 0
        "#
    );
    let Some(run) = with_disk(&env, "8m", &script) else { return };
    assert_read(&run);
}

#[test]
fn demo_on_a_full_disk_can_be_run_again() {
    let env = RunEnv::new();
    // The sizes end while the study is written, the cache is created, responses are stored, and trials are written.
    let script = r#"
        for size in 4k 16k 64k 400k 2m; do
            mount -o remount,size=$size disk || exit 98
            "$RUN" demo --dir disk/demo >out 2>err; echo "demo at $size: $?"
            grep -c '^error: ' err; grep '^error: ' err
            [ ! -e disk/demo/study.toml ] || [ -s disk/demo/study.toml ] || echo "an empty study"
            [ ! -s disk/demo/study.toml ] || "$RUN" plan disk/demo --quiet >/dev/null || echo "no plan at $size"
        done
        mount -o remount,size=100m disk || exit 98
        "$RUN" demo --dir disk/demo >out 2>err; echo "demo at last: $?"
        grep "answered from the cache" err
        "$RUN" verify disk/demo --quiet >/dev/null; echo "verify $?"
        exit 0
    "#;
    let Some(run) = with_disk(&env, "4k", script) else { return };
    let said: Vec<&str> = run.stdout.lines().collect();
    for size in ["4k", "16k", "64k", "400k", "2m"] {
        let at = said.iter().position(|line| line.starts_with(&format!("demo at {size}: "))).unwrap();
        assert_ne!(said[at], format!("demo at {size}: 0"), "the disk is too large: {}", run.stdout);
        assert_eq!(said[at + 1], "1", "{}", run.stdout);
        let is_named = ["no space left on", "check the quota, the limits, the free space"]
            .map(|part| said[at + 2].contains(part));
        assert!(is_named.contains(&true), "{}", run.stdout);
    }
    assert!(!run.stdout.contains("an empty study") && !run.stdout.contains("no plan"), "{}", run.stdout);
    assert!(said.contains(&"demo at last: 0") && said.contains(&"verify 0"), "{}", run.stdout);
}
