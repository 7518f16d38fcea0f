//! Writes the samples of a log as trials of a study: read and compressed on all cores, written by one thread meanwhile.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{SystemTime, UNIX_EPOCH};

use reasonscape_cache::{Cache, Entry, Importer, Response, Watermark};
use reasonscape_core::{CacheKey, EntryId};
use reasonscape_core::{Json, Outcome, cache_key, canonical_json};
use reasonscape_ingest::logs::{Log, LogInfo, LogSample, ReadEnd, SampleResult, UNKNOWN_FINISH, skip_reason};
use reasonscape_providers::Usage;
use reasonscape_stats::Confidence;
use reasonscape_stats::design_effect::ClusteredRate;
use reasonscape_study::{EvalId, MAX_NAME_LENGTH};
use serde_json::{Value, json};

use super::ImportedUnit;
use crate::evaluate::char_count;
use crate::gzip_size::GzipSizer;
use crate::publish::Publication;
use crate::{EvalInfo, PointTrials, PointsError, Provenance, Trial, TrialCounts, Truncation, UnitWriter};
use reasonscape_ingest::Progress;

/// A trial, its cache entry, and its score in the log.
struct IngestedTrial {
    trial: Trial,
    entry: Entry,
    score: f64,
    is_correct: bool,
    has_implausible_usage: bool,
}

/// Builds trials and cache entries from the samples of one log.
struct TrialBuilder {
    info: LogInfo,
    eval: EvalInfo,
}

impl TrialBuilder {
    fn new(info: LogInfo) -> Self {
        let LogInfo { model, template, sampler, tool, .. } = &info;
        let eval = EvalInfo {
            eval_id: EvalId::new(model, template, sampler).to_string(),
            model: model.clone(),
            template: template.clone(),
            sampler: sampler.clone(),
            name: model.clone(),
            groups: vec![format!("source:{tool}")],
        };
        Self { info, eval }
    }

    /// The trial of a sample and its cache entry.
    fn build(&self, sample: LogSample<'_>, sizer: &mut GzipSizer) -> Result<IngestedTrial, String> {
        let status = self.info.threshold.status(sample.score, sample.is_truncated)?;
        let request = self.stored_request(&sample);
        let cache_key = CacheKey::from_canonical_json(&request);
        let body = self.stored_reply(&sample);
        let usage = Usage {
            prompt_tokens: sample.prompt_tokens,
            completion_tokens: sample.completion_tokens,
            reasoning_tokens: sample.reasoning_tokens,
        };
        let (usage, has_implausible_usage) = usage.split_implausible();
        let reply = sample.replies.first().copied().unwrap_or_default();
        let response = Response {
            status: 200,
            latency_ms: sample.latency_ms,
            latency_us: sample.latency_us,
            received_ms: sample.received_ms,
            body: body.to_string().into_bytes(),
        };
        let id = EntryId { repeat: sample.repeat, ..EntryId::new(cache_key) };
        Ok(IngestedTrial {
            trial: Trial {
                index: sample.index,
                repeat: sample.repeat,
                status,
                guess: sample.guess,
                prompt_tokens: usage.prompt_tokens,
                completion_tokens: usage.completion_tokens,
                reasoning_tokens: usage.reasoning_tokens,
                latency_ms: sample.latency_ms,
                received_ms: sample.received_ms,
                reasoning_chars: char_count(sample.reasoning.unwrap_or_default()),
                answer_chars: char_count(reply),
                compressed_size: sizer.gzip_size(sample.reasoning.unwrap_or(reply).as_bytes()),
                finish: sample.finish,
                method: format!("{}:{}", self.info.tool, self.info.score),
                answer: sample.answer.filter(|_| status != Outcome::Truncated),
                target: sample.target,
                cache_key,
                latency_us: sample.latency_us,
                prob_correct: None,
            },
            entry: Entry { id, request, response },
            score: sample.score,
            is_correct: self.info.threshold.is_correct(sample.score)?,
            has_implausible_usage,
        })
    }

    /// The prompt of a sample in the form of a request to the OpenAI chat API, as canonical JSON:
    /// `{"doc_id":…,"messages":[{"content":…,"role":…}],"model":…,"run":…,"source":…,"task":…}`.
    ///
    /// No such request was sent. The form is that of evaluated trials, so that cached prompts and imported ones are
    /// displayed the same way; `source`, `run`, `task` and `doc_id` identify the prompt and make its cache key unique.
    fn stored_request(&self, sample: &LogSample<'_>) -> String {
        let text = |text: &str| Json::String(text.to_owned());
        let messages = sample.messages.iter().map(|(role, content)| {
            Json::from([("role", role.as_str().into()), ("content", content.as_str().into())])
        });
        canonical_json(&Json::from([
            ("source", text(self.info.tool)),
            ("run", text(&self.info.run)),
            ("model", text(&self.eval.model)),
            ("task", text(&self.info.task)),
            ("doc_id", sample.doc_id.clone()),
            ("messages", Json::Array(messages.collect())),
        ]))
    }

