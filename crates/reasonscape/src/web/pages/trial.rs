//! One trial: what was asked, what was answered, and how it was judged.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::Uri;
use axum::response::Response;
use reasonscape_points::{PointsError, Said, StoredTrial, Texts};
use reasonscape_runner::cache::Cache;
use serde::{Deserialize, Serialize};

use super::trials::{coordinates, label, status_name};
use super::{render, thousands};
use crate::web::api::number;
use crate::web::links::{Query, encoded};
use crate::web::listing::{NAMES, TrialName, Wanted, params_named};
use crate::web::names::point_name;
use crate::web::problem::Problem;
use crate::web::state::{App, Snapshot};
use crate::web::visible::visible;

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

/// Finds a trial, and what was said in it.
pub(in crate::web) async fn look_up(
    app: &App,
    study: &Snapshot,
    place: &Place,
    query: &Query,
) -> Result<(StoredTrial, Option<Said>), Problem> {
    let absent =
        || Problem::absent("there is no such trial; it may have been asked anew with other settings");
    let repeat = number::<u32>(query, "repeat")?.unwrap_or(0);
    let params = params_named(&study.db, &place.eval, &place.task, &place.point).await?.ok_or_else(absent)?;
    let trial = study.db.trial(&place.eval, &place.task, &params, place.index, repeat).await?;
    let trial = trial.ok_or_else(absent)?;
    let (cache, key, model) =
        (app.folder().join("cache.sqlite"), trial.cache_key.clone(), trial.model.clone());
    let read = tokio::task::spawn_blocking(move || -> Result<Option<Said>, PointsError> {
        if !cache.exists() {
            return Ok(None);
        }
        let cache = Cache::open_read_only(cache)?;
        Texts::open(Some(&cache))?.find(&key, repeat, &model)
    });
    let said = match read.await {
        Ok(Ok(said)) => said,
        Ok(Err(error)) => {
            tracing::warn!(%error, "the cache cannot be read");
            None
        }
        Err(error) => {
            tracing::warn!(%error, "the cache was not read");
            None
        }
    };
    Ok((trial, said))
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
struct Fact {
    name: &'static str,
    value: String,
}

#[derive(Serialize)]
struct Spoken {
    messages: Vec<Spoke>,
    reasoning: Option<String>,
    reply: String,
}

#[derive(Serialize)]
struct Spoke {
    role: String,
    content: String,
}

pub(in crate::web) async fn page(
    State(app): State<Arc<App>>,
    Path(place): Path<Place>,
    uri: Uri,
) -> Result<Response, Problem> {
    let query = Query::of(&uri);
    let study = app.study().await;
    let (trial, said) = look_up(&app, &study, &place, &query).await?;
    let name = TrialName::from(&trial);
    let list = query.only(&NAMES);
    let neighbours = study.listing(&Wanted::of(&list)?).await?.neighbours(&study.db, &name).await?;
    let keep = list.with("page", query.get("page"));
    let [previous, next] = neighbours.map(|name| name.map(|name| address(&app, &name, &keep)));
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
        facts: facts(&trial),
        answer: trial.answer.as_ref().map(|answer| visible(answer).into_owned()),
        target: visible(&trial.target).into_owned(),
        method: visible(&trial.method).into_owned(),
        said: said.map(|said| Spoken {
            messages: said
                .messages
                .iter()
                .map(|message| Spoke {
                    role: visible(&message.role).into_owned(),
                    content: visible(&message.content).into_owned(),
                })
                .collect(),
            reasoning: said.reasoning.map(|reasoning| visible(&reasoning).into_owned()),
            reply: visible(&said.reply).into_owned(),
        }),
        previous,
        next,
        back: format!("{}/trials{keep}", app.base),
        json: format!("{}/api/v1{}", app.base, path(&name)),
    };
    render(&app, "trial.html", "Trials", &study.remarks, &page)
}

fn facts(trial: &StoredTrial) -> Vec<Fact> {
    let fact = |name: &'static str, value: String| Fact { name, value };
    let tokens = |count: Option<u64>| count.map_or_else(|| "not counted".to_owned(), thousands);
    let guess = match trial.guess {
        0.0 => "none".to_owned(),
        guess => format!("{:.0} %", 100.0 * guess),
    };
    vec![
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
        fact(
            "template and sampler",
            visible(&format!("{} · {}", trial.template, trial.sampler)).into_owned(),
        ),
        fact("cache key", trial.cache_key.chars().take(16).collect()),
    ]
}
