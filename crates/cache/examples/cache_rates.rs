//! How fast the cache is here: `cargo run --release -p reasonscape-runner --example cache_rates [ENTRIES] [WAITING]`.
//!
//! Claims and stores entries with bodies of 1 KB, each durable before it counts, so many waiting at a time; then looks
//! all of them up.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

use reasonscape_cache::{Cache, Entry, Response};
use reasonscape_core::{CacheKey, EntryId, Json, canonical_json};
use tokio::task::JoinSet;

fn request(index: u64) -> String {
    let prompt = format!(
        "Compute ({index} + {}) * {} - {}. Think step by step and put the result on the last line, after `Answer:`.",
        index * 7 % 97,
        index % 13 + 2,
        index * 31 % 1009
    );
    let message = |role: &str, text: &str| Json::from([("role", role.into()), ("content", text.into())]);
    let messages = vec![message("system", "You are a careful assistant."), message("user", &prompt)];
    canonical_json(&Json::from([
        ("model", "example-7b-instruct".into()),
        ("messages", messages.into()),
        ("max_tokens", 2048_i64.into()),
        ("temperature", 0.0.into()),
    ]))
}

fn entry(index: u64) -> Entry {
    let request = request(index);
    let mut text = String::new();
    for step in 0.. {
        if text.len() > 700 {
            break;
        }
        write!(text, "Step {step}: {} and {} make {}.\\n", index + step, step * 37, index + step * 38)
            .expect("writing to a string does not fail");
    }
    let body = format!(
        r#"{{"id":"chatcmpl-{index:032x}","object":"chat.completion","created":1700000000,"model":"example-7b-instruct","choices":[{{"index":0,"message":{{"role":"assistant","content":"{text}"}},"finish_reason":"stop"}}],"usage":{{"prompt_tokens":61,"completion_tokens":288,"total_tokens":349}}}}"#
    );
    let response =
        Response { status: 200, latency_ms: 12, latency_us: None, received_ms: 0, body: body.into_bytes() };
    Entry { id: EntryId::new(CacheKey::from_canonical_json(&request)), request, response }
}

/// When a measurement began, by the clock and by the processor.
struct Start {
    clock: Instant,
    cpu_s: f64,
}

impl Start {
    fn now() -> Self {
        Self { clock: Instant::now(), cpu_s: cpu_s() }
    }

    fn report(&self, what: &str, count: u64) {
        let rate = count as f64 / self.clock.elapsed().as_secs_f64();
        let cpu_us = (cpu_s() - self.cpu_s) * 1e6 / count as f64;
        println!("{what:<16} {rate:>9.0} /s {cpu_us:>6.1} µs of CPU each");
    }
}

/// Processor time of this process in seconds, where the system tells it (Linux, in hundredths).
fn cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count: u64 = std::env::args().nth(1).map_or(Ok(100_000), |text| text.parse())?;
    let waiting: usize = std::env::args().nth(2).map_or(Ok(512), |text| text.parse())?;
    let dir = tempfile::tempdir_in(".")?;
    let cache = Cache::open(dir.path().join("cache.sqlite"))?;
    let writer = cache.writer()?;
    let entries: Arc<Vec<Entry>> = Arc::new((0..count).map(entry).collect());
    let start = Start::now();
    for chunk in entries.chunks(512) {
        writer.claim(chunk.iter().map(|entry| entry.id.clone()).collect()).await?;
    }
    start.report("claims granted", count);

    let start = Start::now();
    let mut tasks = JoinSet::new();
    for worker in 0..waiting {
        let (entries, writer) = (Arc::clone(&entries), writer.clone());
        tasks.spawn(async move {
            for entry in entries.iter().skip(worker).step_by(waiting) {
                writer.store(entry.clone()).await?;
            }
            Ok::<_, reasonscape_cache::CacheError>(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    start.report("stored", count);
    drop(writer);

    let reader = cache.reader()?;
    let start = Start::now();
    for entry in entries.iter() {
        assert!(reader.contains(&entry.id)?);
    }
    start.report("contains", count);
    let start = Start::now();
    for entry in entries.iter() {
        assert!(reader.get(&entry.id)?.is_some());
    }
    start.report("get", count);
    let start = Start::now();
    let stats = reader.stats(|_| ())?;
    start.report("stats", count);
    let start = Start::now();
    assert!(reader.verify(|_| ())?.is_sound());
    start.report("verify", count);
    println!(
        "bytes an entry   {:>9} before, {} compressed, {} in the file",
        stats.total.bytes / count,
        stats.total.stored_bytes / count,
        stats.file_bytes / count
    );
    Ok(())
}
