//! One trial: what was asked, what was answered, and how it was judged.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::Uri;
use axum::response::Response;
use reasonscape_points::{Message, PointsError, Said, StoredTrial, Texts};
use reasonscape_runner::cache::Cache;
use serde::{Deserialize, Serialize};

use super::trials::{coordinates, label, status_name};
use super::{render, thousands};
use crate::analysis::{Surprise, bits_per_token, surprise};
use crate::web::api::number;
use crate::web::app::{App, Snapshot};
use crate::web::error::Problem;
use crate::web::point_id::point_name;
use crate::web::query_string::{Query, encoded};
use crate::web::sanitize::visible;
use crate::web::trial_query::{NAMES, TrialName, Wanted, params_named};

/// The place of a trial, as its address has it.
#[derive(Debug, Deserialize)]
pub(in crate::web) struct Place {
    eval: String,
    task: String,
    point: String,
    index: u64,
}

/// The address of a trial below the base, without what it is one of.
pub(in crate::web) fn path(name: &TrialName) -> String {
    let repeat = if name.repeat == 0 { String::new() } else { format!("?repeat={}", name.repeat) };
    let (eval, task, point) = (encoded(&name.eval_id), encoded(&name.base_task), point_name(&name.params));
    format!("/trials/{eval}/{task}/{point}/{}{repeat}", name.index)
}

/// The address of a trial as one of those that are meant.
pub(super) fn address(app: &App, name: &TrialName, keep: &Query) -> String {
    let repeat = name.repeat.to_string();
    let query = keep.with("repeat", (name.repeat > 0).then_some(&repeat));
    format!("{}{}{query}", app.base, path(&TrialName { repeat: 0, ..name.clone() }))
}

/// A trial and what was said in it, as one of a list.
pub(in crate::web) struct Found {
    pub(in crate::web) trial: StoredTrial,
    pub(in crate::web) said: Option<Said>,
    pub(in crate::web) previous: Option<TrialName>,
    pub(in crate::web) next: Option<TrialName>,
}

impl Found {
    /// How likely the model found what it said, if it was asked.
    pub(in crate::web) fn surprise(&self) -> Option<Surprise> {
        surprise(self.said.as_ref()?, self.trial.answer.as_deref())
    }
}

/// Finds a trial, what was said in it, and its neighbours in the list that the address has.
pub(in crate::web) async fn look_up(
    app: &App,
    study: &Snapshot,
    place: &Place,
    query: &Query,
) -> Result<Found, Problem> {
    let absent =
        || Problem::absent("there is no such trial; it may have been asked anew with other settings");
    let repeat = number::<u32>(query, "repeat")?.unwrap_or(0);
    let params = params_named(&study.db, &place.eval, &place.task, &place.point).await?.ok_or_else(absent)?;
    let trial = study.db.trial(&place.eval, &place.task, &params, place.index, repeat).await?;
    let trial = trial.ok_or_else(absent)?;
    let listing = study.listing(&Wanted::of(&query.only(&NAMES))?).await?;
    let [previous, next] = listing.neighbours(&study.db, &TrialName::from(&trial)).await?;
    Ok(Found { said: said_in(app, &trial).await, trial, previous, next })
}

/// What was asked and answered in a trial, if the cache has it.
pub(super) async fn said_in(app: &App, trial: &StoredTrial) -> Option<Said> {
    let cache = app.folder().join("cache.sqlite");
    let (key, repeat, model) = (trial.cache_key.clone(), trial.repeat, trial.model.clone());
    let read = tokio::task::spawn_blocking(move || -> Result<Option<Said>, PointsError> {
        if !cache.exists() {
            return Ok(None);
        }
        let cache = Cache::open_read_only(cache)?;
        Texts::open(Some(&cache))?.find(&key, repeat, &model)
    });
    match read.await {
        Ok(Ok(said)) => said,
        Ok(Err(error)) => {
            tracing::warn!(%error, "the cache cannot be read");
            None
        }
        Err(error) => {
            tracing::warn!(%error, "the cache was not read");
            None
        }
    }
}

#[derive(Serialize)]
struct Page {
    status: &'static str,
    eval: String,
    eval_href: String,
    task: String,
    task_href: String,
    index: u64,
    repeat: u32,
    params: String,
    point_href: String,
    facts: Vec<Fact>,
    answer: Option<String>,
    target: String,
    method: String,
    said: Option<Spoken>,
    previous: Option<String>,
    next: Option<String>,
    back: String,
    json: String,
}

#[derive(Serialize)]
pub(super) struct Fact {
    name: &'static str,
    value: String,
}

