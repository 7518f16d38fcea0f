//! Writes a study with many trials and times queries on it. `benches/peers/points.py` compares them with DuckDB.
//!
//! ```text
//! points_speed make DIR MODELS TASKS TRIALS
//! points_speed time DIR SQL…
//! ```

use std::path::Path;
use std::time::Instant;

use reasonscape_core::CacheKey;
use reasonscape_core::Outcome;
use reasonscape_points::{Column, EvalInfo, Filter, PointTrials, PointsDb, Provenance, Trial, UnitWriter};
use reasonscape_stats::Mode;
use reasonscape_study::EvalId;

// The program's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Failed = Box<dyn std::error::Error>;

fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["make", folder, models, tasks, trials] => {
            make(Path::new(folder), models.parse()?, tasks.parse()?, trials.parse()?)
        }
        ["time", folder, questions @ ..] => measure(Path::new(folder), questions),
        _ => Err("points_speed make DIR MODELS TASKS TRIALS, or points_speed time DIR SQL…".into()),
    }
}

/// Prints the minimum time of each query, in seconds, as JSON.
fn measure(folder: &Path, questions: &[&str]) -> Result<(), Failed> {
    const RUNS: usize = 5;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut figures = serde_json::Map::new();
    let mut note = |name: &str, seconds: f64| figures.insert(name.to_owned(), seconds.into());
    runtime.block_on(async {
        let started = Instant::now();
        let db = PointsDb::open(folder).await?;
        note("open", started.elapsed().as_secs_f64());
        let by = [Column::Model, Column::BaseTask];
        let five = [Column::Model, Column::Template, Column::Sampler, Column::BaseTask, Column::Params];
        for (name, columns) in
            [("aggregate by model and task", &by[..]), ("aggregate by all five", &five[..])]
        {
            let mut least = f64::INFINITY;
            for _ in 0..RUNS {
                let started = Instant::now();
                let groups = db.aggregate(columns, &Filter::default(), Mode::C_P.into()).await?;
                least = least.min(started.elapsed().as_secs_f64());
                assert!(!groups.is_empty());
            }
            note(name, least);
        }
        for question in questions {
            let mut least = f64::INFINITY;
            for _ in 0..RUNS {
                let started = Instant::now();
                let mut answer = db.sql(question).await?;
                while answer.next().await?.is_some() {}
                least = least.min(started.elapsed().as_secs_f64());
            }
            note(question, least);
        }
        Ok::<(), Failed>(())
    })?;
    println!("{}", serde_json::Value::Object(figures));
    Ok(())
}

/// Writes a study of trials drawn to resemble real ones.
fn make(folder: &Path, models: usize, tasks: usize, trials: usize) -> Result<(), Failed> {
    const POINTS: usize = 89;
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let each = trials / (models * tasks * POINTS);
    for model in 0..models {
        let name = format!("maker-{}/model-{model}-instruct", model % 7);
        for task in 0..tasks {
            let (template, sampler) = ("zero-shot-cot", "greedy-4k");
            let eval = EvalInfo {
                eval_id: EvalId::new(&name, template, sampler).to_string(),
                model: name.clone(),
                template: template.to_owned(),
                sampler: sampler.to_owned(),
                name: name.clone(),
                groups: vec![format!("size:{}", model % 4)],
            };
            let base_task = format!("task{task}");
            let mut writer = UnitWriter::new(folder, eval, &base_task)?;
            for point in 0..POINTS {
                let params = format!("{{\"depth\": {}, \"length\": {}}}", point % 8, 4 * (point / 8));
                let trials = (0..each)
                    .map(|index| {
                        let luck = random();
                        let tokens = 80 + luck % 3000;
                        Trial {
                            index: index as u64,
                            repeat: 0,
                            status: match luck % 100 {
                                0..10 => Outcome::Truncated,
                                share if share as usize > 20 + model => Outcome::Correct,
                                _ => Outcome::Incorrect,
                            },
                            guess: if task % 3 == 0 { 0.25 } else { 0.0 },
                            prompt_tokens: Some(120 + luck % 40),
                            completion_tokens: Some(tokens),
                            reasoning_tokens: None,
                            latency_ms: tokens * 20,
                            received_ms: 1_790_000_000_000 + index as i64 * 37,
                            reasoning_chars: 0,
                            answer_chars: tokens * 4,
                            compressed_size: tokens + luck % 100,
                            finish: "stop".to_owned(),
                            method: "phrase".to_owned(),
                            answer: Some((luck % 977).to_string()),
                            target: (luck % 991).to_string(),
                            cache_key: CacheKey(std::array::from_fn(|_| (random() >> 32) as u8)),
                            latency_us: Some(tokens * 20_000 + luck % 1_000),
                            prob_correct: None,
                        }
                    })
                    .collect();
                writer.write_point(PointTrials {
                    params,
                    manifolds: vec!["all".to_owned()],
                    planned: each as u64,
                    trials,
                    ..PointTrials::default()
                })?;
            }
            writer.finish(&Provenance::default())?;
        }
    }
    Ok(())
}
