//! `results_<time>.json`: the results of a whole lm-eval run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;

use reasonscape_limits::{check_json, read_to_end};
use serde::Deserialize;
use serde_json::Value;

use crate::IngestError;
use crate::logs::max_sample_bytes;

/// The fields that are read from the results of a run.
#[derive(Debug)]
pub(super) struct Results {
    pub(super) model: Option<String>,
    pub(super) version: Option<String>,
    pub(super) date_ms: i64,
    scores: BTreeMap<String, BTreeMap<String, Value>>,
    shots: BTreeMap<String, Value>,
    samples: BTreeMap<String, SampleCount>,
    versions: BTreeMap<String, Value>,
    higher_is_better: BTreeMap<String, BTreeMap<String, Value>>,
    generation: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Raw {
    results: BTreeMap<String, BTreeMap<String, Value>>,
    #[serde(rename = "n-shot")]
    shots: BTreeMap<String, Value>,
    #[serde(rename = "n-samples")]
    samples: BTreeMap<String, SampleCount>,
    versions: BTreeMap<String, Value>,
    higher_is_better: BTreeMap<String, BTreeMap<String, Value>>,
    config: RawConfig,
    date: Value,
    lm_eval_version: Option<String>,
    model_name: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawConfig {
    model_args: Value,
    gen_kwargs: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SampleCount {
    effective: Option<u64>,
}

impl Results {
    pub(super) fn read(path: &Path) -> Result<Self, IngestError> {
        let text = File::open(path)
            .and_then(|file| read_to_end(file, max_sample_bytes()))
            .map_err(IngestError::io("read", path))?;
        check_json(&text).map_err(|error| IngestError::file(path, error.to_string()))?;
        let mut spare = Vec::new();
        let raw: Raw = reasonscape_core::python_json::read(&text, &mut spare).map_err(|error| {
            IngestError::file(
                path,
                format!(
                    "not a valid lm-eval results file ({error}); move it away to import only the samples"
                ),
            )
        })?;
        let model = raw.model_name.or_else(|| model_argument(&raw.config.model_args));
        Ok(Self {
            model: model.filter(|model| !model.is_empty()),
            version: raw.lm_eval_version,
            date_ms: raw.date.as_f64().map_or(0, |seconds| (seconds * 1000.0) as i64),
            scores: raw.results,
            shots: raw.shots,
            samples: raw.samples,
            versions: raw.versions,
            higher_is_better: raw.higher_is_better,
            generation: raw.config.gen_kwargs,
        })
    }

    /// The filters of a task.
    pub(super) fn filters(&self, task: &str) -> Vec<String> {
        let keys = self.scores.get(task).into_iter().flat_map(BTreeMap::keys);
        let filters: BTreeSet<&str> =
            keys.filter_map(|key| key.rsplit_once(',')).map(|(_, filter)| filter).collect();
        filters.into_iter().map(ToOwned::to_owned).collect()
    }

    /// The mean of a score, which is named `<metric>,<filter>`.
    pub(super) fn score(&self, task: &str, name: &str) -> Option<f64> {
        self.scores.get(task)?.get(name)?.as_f64()
    }

    /// Whether lower is better, as for a loss: such a metric does not tell correct from incorrect.
    pub(super) fn is_loss(&self, task: &str, metric: &str) -> bool {
        self.higher_is_better.get(task).and_then(|metrics| metrics.get(metric)) == Some(&Value::Bool(false))
    }

    pub(super) fn documents(&self, task: &str) -> Option<u64> {
        self.samples.get(task)?.effective
    }

    pub(super) fn task_version(&self, task: &str) -> u32 {
        self.versions.get(task).and_then(Value::as_f64).map_or(0, |version| version as u32)
    }

    /// `:5-shot`, if all tasks of the run have the same number of examples.
    pub(super) fn shots(&self) -> Option<String> {
        let shots: BTreeSet<u64> = self.shots.values().filter_map(Value::as_u64).collect();
        match shots.iter().collect::<Vec<_>>().as_slice() {
            [] => None,
            [shots] => Some(format!(":{shots}-shot")),
            _ => Some(":mixed-shot".to_owned()),
        }
    }

    /// The generation settings of the whole run; tasks have their own settings in addition.
    pub(super) fn sampler(&self) -> String {
        settings(&self.generation).unwrap_or_else(|| "task-defaults".to_owned())
    }
}

/// The settings, such as `temperature=0.7,top_p=0.9`, or `None`.
fn settings(generation: &Value) -> Option<String> {
    match generation {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Object(members) if !members.is_empty() => {
            let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
            Some(
                members
                    .iter()
                    .map(|(name, value)| format!("{name}={}", plain(value)))
                    .collect::<Vec<_>>()
                    .join(","),
            )
        }
        _ => None,
    }
}

/// The model in `pretrained=org/name,dtype=float`, or in the same as an object.
fn model_argument(arguments: &Value) -> Option<String> {
    const NAMES: [&str; 2] = ["pretrained", "model"];
    match arguments {
        Value::String(text) => text.split(',').find_map(|pair| {
            let (name, value) = pair.split_once('=')?;
            NAMES.contains(&name.trim()).then(|| value.trim().to_owned())
        }),
        Value::Object(members) => {
            NAMES.iter().find_map(|name| members.get(*name)?.as_str().map(ToOwned::to_owned))
        }
        _ => None,
    }
}
