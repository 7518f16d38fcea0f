//! Runs: what was run, what goes on, and how it ended.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

use super::{render, thousands};
use crate::cli::utc;
use crate::web::app::App;
use crate::web::error::Problem;
use crate::web::runs::api::aside;
use crate::web::runs::{Progress, Record, view_address};
use crate::web::sanitize::{excerpt, visible};

/// Names of models that a row has room for.
const NAMES: usize = 3;

#[derive(Serialize)]
struct Page {
    runs: Vec<Row>,
    is_going: bool,
    read_only: bool,
}

#[derive(Serialize)]
struct Row {
    name: String,
    href: String,
    state: &'static str,
    asks: String,
    models: String,
    totals: Totals,
    started: Option<Moment>,
    took: Option<String>,
    results: Option<String>,
}

/// A moment, for programs and for people.
#[derive(Serialize)]
pub(super) struct Moment {
    pub(super) exact: String,
    pub(super) shown: String,
}

/// What the evaluations of a run come to together.
#[derive(Serialize)]
pub(super) struct Totals {
    pub(super) done: u64,
    pub(super) planned: u64,
    pub(super) said: String,
    pub(super) tokens: String,
    pub(super) cost: Option<String>,
}

pub(in crate::web) async fn page(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let runs = aside(&app, |runs| {
        Ok(runs.list().into_iter().map(|run| (runs.has_results(&run), run)).collect::<Vec<_>>())
    });
    let runs = runs.await?;
    let row = |(has_results, run): &(bool, Arc<Record>)| Row {
        name: run.name.clone(),
        href: format!("{}/runs/{}", app.base, run.name),
        state: run.state.name(),
        asks: visible(&run.asks).into_owned(),
        models: models(&run.models),
        totals: totals(&run.progress),
        started: run.started_ms.map(moment),
        took: took(run),
        results: (*has_results && run.started_ms.is_some()).then(|| view_address(&app, run)),
    };
    let page = Page {
        runs: runs.iter().map(row).collect(),
        is_going: runs.iter().any(|(_, run)| !run.state.is_over()),
        read_only: app.access.read_only,
    };
    render(&app, "runs.html", "Runs", &[], &page)
}

/// Some names, and how many more.
pub(super) fn models(names: &[String]) -> String {
    let mut shown: Vec<String> = names.iter().take(NAMES).map(|name| excerpt(name, 40)).collect();
    if names.len() > NAMES {
        shown.push(format!("{} more", names.len() - NAMES));
    }
    shown.join(", ")
}

pub(super) fn totals(progress: &[Progress]) -> Totals {
    let sum = |of: fn(&Progress) -> u64| progress.iter().map(of).sum::<u64>();
    let (done, planned) = (sum(|one| one.done), sum(|one| one.planned));
    let costs: Option<Vec<f64>> = progress.iter().map(|one| one.cost).collect();
    Totals {
        done,
        planned,
        said: format!("{} of {}", thousands(done), thousands(planned)),
        tokens: thousands(sum(|one| one.prompt_tokens + one.completion_tokens)),
        cost: costs.filter(|costs| !costs.is_empty()).map(|costs| money(costs.iter().sum())),
    }
}

/// Money in two places, and in more where it is less than a hundredth.
pub(super) fn money(cost: f64) -> String {
    if cost > 0.0 && cost < 0.1 { format!("{cost:.4}") } else { format!("{cost:.2}") }
}

pub(super) fn moment(ms: u64) -> Moment {
    let exact = utc(i64::try_from(ms).unwrap_or(i64::MAX));
    let shown = exact.get(..16).map_or_else(|| exact.clone(), |shown| shown.replace('T', " ") + " UTC");
    Moment { exact, shown }
}

fn took(run: &Record) -> Option<String> {
    let ms = run.ended_ms?.checked_sub(run.started_ms?)?;
    Some(seconds(ms as f64 / 1000.0))
}

/// `45 s`, `3 min 20 s`, `2 h 5 min`.
pub(super) fn seconds(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0 => "under 1 s".to_owned(),
        1..60 => format!("{whole} s"),
        60..3_600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3_600, whole / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_money_are_short() {
        assert_eq!(
            [0.2, 45.4, 200.0, 7_500.0].map(seconds),
            ["under 1 s", "45 s", "3 min 20 s", "2 h 5 min"]
        );
        assert_eq!([0.0, 0.01234, 1.5, 1_234.567].map(money), ["0.00", "0.0123", "1.50", "1234.57"]);
        assert_eq!(moment(951_782_400_000).shown, "2000-02-29 00:00 UTC");
    }
}