    /// The replies of a sample in the form of a response of the OpenAI chat API: a choice for each reply, the reasoning
    /// with the first, and the token counts of the log as `usage`.
    fn stored_reply(&self, sample: &LogSample<'_>) -> Value {
        let choices: Vec<Value> = sample
            .replies
            .iter()
            .enumerate()
            .map(|(index, reply)| {
                let mut message = json!({ "role": "assistant", "content": reply });
                if let (0, Some(reasoning)) = (index, sample.reasoning) {
                    message["reasoning_content"] = json!(reasoning);
                }
                json!({ "index": index, "message": message, "finish_reason": sample.finish })
            })
            .collect();
        json!({
            "model": self.eval.model,
            "choices": choices,
            "usage": {
                "prompt_tokens": sample.prompt_tokens,
                "completion_tokens": sample.completion_tokens,
                "completion_tokens_details": { "reasoning_tokens": sample.reasoning_tokens },
            },
        })
    }

    fn provenance(&self, is_truncation_known: bool) -> Provenance {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let text = |text: &str| Json::String(text.to_owned());
        Provenance {
            program: env!("CARGO_PKG_VERSION").to_owned(),
            suite: self.info.tool_version.clone(),
            suite_hash: String::new(),
            task_version: self.info.task_version,
            seed: 0,
            evaluated_ms: now.as_millis() as i64,
            inputs: cache_key(&Json::Array(vec![
                text(self.info.tool),
                text(&self.info.run),
                text(&self.info.score),
            ])),
            mark: Watermark::default(),
            source: format!("{}: {}", self.info.tool, self.info.file_name),
            truncation: if is_truncation_known { Truncation::Known } else { Truncation::Unknown },
            entries: None,
            max_tokens: None,
            damaged: None,
            implausible_usage: None,
        }
    }

    fn unit(self, log: &Log, summary: IngestSummary) -> ImportedUnit {
        let n = summary.counts.n;
        let mean = |sum: f64| (n > 0).then(|| sum / n as f64);
        let accuracy = summary.accuracy.interval(Confidence::P95);
        ImportedUnit {
            truncation_known: summary.is_truncation_known,
            eval: self.eval,
            task: self.info.task,
            log: log.path().to_owned(),
            score: self.info.score,
            counts: summary.counts,
            accuracy: accuracy.point,
            accuracy_low: accuracy.point.map(|_| accuracy.low),
            accuracy_high: accuracy.point.map(|_| accuracy.high),
            mean_score: mean(summary.score_sum),
            log_score: log.reported_score(),
            partial: summary.partial,
            truncated_correct: summary.truncated_correct,
            skipped: summary.skipped,
            unfinished: log.is_unfinished(),
        }
    }
}

/// The result of importing one log.
struct IngestSummary {
    counts: TrialCounts,
    /// Problems as clusters.
    accuracy: ClusteredRate,
    score_sum: f64,
    partial: u64,
    truncated_correct: u64,
    implausible_usage: u64,
    /// Whether the log records of every trial whether it was truncated.
    is_truncation_known: bool,
    skipped: BTreeMap<&'static str, u64>,
}

/// Imports one log into a study. If it fails or is stopped, no trial is stored; `None` means that it was stopped.
pub(super) fn ingest(
    log: &Log,
    study: &Path,
    cache: &Cache,
    progress: &Progress,
    publication: &Arc<Publication>,
) -> Result<Option<ImportedUnit>, PointsError> {
    let builder = TrialBuilder::new(log.info());
    let name_length = builder.eval.model.chars().count();
    if name_length > MAX_NAME_LENGTH {
        return Err(PointsError::File {
            path: log.path().to_owned(),
            problem: format!(
                "the model's name has {name_length} characters; expected at most {MAX_NAME_LENGTH}"
            ),
        });
    }
    let writer = TrialWriter::new(&builder, study, cache, publication)?;
    let summary = std::thread::scope(|scope| {
        // No batch waits in the channel: samples can be large, and one batch is read while another is written.
        let (sender, receiver) = sync_channel(0);
        let writing = scope.spawn(move || writer.write(receiver));
        let read = log.read(
            progress,
            GzipSizer::default,
            |sizer, sample| builder.build(sample, sizer).map(Box::new),
            // A send fails only if the writer failed; its error is returned below.
            &mut |batch| match sender.send(batch) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            },
        );
        drop(sender);
        let written = writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match (read, written) {
            (Err(error), _) => Err(error.into()),
            (_, Err(error)) => Err(error),
            (Ok(ReadEnd::Stopped), _) => Ok(None),
            (Ok(ReadEnd::Complete), Ok(writer)) => {
                let provenance = builder.provenance(writer.summary.is_truncation_known);
                writer.finish(&provenance, log.planned_trials()).map(Some)
            }
        }
    })?;
    Ok(summary.map(|summary| builder.unit(log, summary)))
}

