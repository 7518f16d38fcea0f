//! Places that a run cannot use: one line that says what to do, no panic, and nothing in the way of the next run.

use std::fs;
use std::process::Command;

use super::RunEnv;
use crate::test_env::{Run, assert_rejected, reasonscape};

#[test]
fn rejects_missing_or_invalid_study() {
    let env = RunEnv::new();
    let study = |path: &std::path::Path| reasonscape(&["run", path.to_str().unwrap()]);
    assert_rejected(&study(&env.path().join("nowhere")), &["nowhere` not found", "reasonscape init"]);
    fs::create_dir(env.path().join("empty")).unwrap();
    assert_rejected(&study(&env.path().join("empty")), &["empty/study.toml` not found", "reasonscape init"]);

    let file = env.path().join("study.toml");
    let good = fs::read_to_string(&file).unwrap();
    fs::write(&file, good.replacen("base_url", "base_ulr", 1)).unwrap();
    assert_rejected(
        &env.run(&[]),
        &["study.toml`: line 4: unknown key `base_ulr` (did you mean `base_url`?)"],
    );
    fs::write(&file, good.replacen("[[eval]]", "[[eval]", 1)).unwrap();
    assert_rejected(&env.run(&[]), &["study.toml`: line 2: "]);
    fs::write(&file, good.replacen("small.toml", "large.toml", 1)).unwrap();
    assert_rejected(&env.run(&[]), &["large.toml"]);
    fs::write(&file, [0xff, 0xfe]).unwrap();
    assert_rejected(&env.run(&[]), &["study.toml`"]);
    assert!(!env.cache().exists());

    fs::write(&file, good).unwrap();
    assert_eq!(study(&file).code, 0, "the file stands for its folder");
}

#[test]
fn rejects_files_that_are_no_cache() {
    let env = RunEnv::new();
    fs::create_dir(env.cache()).unwrap();
    assert_rejected(&env.run(&[]), &["cache.sqlite` is not a regular file", "move it away"]);
    assert_rejected(&env.plan(&[]), &["cache.sqlite` is not a regular file", "move it away"]);
    fs::remove_dir(env.cache()).unwrap();

    fs::write(env.cache(), "three little pigs ".repeat(500)).unwrap();
    assert_rejected(&env.run(&[]), &["cache.sqlite` is not a cache", "move it away"]);
    assert_rejected(&env.plan(&[]), &["cache.sqlite` is not a cache", "move it away"]);
    fs::remove_file(env.cache()).unwrap();

    env.run_to_end(&[]);
    let mut bytes = fs::read(env.cache()).unwrap();
    bytes[4096..].fill(0x5a);
    fs::write(env.cache(), &bytes).unwrap();
    assert_rejected(&env.run(&[]), &["cache.sqlite` is damaged", "restore it from a backup"]);
    assert_rejected(&env.plan(&[]), &["cache.sqlite` is damaged", "restore it from a backup"]);
    assert_eq!(fs::read(env.cache()).unwrap(), bytes, "what might be saved is left alone");

    bytes.truncate(5000);
    fs::write(env.cache(), &bytes).unwrap();
    assert_rejected(&env.run(&[]), &["cache.sqlite`"]);
    fs::remove_file(env.cache()).unwrap();
    env.run_to_end(&["--resend"]);
    env.assert_cache_is_sound(48);
}

/// Runs a script of the shell in which `$RUN` runs the study `$STUDY`.
#[cfg(unix)]
pub(super) fn shell(env: &RunEnv, script: &str) -> Run {
    let output = Command::new("sh")
        .args(["-c", script])
        .env("RUN", assert_cmd::cargo::cargo_bin!("reasonscape"))
        .env("STUDY", env.path())
        .output()
        .unwrap();
    let run = Run {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    };
    assert!(!run.stderr.contains("panicked"), "{run:?}");
    run
}

/// Runs a script that may mount file systems, which end with it. It exits with 99 where it can't; `None` then.
#[cfg(target_os = "linux")]
pub(super) fn shell_with_mounts(env: &RunEnv, script: &str) -> Option<Run> {
    let path = env.path().join("script.sh");
    fs::write(&path, script).unwrap();
    let run = shell(env, &format!("exec unshare --map-root-user --mount sh '{}' 2>&1", path.display()));
    if matches!(run.code, 99 | 1 | 127) {
        reasonscape_test_support::skip("no right to mount a file system in a namespace of one's own");
        return None;
    }
    assert_eq!(run.code, 0, "{run:?}");
    Some(run)
}

/// Asserts a failure that is nobody's mistake: exit code 1, nothing on standard output, one line that says this.
#[cfg(unix)]
fn fails(run: &Run, says: &[&str]) {
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    assert!(says.iter().all(|words| run.stderr.contains(words)), "{run:?}");
}

