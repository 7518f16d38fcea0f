//! Problems with different outcomes for two evaluations, in pages.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use serde::Serialize;

use super::choices::{Choice, Links, evals, tasks};
use super::disagreement_rows::{Row, row};
use super::render;
use crate::app::App;
use crate::comparison;
use crate::disagreements::{Disagreement, NAMES};
use crate::error::ApiError;
use crate::labels::{eval_label, thousands};
use crate::params::number;
use crate::query_string::Query;
use crate::trial_query::PAGE_SIZE;

#[derive(Serialize)]
struct Page {
    a: String,
    b: String,
    choices_a: Vec<Choice>,
    choices_b: Vec<Choice>,
    tasks: Vec<Choice>,
    disagreements: Vec<Choice>,
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

pub(crate) async fn page(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let full_query = Query::from_uri(&uri);
    let query = full_query.only(&NAMES);
    let study = app.study().await;
    let which = Disagreement::from_query(&query)?;
    let pair = comparison::pair(&study.analyses, &query.only(&["a", "b"])).await?;
    let query = which.set_in(&query).with("a", Some(&pair.a)).with("b", Some(&pair.b));
    let at = |page: u64| {
        let page = page.to_string();
        format!("{}/compare/tests{}", app.base, query.with("page", (page != "1").then_some(&page)))
    };
    let (total, problem) = match comparison::disagreements(&study.analyses, &pair, &query).await {
        Ok(list) => (list.count(which), None),
        Err(problem) if problem.status.is_client_error() => (0, Some(problem.message)),
        Err(problem) => return Err(problem),
    };
    let pages = total.div_ceil(PAGE_SIZE as u64).max(1);
    let number = number::<u64>(&full_query, "page")?.unwrap_or(1).clamp(1, pages);
    let first = (number - 1) * PAGE_SIZE as u64;
    let rows = match total {
        0 => Arc::default(),
        _ => comparison::disagreement_rows(&study.analyses, &pair, &query, which, first, PAGE_SIZE).await?,
    };
    let keep = query.with("page", (number > 1).then_some(&number.to_string()));
    let [a, b] = [&pair.a, &pair.b].map(|id| eval_label(&study.analyses.db, id));
    let choices = |id: &str| evals(&study.analyses.db, &Query::default().with("eval", Some(id)));
    let page = Page {
        choices_a: choices(&pair.a),
        choices_b: choices(&pair.b),
        tasks: tasks(&study.analyses.db, &query),
        disagreements: Disagreement::ALL.map(|choice| disagreement_choice(choice, which, [&a, &b])).into(),
        params: query.get("params").unwrap_or_default().to_owned(),
        filters: query.all("filter").map(ToOwned::to_owned).collect(),
        total: thousands(total),
        first: thousands(if rows.is_empty() { 0 } else { first + 1 }),
        last: thousands(first + rows.len() as u64),
        rows: rows.iter().map(|sides| row(&app, sides, &keep)).collect(),
        links: Links::new(number, pages, at),
        back: format!("{}/compare{}#pair", app.base, query.only(&["a", "b", "params", "filter"])),
        problem,
        a,
        b,
    };
    render(&app, "disagreements.html", "Compare", &study.remarks, &page)
}

fn disagreement_choice(choice: Disagreement, chosen: Disagreement, [a, b]: [&str; 2]) -> Choice {
    Choice {
        value: choice.name().to_owned(),
        shown: match choice {
            Disagreement::OnlyOne => "exactly one".to_owned(),
            Disagreement::OnlyA => format!("only {a}"),
            Disagreement::OnlyB => format!("only {b}"),
            Disagreement::Any => "any difference in outcome".to_owned(),
        },
        is_chosen: choice == chosen,
    }
}