/// Writes trials and cache entries, on a thread of its own.
struct TrialWriter {
    writer: UnitWriter,
    importer: Importer,
    /// Index and repeat of the trials so far.
    seen: HashSet<(u64, u32)>,
    /// Trials and correct trials of each problem, by its index.
    problems: HashMap<u64, [u64; 2]>,
    summary: IngestSummary,
}

impl TrialWriter {
    fn new(
        builder: &TrialBuilder,
        study: &Path,
        cache: &Cache,
        publication: &Arc<Publication>,
    ) -> Result<Self, PointsError> {
        Ok(Self {
            writer: UnitWriter::within(publication, study, builder.eval.clone(), &builder.info.task)?,
            importer: cache.importer()?,
            seen: HashSet::new(),
            problems: HashMap::new(),
            summary: IngestSummary {
                counts: TrialCounts::default(),
                accuracy: ClusteredRate::default(),
                score_sum: 0.0,
                partial: 0,
                truncated_correct: 0,
                implausible_usage: 0,
                is_truncation_known: builder.info.is_truncation_known,
                skipped: BTreeMap::new(),
            },
        })
    }

    fn write(
        mut self,
        receiver: Receiver<Vec<SampleResult<Box<IngestedTrial>>>>,
    ) -> Result<Self, PointsError> {
        for batch in receiver {
            let mut trials = Vec::with_capacity(batch.len());
            for result in batch {
                match result {
                    SampleResult::OtherFilter => {}
                    SampleResult::Skipped(reason) => self.skip(reason),
                    SampleResult::Mapped(ingested) => {
                        let IngestedTrial { trial, entry, score, is_correct, has_implausible_usage } =
                            *ingested;
                        if !self.seen.insert((trial.index, trial.repeat)) {
                            self.skip(skip_reason::DUPLICATE);
                            continue;
                        }
                        self.importer.add(&entry)?;
                        let summary = &mut self.summary;
                        summary.score_sum += score;
                        summary.implausible_usage += u64::from(has_implausible_usage);
                        let [n, correct] = self.problems.entry(trial.index).or_default();
                        (*n, *correct) = (*n + 1, *correct + u64::from(is_correct));
                        summary.is_truncation_known &= trial.finish != UNKNOWN_FINISH;
                        summary.partial += u64::from(score != 0.0 && score != 1.0);
                        summary.truncated_correct +=
                            u64::from(is_correct && trial.status == Outcome::Truncated);
                        trials.push(trial);
                    }
                }
            }
            self.writer.write_point(point(0, trials))?;
        }
        Ok(self)
    }

    fn skip(&mut self, reason: &'static str) {
        *self.summary.skipped.entry(reason).or_default() += 1;
    }

    /// Replaces the files. Skipped samples count as missing, as do those that the run never reached.
    fn finish(mut self, provenance: &Provenance, planned: u64) -> Result<IngestSummary, PointsError> {
        let duplicates = self.summary.skipped.get(skip_reason::DUPLICATE).copied().unwrap_or(0);
        let skipped = self.summary.skipped.values().sum::<u64>() - duplicates;
        let found = self.seen.len() as u64 + skipped;
        self.writer.write_point(point(planned.max(found), Vec::new()))?;
        self.importer.finish()?;
        let implausible_usage = Some(self.summary.implausible_usage).filter(|count| *count > 0);
        self.summary.counts = self.writer.replace(&Provenance { implausible_usage, ..provenance.clone() })?;
        for [n, correct] in self.problems.into_values() {
            self.summary.accuracy.add(n, correct)?;
        }
        Ok(self.summary)
    }
}

/// A log has no parameters: all documents of a task are one point.
fn point(planned: u64, trials: Vec<Trial>) -> PointTrials {
    PointTrials { params: "{}".to_owned(), planned, trials, ..PointTrials::default() }
}
