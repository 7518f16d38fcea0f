//! A second process for tests of the cache: this same test binary, started to run one test that plays a part.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use reasonscape_cache::{Cache, Claim};

use super::{entry, ids};

const PART: &str = "REASONSCAPE_TEST_PART";
const CACHE: &str = "REASONSCAPE_TEST_CACHE";

/// What a second process does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    /// Claims entries 0 to 999 and stores those it is granted; says which.
    AskAll,
    /// Claims entries 0 to 4, says so, and waits to be killed.
    Hold,
    /// Stores entries from 0 on without end, and says each number when it is durable.
    StoreForEver,
    /// Opens the cache and says what came of it.
    Open,
}

/// A process that plays a part.
pub(crate) fn command(part: Part, cache: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["cache::child::part", "--exact", "--ignored", "--nocapture"])
        .env(PART, format!("{part:?}"))
        .env(CACHE, cache)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    command
}

/// What it says, line by line.
pub(crate) fn stdout_lines(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.map_while(Result::ok).filter_map(|line| Some(line.split_once("child: ")?.1.to_owned()))
}

fn say(words: impl std::fmt::Display) {
    println!("\nchild: {words}");
}

#[tokio::test]
#[ignore = "played by other tests in a process of its own"]
async fn part() {
    let Ok(part) = std::env::var(PART) else { return };
    let path = std::env::var_os(CACHE).unwrap();
    match part.as_str() {
        "AskAll" => ask_all(&Cache::open(path).unwrap()).await,
        "Hold" => {
            let writer = Cache::open(path).unwrap().writer().unwrap();
            say(format!("{:?}", writer.claim(ids(0..5)).await.unwrap()));
            std::thread::park();
        }
        "StoreForEver" => {
            let writer = Cache::open(path).unwrap().writer().unwrap();
            for number in 0.. {
                writer.claim(ids(number..number + 1)).await.unwrap();
                writer.store(entry(number)).await.unwrap();
                say(number);
            }
        }
        "Open" => {
            let opened = |cache: Result<Cache, _>| match cache {
                Ok(cache) => format!("opened with {} entries", cache.reader().unwrap().count().unwrap()),
                Err(error) => format!("{error}"),
            };
            say(format!("write: {}", opened(Cache::open(&path))));
            say(format!("read: {}", opened(Cache::open_read_only(&path))));
        }
        other => panic!("no part called `{other}`"),
    }
}

/// What a runner does: claim, ask, store; come back to what somebody else was asking.
async fn ask_all(cache: &Cache) {
    let writer = cache.writer().unwrap();
    let mut open: Vec<u64> = (0..1_000).collect();
    while !open.is_empty() {
        let mut later = Vec::new();
        for numbers in open.chunks(7) {
            let claims = writer.claim(numbers.iter().map(|n| entry(*n).id).collect()).await.unwrap();
            let mut stores = Vec::new();
            for (number, claim) in numbers.iter().zip(claims) {
                match claim {
                    Claim::Granted => {
                        say(number);
                        stores.push(writer.store(entry(*number)));
                    }
                    Claim::Taken => later.push(*number),
                    Claim::Stored => {}
                }
            }
            for store in stores {
                store.await.unwrap();
            }
        }
        open = later;
    }
}