#[cfg(unix)]
#[test]
fn resumes_after_file_size_limit() {
    let env = RunEnv::new();
    // The signal of this limit would end the program; without it a write is refused as by a quota.
    let run = shell(&env, "trap '' XFSZ; ulimit -f 80; exec \"$RUN\" run \"$STUDY\" --count 64");
    fails(&run, &["error: cache `", "could not be written; check the quota", "stored responses are kept"]);
    env.run_to_end(&["--count", "64"]);
    env.assert_cache_is_sound(384);
}

#[cfg(target_os = "linux")]
#[test]
fn resumes_after_disk_full() {
    let env = RunEnv::new();
    fs::create_dir(env.path().join("disk")).unwrap();
    let script = r#"
        cd "$STUDY" || exit 99
        mount -t tmpfs -o size=200k tmpfs disk 2>/dev/null || exit 99
        cp study.toml small.toml disk
        "$RUN" run disk --count 64 2>errors; echo "first $?"; cat errors
        "$RUN" cache verify disk --format csv 2>/dev/null | tail -1
        mount -o remount,size=20m disk || exit 98
        "$RUN" run disk --count 64 --quiet >/dev/null; echo "second $?"
        "$RUN" cache verify disk --format csv
        exit 0
    "#;
    let Some(run) = shell_with_mounts(&env, script) else { return };
    let said: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(said[0], "first 1", "{run:?}");
    assert!(said[1].starts_with("error: no space left on the disk for cache `disk/cache.sqlite`"), "{run:?}");
    // Every response that could not be stored is named, and no other.
    let (_, unstored) = said[1].split_once("; responses received and not stored: ").expect(said[1]);
    let (number, names) = unstored.split_once(" (").expect(unstored);
    let named = names.matches(" #").count() as u64;
    assert_eq!(number, named.to_string(), "{unstored}");
    let (first_stored, _) = said[2].split_once(",0,").expect(said[2]);
    let sent_again = env.server.stats().answered - 384;
    assert_eq!(named, sent_again, "{unstored}");
    // At most the 64 requests in flight, and as many responses that were being committed.
    assert!((1..=128).contains(&sent_again) && first_stored.parse::<u64>().unwrap() > 0, "{run:?}");
    assert!(said.contains(&"second 0"), "{run:?}");
    assert!(said.last().unwrap().starts_with("384,0,"), "{run:?}");
    assert_eq!(env.server.stats().answered, env.server.stats().requests);
}

#[cfg(target_os = "linux")]
#[test]
fn stores_what_is_in_flight_when_a_full_disk_has_space_again() {
    let env = RunEnv::with("kinds=slow,slow-ms=20", None);
    fs::create_dir(env.path().join("disk")).unwrap();
    // Space is freed as soon as the disk is full, while the run holds responses that it could not store.
    let script = r#"
        cd "$STUDY" || exit 99
        mount -t tmpfs -o size=200k tmpfs disk 2>/dev/null || exit 99
        cp study.toml small.toml disk
        "$RUN" run disk --count 64 >/dev/null 2>errors & run=$!
        while kill -0 $run 2>/dev/null && [ $(df --output=avail disk | tail -1) -gt 8 ]; do sleep 0.05; done
        sleep 1
        mount -o remount,size=20m disk || exit 98
        wait $run; echo "run $?"
        cat errors
        "$RUN" cache verify disk --format csv
        exit 0
    "#;
    let Some(run) = shell_with_mounts(&env, script) else { return };
    assert!(run.stdout.contains("run 1\nerror: no space left on the disk"), "{run:?}");
    assert!(run.stdout.contains("every response received was stored"), "{run:?}");
    let stored = format!("{},0,", env.server.stats().answered);
    assert!(run.stdout.lines().last().unwrap().starts_with(&stored), "{stored} {run:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn rejects_study_on_read_only_disk() {
    let env = RunEnv::new();
    env.run_to_end(&["--task", "sort"]);
    let script = r#"
        mount --bind "$STUDY" "$STUDY" 2>/dev/null && mount -o remount,ro,bind "$STUDY" 2>/dev/null || exit 99
        "$RUN" run "$STUDY"; echo "run $?"
        "$RUN" plan "$STUDY" --format csv --quiet; echo "plan $?"
    "#;
    let Some(run) = shell_with_mounts(&env, script) else { return };
    let said: Vec<&str> = run.stdout.lines().collect();
    assert!(said[0].starts_with("error: cache `"), "{run:?}");
    assert!(said[0].contains("check your read and write permissions for it"), "{run:?}");
    assert_eq!(said[1], "run 1", "{run:?}");
    assert!(said[3].contains("sim-p0.9,3,24,8,16,") && said[5] == "plan 0", "{run:?}");
}
