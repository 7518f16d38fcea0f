//! A second process for tests of the cache: this same test binary, started to run only the ignored test `child_process`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use reasonscape_cache::{Cache, Claim};

use super::{entry, ids};

const ROLE: &str = "REASONSCAPE_TEST_PART";
const CACHE: &str = "REASONSCAPE_TEST_CACHE";

/// What a second process does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ChildRole {
    /// Claims entries 0 to 999 and stores those it is granted; prints their numbers.
    ClaimAll,
    /// Claims entries 0 to 4, prints the result, and waits to be killed.
    Hold,
    /// Stores entries from 0 on without end, and prints each number when it is durable.
    StoreForever,
    /// Opens the cache and prints the result.
    Open,
}

/// A child process with a role.
pub(crate) fn command(role: ChildRole, cache: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["cache::child::child_process", "--exact", "--ignored", "--nocapture"])
        .env(ROLE, format!("{role:?}"))
        .env(CACHE, cache)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    command
}

/// The lines that it prints.
pub(crate) fn stdout_lines(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.map_while(Result::ok).filter_map(|line| Some(line.split_once("child: ")?.1.to_owned()))
}

fn print_line(words: impl std::fmt::Display) {
    println!("\nchild: {words}");
}

#[tokio::test]
#[ignore = "played by other tests in a process of its own"]
async fn child_process() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let path = std::env::var_os(CACHE).unwrap();
    match role.as_str() {
        "ClaimAll" => claim_all(&Cache::open(path).unwrap()).await,
        "Hold" => {
            let writer = Cache::open(path).unwrap().writer().unwrap();
            print_line(format!("{:?}", writer.claim(ids(0..5)).await.unwrap()));
            std::thread::park();
        }
        "StoreForever" => {
            let writer = Cache::open(path).unwrap().writer().unwrap();
            for number in 0.. {
                writer.claim(ids(number..number + 1)).await.unwrap();
                writer.store(entry(number)).await.unwrap();
                print_line(number);
            }
        }
        "Open" => {
            let opened = |cache: Result<Cache, _>| match cache {
                Ok(cache) => format!("opened with {} entries", cache.reader().unwrap().count().unwrap()),
                Err(error) => format!("{error}"),
            };
            print_line(format!("write: {}", opened(Cache::open(&path))));
            print_line(format!("read: {}", opened(Cache::open_read_only(&path))));
        }
        other => panic!("no part called `{other}`"),
    }
}

/// What a runner does: claims and stores, and tries again what another process has claimed.
async fn claim_all(cache: &Cache) {
    let writer = cache.writer().unwrap();
    let mut remaining: Vec<u64> = (0..1_000).collect();
    while !remaining.is_empty() {
        let mut taken = Vec::new();
        for numbers in remaining.chunks(7) {
            let claims = writer.claim(numbers.iter().map(|n| entry(*n).id).collect()).await.unwrap();
            let mut stores = Vec::new();
            for (number, claim) in numbers.iter().zip(claims) {
                match claim {
                    Claim::Granted => {
                        print_line(number);
                        stores.push(writer.store(entry(*number)));
                    }
                    Claim::Taken => taken.push(*number),
                    Claim::Stored => {}
                }
            }
            for store in stores {
                store.await.unwrap();
            }
        }
        remaining = taken;
    }
}
