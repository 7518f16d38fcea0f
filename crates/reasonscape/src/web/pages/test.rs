//! One test, and what two evaluations made of it, side by side.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::Uri;
use axum::response::Response;
use reasonscape_points::{StoredTrial, TestName, TrialNumber};
use serde::{Deserialize, Serialize};

use super::disagreements::NAMES;
use super::trial::{Fact, Spoke, Spoken, facts, path, said_in};
use super::trials::{coordinates, label, status_name};
use super::{render, thousands};
use crate::analysis::surprise;
use crate::web::api::number;
use crate::web::app::{App, Snapshot};
use crate::web::comparison::Pair;
use crate::web::disagreements::Right;
use crate::web::error::Problem;
use crate::web::point_id::point_name;
use crate::web::query_string::{Query, encoded};
use crate::web::sanitize::visible;
use crate::web::trial_query::{TrialName, params_named};

/// The place of a test, as its address has it.
#[derive(Debug, Deserialize)]
pub(in crate::web) struct Place {
    a: String,
    b: String,
    task: String,
    point: String,
    index: u64,
}

/// The address of a test as one of those that a list has; the list says whose answers are shown.
pub(super) fn address(app: &App, test: TestName<'_>, list: &Query) -> String {
    let TrialNumber { index, repeat } = test.number;
    let [a, b] = ["a", "b"].map(|name| encoded(list.get(name).unwrap_or_default()));
    let (task, point, repeat) = (encoded(test.base_task), point_name(test.params), repeat.to_string());
    let keep = list.with("a", None).with("b", None).with("repeat", (repeat != "0").then_some(&repeat));
    format!("{}/compare/tests/{a}/{b}/{task}/{point}/{index}{keep}", app.base)
}

#[derive(Serialize)]
struct Page {
    task: String,
    params: String,
    index: u64,
    repeat: u32,
    target: String,
    /// What both were asked; none if they were asked differently, or the cache does not have it.
    messages: Option<Vec<Spoke>>,
    /// Whether their prompts are known and not the same.
    asked_differently: bool,
    sides: Vec<Side>,
    previous: Option<String>,
    next: Option<String>,
    back: String,
    swapped: String,
    /// As in `3 of 120`.
    place: Option<String>,
}

#[derive(Serialize)]
struct Side {
    letter: &'static str,
    label: String,
    how: String,
    status: &'static str,
    answer: Option<String>,
    method: String,
    said: Option<Spoken>,
    facts: Vec<Fact>,
    href: String,
}

pub(in crate::web) async fn page(
    State(app): State<Arc<App>>,
    Path(place): Path<Place>,
    uri: Uri,
) -> Result<Response, Problem> {
    let asked = Query::of(&uri);
    let study = app.study().await;
    let repeat = number::<u32>(&asked, "repeat")?.unwrap_or(0);
    let right = Right::of(&asked)?;
    let pair = Pair { a: place.a.clone(), b: place.b.clone() };
    let trials = find(&study, &place, repeat).await?;
    let list =
        asked.only(&NAMES).with("page", asked.get("page")).with("a", Some(&pair.a)).with("b", Some(&pair.b));
    let differing = study.differing(&pair, &list).await?;
    let [one, _] = &trials;
    let name = TestName {
        base_task: &one.base_task,
        params: &one.params,
        number: TrialNumber { index: one.index, repeat },
    };
    let around = differing.around(right, name);
    let link = |test: Option<TestName<'_>>| test.map(|test| address(&app, test, &list));
    let mut sides = Vec::new();
    for (letter, trial) in ["A", "B"].into_iter().zip(&trials) {
        sides.push(side(&app, &study, letter, trial).await);
    }
    let prompts: Vec<&Vec<Spoke>> =
        sides.iter().filter_map(|side| side.said.as_ref().map(|said| &said.messages)).collect();
    let asked_differently = matches!(prompts[..], [a, b] if a != b);
    let messages = if asked_differently {
        None
    } else {
        // What both were asked is shown once.
        let mut messages = None;
        for said in sides.iter_mut().filter_map(|side| side.said.as_mut()) {
            messages = Some(std::mem::take(&mut said.messages));
        }
        messages
    };
    let other = list.with("a", Some(&pair.b)).with("b", Some(&pair.a));
    let swapped_right = match right {
        Right::A => Some("b"),
        Right::B => Some("a"),
        Right::Any => Some("any"),
        Right::One => None,
    };
    let page = Page {
        task: visible(&one.base_task).into_owned(),
        params: coordinates(&one.params),
        index: one.index,
        repeat,
        target: visible(&one.target).into_owned(),
        messages,
        asked_differently,
        sides,
        previous: link(around.before),
        next: link(around.behind),
        back: format!("{}/compare/tests{list}", app.base),
        swapped: address(&app, name, &other.with("right", swapped_right)),
        place: around
            .place
            .map(|place| format!("{} of {}", thousands(place), thousands(differing.count(right)))),
    };
    render(&app, "test.html", "Compare", &study.remarks, &page)
}

/// What both made of a test.
async fn find(study: &Snapshot, place: &Place, repeat: u32) -> Result<[StoredTrial; 2], Problem> {
    let absent = || Problem::absent("there is no such test that both were asked");
    let params = params_named(&study.db, &place.a, &place.task, &place.point).await?.ok_or_else(absent)?;
    let of = async |eval: &str| -> Result<StoredTrial, Problem> {
        study.db.trial(eval, &place.task, &params, place.index, repeat).await?.ok_or_else(absent)
    };
    Ok([of(&place.a).await?, of(&place.b).await?])
}

async fn side(app: &App, study: &Snapshot, letter: &'static str, trial: &StoredTrial) -> Side {
    let said = said_in(app, trial).await;
    let surprise = said.as_ref().and_then(|said| surprise(said, trial.answer.as_deref()));
    Side {
        letter,
        label: visible(&label(&study.db, &trial.eval_id)).into_owned(),
        how: visible(&format!("{} · {}", trial.template, trial.sampler)).into_owned(),
        status: status_name(trial.status),
        answer: trial.answer.as_ref().map(|answer| visible(answer).into_owned()),
        method: visible(&trial.method).into_owned(),
        said: said.as_ref().map(Spoken::from),
        facts: facts(trial, surprise),
        href: format!("{}{}", app.base, path(&TrialName::from(trial))),
    }
}
