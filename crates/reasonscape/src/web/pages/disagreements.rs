//! Tests that ended differently for two evaluations, a page at a time.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use reasonscape_points::{StoredTrial, TestName, TrialNumber};
use serde::Serialize;

use super::trials::{Choice, Links, SHOWN, coordinates, evals, label, status_name, tasks};
use super::{render, test, thousands};
use crate::web::api::number;
use crate::web::app::App;
use crate::web::disagreements::Right;
use crate::web::error::Problem;
use crate::web::query_string::Query;
use crate::web::sanitize::{excerpt, visible};
use crate::web::trial_query::PAGE;

/// The names by which an address says which tests are meant, and of whom.
pub(super) const NAMES: [&str; 6] = ["a", "b", "task", "params", "filter", "right"];

#[derive(Serialize)]
struct Page {
    a: String,
    b: String,
    choices_a: Vec<Choice>,
    choices_b: Vec<Choice>,
    tasks: Vec<Choice>,
    rights: Vec<Choice>,
    params: String,
    filters: Vec<String>,
    rows: Vec<Row>,
    total: String,
    first: String,
    last: String,
    links: Links,
    back: String,
    problem: Option<String>,
}

/// A test and what both made of it.
#[derive(Serialize)]
pub(super) struct Row {
    task: String,
    params: String,
    index: u64,
    repeat: u32,
    target: String,
    href: String,
    a: Side,
    b: Side,
}

#[derive(Serialize)]
struct Side {
    status: &'static str,
    answer: Option<String>,
}

pub(in crate::web) async fn page(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    let asked = Query::of(&uri);
    let query = asked.only(&NAMES);
    let study = app.study().await;
    let right = Right::of(&query)?;
    let pair = study.pair(&query.only(&["a", "b"])).await?;
    let query = query.with("a", Some(&pair.a)).with("b", Some(&pair.b));
    let at = |page: u64| {
        let page = page.to_string();
        format!("{}/compare/tests{}", app.base, query.with("page", (page != "1").then_some(&page)))
    };
    let (total, problem) = match study.differing(&pair, &query).await {
        Ok(differing) => (differing.count(right), None),
        Err(problem) if problem.status.is_client_error() => (0, Some(problem.message)),
        Err(problem) => return Err(problem),
    };
    let pages = total.div_ceil(PAGE as u64).max(1);
    let number = number::<u64>(&asked, "page")?.unwrap_or(1).clamp(1, pages);
    let first = (number - 1) * PAGE as u64;
    let rows = match total {
        0 => Arc::default(),
        _ => study.differing_rows(&pair, &query, right, first, PAGE).await?,
    };
    let keep = query.with("page", (number > 1).then_some(&number.to_string()));
    let [a, b] = [&pair.a, &pair.b].map(|id| visible(&label(&study.db, id)).into_owned());
    let choices = |id: &str| evals(&study.db, &Query::default().with("eval", Some(id)));
    let page = Page {
        choices_a: choices(&pair.a),
        choices_b: choices(&pair.b),
        tasks: tasks(&study.db, &query),
        rights: Right::ALL.map(|choice| right_choice(choice, right, [&a, &b])).into(),
        params: query.get("params").unwrap_or_default().to_owned(),
        filters: query.all("filter").map(ToOwned::to_owned).collect(),
        total: thousands(total),
        first: thousands(if rows.is_empty() { 0 } else { first + 1 }),
        last: thousands(first + rows.len() as u64),
        rows: rows.iter().map(|sides| row(&app, sides, &keep)).collect(),
        links: Links::of(number, pages, at),
        back: format!("{}/compare{}#pair", app.base, query.only(&["a", "b", "params", "filter"])),
        problem,
        a,
        b,
    };
    render(&app, "disagreements.html", "Compare", &study.remarks, &page)
}

fn right_choice(choice: Right, chosen: Right, [a, b]: [&str; 2]) -> Choice {
    Choice {
        value: choice.name().to_owned(),
        shown: match choice {
            Right::One => "exactly one".to_owned(),
            Right::A => format!("only {a}"),
            Right::B => format!("only {b}"),
            Right::Any => "any difference in status".to_owned(),
        },
        is_chosen: choice == chosen,
    }
}

/// A row of the table. `list` is what it is one of.
pub(super) fn row(app: &App, [a, b]: &[StoredTrial; 2], list: &Query) -> Row {
    let side = |trial: &StoredTrial| Side {
        status: status_name(trial.status),
        answer: trial.answer.as_ref().map(|answer| excerpt(answer, SHOWN)),
    };
    let name = TestName {
        base_task: &a.base_task,
        params: &a.params,
        number: TrialNumber { index: a.index, repeat: a.repeat },
    };
    Row {
        task: visible(&a.base_task).into_owned(),
        params: coordinates(&a.params),
        index: a.index,
        repeat: a.repeat,
        target: excerpt(&a.target, SHOWN),
        href: test::address(app, name, list),
        a: side(a),
        b: side(b),
    }
}