/// What was said, made so that all of it is seen.
#[derive(Serialize)]
pub(super) struct Spoken {
    pub(super) messages: Vec<Spoke>,
    reasoning: Option<String>,
    reply: String,
}

#[derive(Serialize, PartialEq)]
pub(super) struct Spoke {
    role: String,
    content: String,
}

impl From<&Said> for Spoken {
    fn from(said: &Said) -> Self {
        let spoke = |message: &Message| Spoke {
            role: visible(&message.role).into_owned(),
            content: visible(&message.content).into_owned(),
        };
        Self {
            messages: said.messages.iter().map(spoke).collect(),
            reasoning: said.reasoning.as_ref().map(|reasoning| visible(reasoning).into_owned()),
            reply: visible(&said.reply).into_owned(),
        }
    }
}

pub(in crate::web) async fn page(
    State(app): State<Arc<App>>,
    Path(place): Path<Place>,
    uri: Uri,
) -> Result<Response, Problem> {
    let query = Query::of(&uri);
    let study = app.study().await;
    let found = look_up(&app, &study, &place, &query).await?;
    let surprise = found.surprise();
    let Found { trial, said, previous, next } = found;
    let keep = query.only(&NAMES).with("page", query.get("page"));
    let [previous, next] = [previous, next].map(|name| name.map(|name| address(&app, &name, &keep)));
    let below = |rest: String| format!("{}/trials?eval={}{rest}", app.base, encoded(&trial.eval_id));
    let task = format!("&task={}", encoded(&trial.base_task));
    let page = Page {
        status: status_name(trial.status),
        eval: visible(&label(&study.db, &trial.eval_id)).into_owned(),
        eval_href: below(String::new()),
        task: visible(&trial.base_task).into_owned(),
        task_href: below(task.clone()),
        index: trial.index,
        repeat: trial.repeat,
        params: coordinates(&trial.params),
        point_href: below(format!("{task}&params={}", encoded(&coordinates(&trial.params)))),
        facts: facts(&trial, surprise),
        answer: trial.answer.as_ref().map(|answer| visible(answer).into_owned()),
        target: visible(&trial.target).into_owned(),
        method: visible(&trial.method).into_owned(),
        said: said.as_ref().map(Spoken::from),
        previous,
        next,
        back: format!("{}/trials{keep}", app.base),
        json: format!("{}/api/v1{}", app.base, path(&TrialName::from(&trial))),
    };
    render(&app, "trial.html", "Trials", &study.remarks, &page)
}

/// What was measured in a trial.
pub(super) fn facts(trial: &StoredTrial, surprise: Option<Surprise>) -> Vec<Fact> {
    let fact = |name: &'static str, value: String| Fact { name, value };
    let tokens = |count: Option<u64>| count.map_or_else(|| "not counted".to_owned(), thousands);
    let guess = match trial.guess {
        0.0 => "none".to_owned(),
        guess => format!("{:.0} %", 100.0 * guess),
    };
    let bits = match bits_per_token(trial) {
        Some(bits) => format!("{bits:.2} bits per token"),
        None => "unknown: no tokens counted, or nothing to compress".to_owned(),
    };
    let mut facts = vec![
        fact("finish reason", visible(&trial.finish).into_owned()),
        fact("tokens of the completion", tokens(trial.completion_tokens)),
        fact("tokens of the reasoning", tokens(trial.reasoning_tokens)),
        fact("tokens of the prompt", tokens(trial.prompt_tokens)),
        fact("time to the last byte", format!("{:.2} s", trial.latency_ms as f64 / 1000.0)),
        fact("chance of a blind guess", guess),
        fact(
            "characters",
            format!(
                "{} reasoned, {} answered",
                thousands(trial.reasoning_chars),
                thousands(trial.answer_chars)
            ),
        ),
        fact("after gzip", format!("{} bytes", thousands(trial.compressed_size))),
        fact("entropy, by gzip", bits),
    ];
    if let Some(surprise) = surprise {
        let tokens = thousands(surprise.tokens as u64);
        facts.push(fact(
            "surprisal, by probabilities",
            format!("{:.2} bits per token, over {tokens}", surprise.bits_per_token),
        ));
        if let Some(probability) = surprise.answer_probability {
            facts.push(fact("probability of the answer", format!("{:.1} %", 100.0 * probability)));
        }
    }
    facts.push(fact(
        "template and sampler",
        visible(&format!("{} · {}", trial.template, trial.sampler)).into_owned(),
    ));
    facts.push(fact("cache key", trial.cache_key.chars().take(16).collect()));
    facts
}
