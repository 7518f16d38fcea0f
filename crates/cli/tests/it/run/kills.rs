//! `kill -9`.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use reasonscape_cache::{Cache, CacheError};

use super::{RunEnv, sum};
#[cfg(target_os = "linux")]
use crate::test_env::reasonscape;

const KILLS: u64 = 10;
const CONCURRENCY: u64 = 16;
const TRIALS: u64 = 768;
/// So long that a run is killed before it is done, however slow the test is.
const SLOW: &str = "kinds=slow,slow-ms=40";

/// Another run of the study, which is killed if the test fails.
pub(super) struct Victim(Child);

impl Victim {
    pub(super) fn start(env: &RunEnv) -> Self {
        Self::start_with(env, &[])
    }

    fn start_with(env: &RunEnv, variables: &[(&str, &Path)]) -> Self {
        Self::start_command(env, &["run", "--count", "256"], variables)
    }

    fn start_command(env: &RunEnv, arguments: &[&str], variables: &[(&str, &Path)]) -> Self {
        let child = Command::new(assert_cmd::cargo::cargo_bin!("reasonscape"))
            .args(arguments)
            .arg(env.path())
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self(child)
    }

    pub(super) fn is_running(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }

    /// SIGKILL, by its id.
    fn kill(mut self) {
        assert!(self.is_running(), "it was killed too late to prove anything");
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The requests that the cache holds, each with how often the server was asked it.
fn stored(env: &RunEnv) -> HashMap<String, u32> {
    let mut stored = HashMap::new();
    if env.cache().exists() {
        let reader = Cache::open(env.cache()).unwrap().reader().unwrap();
        reader
            .for_each::<CacheError>(|entry| {
                let times = env.server.request_count("/v1/chat/completions", entry.request.as_bytes());
                assert!(times > 0, "what is stored was asked");
                assert!(stored.insert(entry.request, times).is_none(), "a trial is stored once");
                Ok(())
            })
            .unwrap();
    }
    stored
}

#[test]
fn survives_ten_random_kills_without_loss_or_duplicates() {
    let env = RunEnv::with(SLOW, None);
    env.write_study(&["sim-p0.9"], &format!("concurrency = {CONCURRENCY}"));
    // Another one each time; the moments depend on the machine as well.
    let seed = match std::env::var("REASONSCAPE_TEST_SEED") {
        Ok(seed) => seed.parse().unwrap(),
        Err(_) => SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64,
    };
    println!("seed {seed}; set REASONSCAPE_TEST_SEED to have it again");
    let mut random = seed;
    let mut moment = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };

    let mut before: HashMap<String, u32> = HashMap::new();
    for kill in 1..=KILLS {
        let asked = env.server.stats().requests;
        let mut victim = Victim::start(&env);
        // One in five is killed while it starts, the others after so many requests and a little more.
        let until = if moment(5) == 0 { asked } else { asked + 1 + moment(50) };
        let began = Instant::now();
        while env.server.stats().requests < until && victim.is_running() {
            assert!(began.elapsed() < Duration::from_mins(1), "a run does not get on");
            std::thread::sleep(Duration::from_micros(200));
        }
        std::thread::sleep(Duration::from_micros(moment(40_000)));
        victim.kill();
        let after = stored(&env);
        for (request, times) in &before {
            assert_eq!(after.get(request), Some(times), "kill {kill}: lost or sent again: {request}");
        }
        let stats = env.server.stats();
        println!("kill {kill}: {} requests, {} stored", stats.requests - asked, after.len() - before.len());
        before = after;
    }
    let lost = env.server.stats().requests - before.len() as u64;
    assert!(!before.is_empty() && (before.len() as u64) < TRIALS, "{}", before.len());

    let rest = env.run_to_end(&["--count", "256"]);
    assert_eq!((sum(&rest, "planned"), sum(&rest, "cached")), (TRIALS, before.len() as u64));
    assert_eq!((sum(&rest, "missing"), sum(&rest, "sent")), (0, TRIALS - before.len() as u64));
    let after = stored(&env);
    assert_eq!(after.len() as u64, TRIALS, "every trial is there, once");
    for (request, times) in &before {
        assert_eq!(after.get(request), Some(times), "lost or sent again: {request}");
    }
    env.assert_cache_is_sound(TRIALS);

    // What was asked and is not there was on the wire when its run was killed, or on its way to the disk.
    let stats = env.server.stats();
    println!("{} requests for {TRIALS} trials; {lost} were lost in {KILLS} kills", stats.requests);
    assert_eq!((stats.requests, stats.unknown_questions), (TRIALS + lost, 0));
    assert!(lost <= KILLS * 2 * CONCURRENCY, "{lost}");
}

/// Makes every sync of a file take 50 ms, as on a busy network disk.
#[cfg(target_os = "linux")]
const SLOW_SYNC: &str = r"
int fsync(int file) { usleep(50000); return syscall(SYS_fsync, file); }
int fdatasync(int file) { usleep(50000); return syscall(SYS_fdatasync, file); }
";

/// Makes every write of a page take 5 ms, so that responses arrive faster than they are committed.
#[cfg(target_os = "linux")]
const SLOW_WRITE: &str = r"
static void wait_for(size_t size) { if (size >= 4096) usleep(5000); }
ssize_t write(int file, const void *from, size_t size) {
    wait_for(size);
    return syscall(SYS_write, file, from, size);
}
ssize_t pwrite(int file, const void *from, size_t size, off_t at) {
    wait_for(size);
    return syscall(SYS_pwrite64, file, from, size, at);
}
ssize_t pwrite64(int file, const void *from, size_t size, off_t at) { return pwrite(file, from, size, at); }
";

/// Compiles functions that take the place of those of the C library.
#[cfg(target_os = "linux")]
fn preloaded(env: &RunEnv, functions: &str) -> std::path::PathBuf {
    let (source, library) = (env.path().join("slow.c"), env.path().join("slow.so"));
    let head = "#define _GNU_SOURCE\n#include <sys/syscall.h>\n#include <sys/types.h>\n#include <unistd.h>\n\
                #include <stdio.h>\n#include <string.h>\n";
    std::fs::write(&source, format!("{head}{functions}")).unwrap();
    let compiled =
        Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status().unwrap();
    assert!(compiled.success());
    library
}

#[test]
#[cfg(target_os = "linux")]
fn kill_with_a_slow_disk_loses_at_most_what_was_in_flight() {
    const IN_FLIGHT: u64 = 8;
    let env = RunEnv::new();
    env.write_study(&["sim-p0.9"], &format!("concurrency = {IN_FLIGHT}"));
    let library = preloaded(&env, SLOW_SYNC);
    assert_losses_are_bounded(&env, &library, IN_FLIGHT);
}

#[test]
#[cfg(target_os = "linux")]
fn kill_of_many_evaluations_of_one_endpoint_loses_at_most_what_was_in_flight() {
    const IN_FLIGHT: u64 = 8;
    let env = RunEnv::new();
    let models = ["sim-p0.9", "sim-p0.8", "sim-p0.7", "sim-p0.6", "sim-p0.5", "sim-p0.4"];
    env.write_study(&models, &format!("concurrency = {IN_FLIGHT}"));
    let library = preloaded(&env, SLOW_WRITE);
    assert_losses_are_bounded(&env, &library, IN_FLIGHT);
}

/// Makes every sync of a write-ahead log take half a second, and reports its end.
#[cfg(target_os = "linux")]
const REPORTED_SYNC: &str = r#"
int fdatasync(int file) {
    char link[64], target[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, target, sizeof target);
    int is_log = length > 4 && memcmp(target + length - 4, "-wal", 4) == 0;
    if (is_log) usleep(500000);
    int done = syscall(SYS_fdatasync, file);
    if (is_log) syscall(SYS_write, 2, "\nSYNCED\n", 8);
    return done;
}
"#;

#[test]
#[cfg(target_os = "linux")]
fn a_response_counts_only_after_its_sync() {
    let env = RunEnv::new();
    env.write_study(&["sim-p0.9"], "concurrency = 4");
    let library = preloaded(&env, REPORTED_SYNC);
    let output = Command::new(assert_cmd::cargo::cargo_bin!("reasonscape"))
        .args(["run", "--log", "trace", "--no-evaluate"])
        .arg(env.path())
        .env("LD_PRELOAD", &library)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    let (mut sent, mut synced, mut stored) = (0, 0, 0);
    for line in said.lines() {
        if line.contains(": sending host=") {
            sent += 1;
        } else if line == "SYNCED" && sent > 0 {
            synced += 1;
        } else if line.contains(": stored trial=") {
            assert!(synced > 0, "a response counts before the first sync after its request:\n{said}");
            stored += 1;
        }
    }
    assert_eq!((sent, stored), (24, 24), "{said}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_killed_evaluation_is_found_and_completed() {
    let env = RunEnv::new();
    env.run_to_end(&[]);
    let scores = || {
        let run = reasonscape(&["analyze", "scores", env.path().to_str().unwrap(), "--format", "csv"]);
        assert_eq!(run.code, 0, "{run:?}");
        run
    };
    let before = scores();
    assert_eq!(env.run(&["--no-evaluate", "--count", "32", "--quiet"]).code, 0);
    let library = preloaded(&env, SLOW_SYNC);
    let is_publishing = || {
        let text = std::fs::read_to_string(env.path().join("manifest.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
        !manifest["pending"].as_array().unwrap().is_empty()
    };
    let mut victim = Victim::start_command(&env, &["evaluate"], &[("LD_PRELOAD", &library)]);
    while victim.is_running() && !is_publishing() {
        std::thread::sleep(Duration::from_millis(1));
    }
    victim.kill();
    assert!(is_publishing(), "it was killed while it replaced files");

    let interrupted = scores();
    assert_eq!(interrupted.stdout, before.stdout, "the results are those from before");
    assert!(interrupted.stderr.contains("`evaluate` was interrupted"), "{interrupted:?}");
    let verified = env.command("verify", &[]);
    assert_eq!(verified.code, 1, "{verified:?}");
    assert!(verified.stderr.contains("`evaluate` was interrupted"), "{verified:?}");
    assert!(verified.stderr.contains("completes it"), "{verified:?}");
    assert_eq!(env.command("evaluate", &[]).code, 0);
    assert_eq!(env.command("verify", &[]).code, 0);
    let after = scores();
    assert_ne!(after.stdout, before.stdout);
    assert!(!after.stderr.contains("interrupted"), "{after:?}");
}

/// Kills a run five times, and asserts that it lost at most the requests in flight, and as many responses that were just being
/// committed.
#[cfg(target_os = "linux")]
fn assert_losses_are_bounded(env: &RunEnv, library: &Path, in_flight: u64) {
    for kill in 1..=5 {
        let (sent_before, stored_before) = (env.server.stats().requests, stored(env).len() as u64);
        let mut victim = Victim::start_with(env, &[("LD_PRELOAD", library)]);
        let began = Instant::now();
        while env.server.stats().requests < sent_before + 100 && victim.is_running() {
            assert!(began.elapsed() < Duration::from_mins(1), "the run makes no progress");
            std::thread::sleep(Duration::from_micros(100));
        }
        victim.kill();
        let sent = env.server.stats().requests - sent_before;
        let lost = sent - (stored(env).len() as u64 - stored_before);
        println!("kill {kill}: {sent} requests, {lost} lost");
        assert!(lost <= 2 * in_flight, "kill {kill}: {lost} of {sent} responses were lost");
    }
}
