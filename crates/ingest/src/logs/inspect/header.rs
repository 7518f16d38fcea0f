//! The header of an Inspect log.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::sample::ChosenScore;
use crate::IngestError;

/// The fields that are read from the header of a log.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) task: String,
    pub(super) model: String,
    /// Identifies the run.
    pub(super) run: String,
    pub(super) created: String,
    pub(super) version: Option<String>,
    pub(super) task_version: u32,
    /// Number of planned trials.
    pub(super) planned: Option<u64>,
    epochs: u64,
    status: Option<String>,
    generation: BTreeMap<String, Value>,
    scores: Vec<RawScore>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Raw {
    status: Option<String>,
    eval: Option<RawEval>,
    plan: Option<RawPlan>,
    results: Option<RawResults>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawEval {
    eval_id: Option<String>,
    run_id: Option<String>,
    task_id: Option<String>,
    created: Option<String>,
    task: Option<String>,
    task_version: Value,
    model: Option<String>,
    dataset: Option<RawDataset>,
    config: Option<RawConfig>,
    packages: Option<BTreeMap<String, Value>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawDataset {
    sample_ids: Option<Vec<serde::de::IgnoredAny>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawConfig {
    epochs: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawPlan {
    config: Option<BTreeMap<String, Value>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawResults {
    scores: Option<Vec<RawScore>>,
    /// Early logs had one scorer.
    scorer: Option<RawScorer>,
    metrics: Option<BTreeMap<String, RawMetric>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawScorer {
    name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawScore {
    name: String,
    scorer: Option<String>,
    reducer: Option<String>,
    metrics: BTreeMap<String, RawMetric>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawMetric {
    value: Value,
}

/// Settings that affect a model's responses, unlike the number of connections.
const SETTINGS: [&str; 12] = [
    "temperature",
    "top_p",
    "top_k",
    "max_tokens",
    "seed",
    "frequency_penalty",
    "presence_penalty",
    "num_choices",
    "reasoning_effort",
    "reasoning_tokens",
    "system_message",
    "stop_seqs",
];

impl Header {
    pub(super) fn parse(path: &Path, name: &str, text: &[u8]) -> Result<Self, IngestError> {
        let wrong = |problem: String| {
            IngestError::file(
                path,
                format!("`{name}` in the log is not a valid Inspect header ({problem}); the log is damaged"),
            )
        };
        let mut spare = Vec::new();
        let raw: Raw = reasonscape_core::python_json::read(text, &mut spare)
            .map_err(|error| wrong(error.to_string()))?;
        let eval = raw.eval.ok_or_else(|| wrong("no `eval`".to_owned()))?;
        let config = eval.config.unwrap_or_default();
        let ids = eval.dataset.and_then(|dataset| dataset.sample_ids);
        let results = raw.results.unwrap_or_default();
        let scores = results.scores.unwrap_or_else(|| match (results.scorer, results.metrics) {
            (Some(scorer), Some(metrics)) => {
                vec![RawScore { name: scorer.name, metrics, ..RawScore::default() }]
            }
            _ => Vec::new(),
        });
        Ok(Self {
            task: eval.task.ok_or_else(|| wrong("no `eval.task`".to_owned()))?,
            model: eval.model.ok_or_else(|| wrong("no `eval.model`".to_owned()))?,
            run: [eval.run_id, eval.eval_id.or(eval.task_id)]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" "),
            created: eval.created.unwrap_or_default(),
            version: eval
                .packages
                .and_then(|packages| packages.get("inspect_ai")?.as_str().map(ToOwned::to_owned)),
            task_version: eval
                .task_version
                .as_u64()
                .and_then(|version| u32::try_from(version).ok())
                .unwrap_or(0),
            planned: ids.map(|ids| (ids.len() as u64).saturating_mul(config.epochs.unwrap_or(1))),
            epochs: config.epochs.unwrap_or(1),
            status: raw.status,
            generation: raw.plan.and_then(|plan| plan.config).unwrap_or_default(),
            scores,
        })
    }

    /// Whether the run was killed, canceled, or failed.
    pub(super) fn is_unfinished(&self) -> bool {
        self.status.as_deref() != Some("success")
    }

    /// The settings, such as `temperature=0.0,max_tokens=64`.
    pub(super) fn sampler(&self) -> String {
        let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        let set: Vec<String> = SETTINGS
            .iter()
            .filter_map(|name| {
                let value = self.generation.get(*name).filter(|value| !value.is_null())?;
                // A system message may be a page long.
                let shown = if *name == "system_message" { "set".to_owned() } else { plain(value) };
                Some(format!("{name}={shown}"))
            })
            .collect();
        if set.is_empty() { "default".to_owned() } else { set.join(",") }
    }

    /// The mean of a score as the log reports it: its accuracy, its mean, or else its only metric.
    pub(super) fn score(&self, scorer: &str) -> Option<f64> {
        let chosen = ChosenScore::new(scorer);
        let is_it = |score: &&RawScore| {
            let is_part = |(scorer, part)| score.name == part && score.scorer.as_deref() == Some(scorer);
            score.name == chosen.name || chosen.part.is_some_and(is_part)
        };
        // With one epoch every reducer leaves the scores as they are.
        let is_mean = |score: &&RawScore| {
            self.epochs == 1 || score.reducer.as_deref().is_none_or(|reducer| reducer == "mean")
        };
        let score = self.scores.iter().filter(is_it).find(is_mean)?;
        let metric = ["accuracy", "mean"].iter().find_map(|name| score.metrics.get(*name));
        let only = || if score.metrics.len() == 1 { score.metrics.values().next() } else { None };
        metric.or_else(only)?.value.as_f64()
    }
}
