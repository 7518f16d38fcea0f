//! From a log into the study: read in batches, understood on all cores, written by one thread meanwhile.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{SystemTime, UNIX_EPOCH};

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use reasonscape_core::{Json, cache_key, canonical_json};
use reasonscape_runner::EvalId;
use reasonscape_runner::cache::{Cache, CacheKey, Entry, EntryId, Importer, Mark, Response};
use serde_json::{Value, json};

use super::ImportedUnit;
use super::score::{Threshold, skip};
use crate::evaluate::characters;
use crate::evaluate::weigh::Scales;
use crate::{
    Counts, EvalInfo, PointTrials, PointsError, Progress, Provenance, Trial, Truncation, UnitWriter,
};

/// What a sample of a log came to.
pub(super) enum Outcome {
    Trial(Box<Answered>),
    Skipped(&'static str),
    /// Another view of a document that is taken from elsewhere.
    Beside,
}

/// A trial, what was said in it, and its score as it stood in the log.
pub(super) struct Answered {
    trial: Trial,
    entry: Entry,
    score: f64,
    is_correct: bool,
}

/// What a sample says, whichever tool wrote it.
pub(super) struct Said<'a> {
    pub(super) index: u64,
    pub(super) repeat: u32,
    pub(super) doc_id: Json,
    pub(super) score: f64,
    pub(super) guess: f64,
    pub(super) is_truncated: bool,
    /// `unknown` where nobody said.
    pub(super) finish: String,
    pub(super) prompt_tokens: Option<u64>,
    pub(super) completion_tokens: Option<u64>,
    pub(super) reasoning_tokens: Option<u64>,
    pub(super) latency_ms: u64,
    pub(super) received_ms: i64,
    pub(super) answer: Option<String>,
    pub(super) target: String,
    /// Role and text of each.
    pub(super) messages: Vec<(String, String)>,
    pub(super) reasoning: Option<&'a str>,
    /// Replies to the same prompt; the first is the one that counts.
    pub(super) replies: Vec<&'a str>,
}

/// What all samples of a log share.
pub(super) struct Source {
    pub(super) eval: EvalInfo,
    pub(super) task: String,
    /// `lm-eval` or `inspect`.
    pub(super) tool: &'static str,
    /// What tells this run from others of the same model on the same task.
    pub(super) run: String,
    /// Name of the file.
    pub(super) log: String,
    /// Tool and version.
    pub(super) version: String,
    pub(super) task_version: u32,
    /// Which score was taken.
    pub(super) score: String,
    pub(super) threshold: Threshold,
    pub(super) truncation: Truncation,
}

impl Source {
    /// The evaluation of a model by another tool.
    pub(super) fn eval(model: &str, template: String, sampler: String, tool: &str) -> EvalInfo {
        EvalInfo {
            eval_id: EvalId::new(model, &template, &sampler).to_string(),
            model: model.to_owned(),
            template,
            sampler,
            name: model.to_owned(),
            groups: vec![format!("source:{tool}")],
        }
    }

    /// What became of a log, which was finished.
    pub(super) fn unit(self, log: &Path, poured: Poured, log_score: Option<f64>) -> ImportedUnit {
        let n = poured.counts.n;
        let share = |part: f64| (n > 0).then(|| part / n as f64);
        ImportedUnit {
            eval: self.eval,
            task: self.task,
            log: log.to_owned(),
            score: self.score,
            counts: poured.counts,
            accuracy: share(poured.correct as f64),
            mean_score: share(poured.score_sum),
            log_score,
            truncation_known: self.truncation == Truncation::Known,
            partial: poured.partial,
            truncated_correct: poured.truncated_correct,
            skipped: poured.skipped,
            unfinished: false,
        }
    }

