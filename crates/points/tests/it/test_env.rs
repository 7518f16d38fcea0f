//! What tests are made of: trials, files, and somebody who waits for answers.

use std::path::Path;

use reasonscape_core::CacheKey;
use reasonscape_core::Outcome;
use reasonscape_points::{
    EvalInfo, PointTrials, PointsDb, PointsError, Provenance, QueryResult, Trial, TrialCounts, Truncation,
    UnitWriter,
};
use reasonscape_study::EvalId;

/// `SplitMix64`: numbers that nothing in the program draws.
pub(crate) struct Draws(pub(crate) u64);

impl Draws {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// Waits for what the engine does.
pub(crate) fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap().block_on(work)
}

pub(crate) fn open(study: &Path) -> PointsDb {
    wait(PointsDb::open(study)).unwrap()
}

/// All rows of an answer, each as compact JSON.
pub(crate) fn rows(db: &PointsDb, question: &str) -> Result<Vec<Vec<serde_json::Value>>, PointsError> {
    wait(async {
        let mut answer: QueryResult = db.sql(question).await?;
        let mut all = Vec::new();
        while let Some(rows) = answer.next().await? {
            all.extend(rows);
        }
        Ok(all)
    })
}

pub(crate) fn eval(model: &str, template: &str, sampler: &str, groups: &[&str]) -> EvalInfo {
    EvalInfo {
        eval_id: EvalId::new(model, template, sampler).to_string(),
        model: model.to_owned(),
        template: template.to_owned(),
        sampler: sampler.to_owned(),
        name: model.to_uppercase(),
        groups: groups.iter().map(|group| (*group).to_owned()).collect(),
    }
}

pub(crate) fn provenance(evaluated_ms: i64) -> Provenance {
    Provenance {
        program: "0.1.0".to_owned(),
        suite: "test".to_owned(),
        suite_hash: "0".repeat(64),
        task_version: 1,
        seed: 0,
        evaluated_ms,
        inputs: "test".to_owned(),
        mark: serde_json::from_str(r#"{"last": 0, "received_ms": 0, "entries": 0}"#).unwrap(),
        source: String::new(),
        truncation: Truncation::Known,
        entries: None,
        max_tokens: None,
        damaged: None,
        implausible_usage: None,
    }
}

/// A trial like any other, but for how it ended.
pub(crate) fn trial(index: u64, status: Outcome, guess: f64) -> Trial {
    let mut key = [0; 32];
    key[..4].copy_from_slice(&(index as u32).to_be_bytes());
    Trial {
        index,
        repeat: 0,
        status,
        guess,
        prompt_tokens: Some(100),
        completion_tokens: Some(20 + index),
        reasoning_tokens: None,
        latency_ms: 50,
        received_ms: 1_700_000_000_000 + index as i64,
        reasoning_chars: 0,
        answer_chars: 17,
        compressed_size: 40,
        finish: if status == Outcome::Truncated { "length" } else { "stop" }.to_owned(),
        method: "answer-is".to_owned(),
        answer: (status != Outcome::Truncated).then(|| "42".to_owned()),
        target: "42".to_owned(),
        cache_key: CacheKey(key),
        latency_us: None,
        prob_correct: None,
    }
}

/// Trials that ended like this, in order: `c` correct, `i` incorrect, `t` truncated.
pub(crate) fn trials(ends: &str, guess: f64) -> Vec<Trial> {
    ends.chars()
        .zip(0..)
        .map(|(end, index)| {
            let status = match end {
                'c' => Outcome::Correct,
                'i' => Outcome::Incorrect,
                't' => Outcome::Truncated,
                other => panic!("{other} is no end of a trial"),
            };
            trial(index, status, guess)
        })
        .collect()
}

pub(crate) fn point(params: &str, manifolds: &[&str], trials: Vec<Trial>) -> PointTrials {
    PointTrials {
        params: params.to_owned(),
        manifolds: manifolds.iter().map(|id| (*id).to_owned()).collect(),
        planned: trials.len() as u64,
        trials,
        ..PointTrials::default()
    }
}

pub(crate) fn write(study: &Path, eval: &EvalInfo, task: &str, points: Vec<PointTrials>) -> TrialCounts {
    let mut writer = UnitWriter::new(study, eval.clone(), task).unwrap();
    for point in points {
        writer.write_point(point).unwrap();
    }
    writer.finish(&provenance(1)).unwrap()
}

/// The file of an evaluation and a task; `kind` is `trials` or `points`.
pub(crate) fn file(study: &Path, kind: &str, eval: &EvalInfo, task: &str) -> std::path::PathBuf {
    let folder = study.join(kind).join(format!("eval={}", eval.eval_id)).join(format!("task={task}"));
    folder.join(format!("{kind}.parquet"))
}
