//! The Compare page: a matrix of evaluations, and two of them on the same problems.

mod interval_bar;
mod matrix;
mod pair;

use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use reasonscape_points::PointsDb;
use reasonscape_stats::Mode;
use serde::Serialize;

use self::matrix::Matrix;
use self::pair::PairView;
use super::choices::{Choice, tasks};
use super::estimator_picker::{EstimatorGroup, estimator_groups};
use super::{PlainTable, render};
use crate::app::{App, Snapshot};
use crate::comparison::{self, ComparedEvals, MAX_EVALS};
use crate::error::ApiError;
use crate::labels::eval_label;
use crate::params::mode;
use crate::query_string::Query;
use reasonscape_analysis::tables::model_sets::display_table;
use reasonscape_analysis::tables::pairwise::task_table;
use reasonscape_analysis::{Pairwise, RatingOrder};

/// The parameters of this page.
pub(super) const NAMES: [&str; 8] = ["eval", "mode", "task", "params", "filter", "a", "b", "sort"];
/// With more models than this, the picker is collapsed.
const MAX_UNFOLDED: usize = 16;

#[derive(Serialize)]
struct Page {
    modes: Vec<EstimatorGroup>,
    evals: Vec<Choice>,
    tasks: Vec<Choice>,
    params: String,
    filters: Vec<String>,
    /// The compared evaluations, in words.
    compared: String,
    are_few: bool,
    /// The URL without filters.
    clear: Option<String>,
    matrix: Option<Matrix>,
    /// URLs of the table sorted by rating and by expected wins.
    sort_links: [String; 2],
    is_by_wins: bool,
    /// The probability that A is better than B, by pair and task.
    task_win_rates: Option<PlainTable>,
    /// Models that can't be distinguished, as a table.
    model_sets: Option<PlainTable>,
    pair: Option<PairView>,
    /// The ids of the pair, if the URL names them.
    named: Named,
    remarks: Vec<String>,
    problem: Option<String>,
    pair_problem: Option<String>,
}

#[derive(Serialize)]
struct Named {
    a: Option<String>,
    b: Option<String>,
}

pub(crate) async fn page(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri).only(&NAMES);
    let mode = mode(&query, Mode::C_P)?;
    let study = app.study().await;
    // An error in the query is shown next to the form.
    let (who, problem) = or_message(comparison::compared_evals(&study.analyses, &query).await)?;
    let (contest, contest_problem) = or_message(comparison::pairwise(&study.analyses, &query).await)?;
    let problem = problem.or(contest_problem);
    let order = comparison::rating_order(&query)?;
    let contest = contest.map(|contest| Pairwise::clone(&contest).sorted(order));
    let sorted_by = |name: Option<&str>| format!("{}/compare{}", app.base, query.with("sort", name));
    let (pair, pair_problem) =
        if problem.is_none() { or_message(pair::view(&app, &study, &query).await)? } else { (None, None) };
    // Without trials there are no paired tests, and the section is left out.
    let (sets, _) = or_message(comparison::model_sets(&study.analyses, &query).await)?;
    let mut remarks = contest.as_ref().map(Pairwise::remarks).unwrap_or_default();
    remarks.extend(pair.as_ref().map(|pair| pair.remarks.clone()).unwrap_or_default());
    let page = Page {
        modes: estimator_groups(mode),
        evals: evals(&study.analyses.db, who.as_ref()),
        tasks: tasks(&study.analyses.db, &query),
        params: query.get("params").unwrap_or_default().to_owned(),
        filters: query.all("filter").map(ToOwned::to_owned).collect(),
        compared: who.as_ref().map_or_else(String::new, |who| summary(who, &study)),
        are_few: study.analyses.db.evals().len() <= MAX_UNFOLDED,
        clear: (query != Query::default()).then(|| format!("{}/compare", app.base)),
        sort_links: [sorted_by(None), sorted_by(Some("expected-wins"))],
        is_by_wins: order == RatingOrder::ExpectedWins,
        task_win_rates: contest.as_ref().map(|contest| PlainTable::from(&task_table(contest))),
        matrix: contest.map(|contest| {
            let chosen = pair.as_ref().map(|pair| &pair.ids);
            Matrix::new(&contest, chosen, &app, &query)
        }),
        model_sets: sets.map(|sets| PlainTable::from(&display_table(&sets))),
        named: Named { a: query.get("a").map(ToOwned::to_owned), b: query.get("b").map(ToOwned::to_owned) },
        pair,
        remarks,
        problem,
        pair_problem,
    };
    render(&app, "compare.html", "Compare", &study.remarks, &page)
}

/// A result, or the message of a client error.
fn or_message<T>(found: Result<T, ApiError>) -> Result<(Option<T>, Option<String>), ApiError> {
    match found {
        Ok(found) => Ok((Some(found), None)),
        Err(problem) if problem.status.is_client_error() => Ok((None, Some(problem.message))),
        Err(problem) => Err(problem),
    }
}

/// All evaluations as options; the compared ones are chosen.
fn evals(db: &PointsDb, who: Option<&ComparedEvals>) -> Vec<Choice> {
    let choice = |id: &String| Choice {
        value: id.clone(),
        shown: eval_label(db, id),
        is_chosen: who.is_some_and(|who| who.ids.contains(id)),
    };
    db.evals().iter().map(|eval| choice(&eval.eval_id)).collect()
}

fn summary(who: &ComparedEvals, study: &Snapshot) -> String {
    let all = study.analyses.db.evals().len();
    match (who.best_of, who.ids.len()) {
        (Some(of), _) => format!("the best {MAX_EVALS} of {of} by ReasonScore; select others below"),
        (None, some) if some == all => format!("all {all} evaluations"),
        (None, some) => format!("{some} of {all} evaluations"),
    }
}