    /// Makes a trial and its entry in the cache of what a sample says.
    pub(super) fn answered(&self, said: Said<'_>, scales: &mut Scales) -> Result<Outcome, String> {
        let status = self.threshold.status(said.score, said.is_truncated)?;
        let text = |text: &str| Json::String(text.to_owned());
        let messages = said.messages.iter().map(|(role, content)| {
            Json::from([("role", role.as_str().into()), ("content", content.as_str().into())])
        });
        let request = canonical_json(&Json::from([
            ("source", text(self.tool)),
            ("run", text(&self.run)),
            ("model", text(&self.eval.model)),
            ("task", text(&self.task)),
            ("doc_id", said.doc_id),
            ("messages", Json::Array(messages.collect())),
        ]));
        let cache_key = CacheKey::from_canonical_json(&request);
        let choices: Vec<Value> = said
            .replies
            .iter()
            .enumerate()
            .map(|(place, reply)| {
                let mut message = json!({ "role": "assistant", "content": reply });
                if let (0, Some(reasoning)) = (place, said.reasoning) {
                    message["reasoning_content"] = json!(reasoning);
                }
                json!({ "index": place, "message": message, "finish_reason": said.finish })
            })
            .collect();
        let body = json!({
            "model": self.eval.model,
            "choices": choices,
            "usage": {
                "prompt_tokens": said.prompt_tokens,
                "completion_tokens": said.completion_tokens,
                "completion_tokens_details": { "reasoning_tokens": said.reasoning_tokens },
            },
        });
        let reply = said.replies.first().copied().unwrap_or_default();
        let response = Response {
            status: 200,
            latency_ms: said.latency_ms,
            received_ms: said.received_ms,
            body: body.to_string().into_bytes(),
        };
        let id = EntryId { repeat: said.repeat, ..EntryId::new(cache_key) };
        Ok(Outcome::Trial(Box::new(Answered {
            trial: Trial {
                index: said.index,
                repeat: said.repeat,
                status,
                guess: said.guess,
                prompt_tokens: said.prompt_tokens,
                completion_tokens: said.completion_tokens,
                reasoning_tokens: said.reasoning_tokens,
                latency_ms: said.latency_ms,
                received_ms: said.received_ms,
                reasoning_chars: characters(said.reasoning.unwrap_or_default()),
                answer_chars: characters(reply),
                compressed_size: scales.gzip_size(said.reasoning.unwrap_or(reply).as_bytes()),
                finish: said.finish,
                method: format!("{}:{}", self.tool, self.score),
                answer: said.answer.filter(|_| status != reasonscape_core::Outcome::Truncated),
                target: said.target,
                cache_key,
            },
            entry: Entry { id, request, response },
            score: said.score,
            is_correct: self.threshold.is_correct(said.score)?,
        })))
    }

    fn provenance(&self) -> Provenance {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let text = |text: &str| Json::String(text.to_owned());
        Provenance {
            program: env!("CARGO_PKG_VERSION").to_owned(),
            suite: self.version.clone(),
            suite_hash: String::new(),
            task_version: self.task_version,
            seed: 0,
            evaluated_ms: now.as_millis() as i64,
            inputs: cache_key(&Json::Array(vec![text(self.tool), text(&self.run), text(&self.score)])),
            mark: Mark::default(),
            source: format!("{}: {}", self.tool, self.log),
            truncation: self.truncation,
        }
    }
}

/// What was poured in.
pub(super) struct Poured {
    pub(super) counts: Counts,
    pub(super) correct: u64,
    pub(super) score_sum: f64,
    pub(super) partial: u64,
    pub(super) truncated_correct: u64,
    pub(super) skipped: BTreeMap<&'static str, u64>,
}

/// Where a log is poured to.
pub(super) struct Destination<'a> {
    pub(super) study: &'a Path,
    pub(super) cache: &'a Cache,
    pub(super) progress: &'a Progress,
}

impl Destination<'_> {
    /// Reads batches until there are none, and writes what they come to. `planned` is how many trials the log
    /// should have, where it says so. Nothing is seen of the trials if anything goes wrong, or if it is stopped, which
    /// is what `None` says.
    pub(super) fn pour<T: Send>(
        &self,
        source: &Source,
        planned: u64,
        mut next: impl FnMut() -> Result<Option<Vec<T>>, PointsError>,
        understand: impl Fn(T, &mut Scales) -> Result<Outcome, PointsError> + Sync,
    ) -> Result<Option<Poured>, PointsError> {
        let sink = Sink {
            writer: UnitWriter::new(self.study, source.eval.clone(), &source.task)?,
            importer: self.cache.importer()?,
            seen: HashSet::new(),
            poured: Poured {
                counts: Counts::default(),
                correct: 0,
                score_sum: 0.0,
                partial: 0,
                truncated_correct: 0,
                skipped: BTreeMap::new(),
            },
        };
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel::<Vec<Outcome>>(2);
            let writing = scope.spawn(move || sink.write(receiver));
            let mut read = Ok(true);
            while let Some(batch) = next().transpose() {
                let understood = batch.and_then(|batch| {
                    batch
                        .into_par_iter()
                        .map_init(Scales::default, |scales, item| understand(item, scales))
                        .collect()
                });
                let understood: Vec<Outcome> = match understood {
                    Ok(understood) => understood,
                    Err(error) => {
                        read = Err(error);
                        break;
                    }
                };
                self.progress.done.fetch_add(understood.len() as u64, Ordering::Relaxed);
                if self.progress.stop.load(Ordering::Relaxed) {
                    read = Ok(false);
                    break;
                }
                // A writer that has hung up has failed, and says why below.
                if sender.send(understood).is_err() {
                    break;
                }
            }
            drop(sender);
            let written = writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            match (read, written) {
                (Err(error), _) | (_, Err(error)) => Err(error),
                (Ok(false), _) => Ok(None),
                (Ok(true), Ok(sink)) => sink.finish(source, planned).map(Some),
            }
        })
    }
}

/// The thread that writes.
struct Sink {
    writer: UnitWriter,
    importer: Importer,
    seen: HashSet<(u64, u32)>,
    poured: Poured,
}

impl Sink {
    fn write(mut self, receiver: Receiver<Vec<Outcome>>) -> Result<Self, PointsError> {
        for batch in receiver {
            let mut trials = Vec::with_capacity(batch.len());
            for outcome in batch {
                match outcome {
                    Outcome::Beside => {}
                    Outcome::Skipped(reason) => *self.poured.skipped.entry(reason).or_default() += 1,
                    Outcome::Trial(answered) => {
                        let Answered { trial, entry, score, is_correct } = *answered;
                        if !self.seen.insert((trial.index, trial.repeat)) {
                            *self.poured.skipped.entry(skip::TWICE).or_default() += 1;
                            continue;
                        }
                        self.importer.add(&entry)?;
                        let poured = &mut self.poured;
                        poured.score_sum += score;
                        poured.correct += u64::from(is_correct);
                        poured.partial += u64::from(score != 0.0 && score != 1.0);
                        poured.truncated_correct +=
                            u64::from(is_correct && trial.status == reasonscape_core::Outcome::Truncated);
                        trials.push(trial);
                    }
                }
            }
            self.writer.point(point(0, trials))?;
        }
        Ok(self)
    }

    /// Puts everything in its place. Samples that became no trial are missing, as are those that a log never reached.
    fn finish(mut self, source: &Source, planned: u64) -> Result<Poured, PointsError> {
        let twice = self.poured.skipped.get(skip::TWICE).copied().unwrap_or(0);
        let skipped = self.poured.skipped.values().sum::<u64>() - twice;
        let there = self.seen.len() as u64 + skipped;
        self.writer.point(point(planned.max(there), Vec::new()))?;
        self.importer.finish()?;
        self.poured.counts = self.writer.finish(&source.provenance())?;
        Ok(self.poured)
    }
}

/// A log has no coordinates: all of a task's documents are one point.
fn point(planned: u64, trials: Vec<Trial>) -> PointTrials {
    PointTrials { params: "{}".to_owned(), manifolds: Vec::new(), planned, trials }
}
