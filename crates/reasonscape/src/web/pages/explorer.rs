//! Where a model breaks: accuracy over two parameters of a task, along each of them, and the frontiers.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use reasonscape_points::PointsDb;
use reasonscape_stats::{Event, Mode};
use serde::Serialize;

use super::leaderboard::{Family, families};
use super::models::{Choice, Chosen};
use super::render;
use crate::analysis::{
    Parameter, View, ViewAxis, ViewCell, frontier_figure, projection_finding, surface_range,
};
use crate::cli::{frontiers_for_people, views_for_people};
use crate::web::analysis_cache::Part;
use crate::web::api::analyses::{fronts, projected, projections};
use crate::web::api::mode;
use crate::web::app::{App, Snapshot};
use crate::web::chart::{Charted, Drawn, told, trials_of};
use crate::web::error::Problem;
use crate::web::query_string::Query;
use crate::web::sanitize::visible;

/// What stands in an address that belongs to this page.
const NAMES: [&str; 6] = ["task", "part", "x", "y", "eval", "mode"];
/// Steps of the scale of colours.
const STEPS: f64 = 10.0;
/// A cell with a smaller share of answers that were cut off is not marked.
const WORTH_MARKING: f64 = 0.005;

#[derive(Serialize)]
struct Page {
    tasks: Vec<Choice>,
    parts: Vec<Choice>,
    xs: Vec<Choice>,
    ys: Vec<Choice>,
    modes: Vec<Family>,
    models: Chosen,
    task: String,
    /// What is wrong with the address.
    problems: Vec<String>,
    /// Why there is nothing to look along.
    flat: Option<String>,
    surfaces: Vec<Surface>,
    /// Why there are no surfaces.
    line: Option<String>,
    /// What a reader of the surfaces has to know.
    remarks: Vec<String>,
    projection: Option<Drawn>,
    projection_findings: Vec<String>,
    frontier: Option<Drawn>,
    frontier_findings: Vec<String>,
    trials: String,
}

/// One model over two parameters.
#[derive(Serialize)]
struct Surface {
    eval_id: String,
    label: String,
    x: String,
    y: String,
    columns: Vec<String>,
    /// The largest value of the vertical parameter is at the top, as on an axis.
    rows: Vec<Row>,
    finding: String,
}

#[derive(Serialize)]
struct Row {
    name: String,
    cells: Vec<Option<HeatCell>>,
}

#[derive(Serialize)]
struct HeatCell {
    step: u8,
    center: String,
    margin: String,
    value: f64,
    low: f64,
    high: f64,
    said: String,
    href: String,
    cut: Option<String>,
}

/// What an address asks of this page, with what it leaves open decided.
struct Wish {
    task: String,
    /// The manifold; none is the whole task.
    part: Option<String>,
    parts: Vec<String>,
    parameters: Vec<Parameter>,
    x: Option<String>,
    y: Option<String>,
    mode: Mode,
}

pub(in crate::web) async fn page(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    let query = Query::of(&uri).only(&NAMES);
    let study = app.study().await;
    let mut problems = Vec::new();
    let (wish, tasks) = wish(&study, &query, &mut problems).await?;
    let models = Chosen::of(&study, &query, Some(&wish.task), wish.mode, u64::MAX).await?;
    let axis = |chosen: &Option<String>, other: &Option<String>| -> Vec<Choice> {
        let offered = wish.parameters.iter().filter(|parameter| Some(&parameter.name) != other.as_ref());
        offered
            .map(|parameter| Choice {
                value: parameter.name.clone(),
                shown: visible(&format!("{} ({} values)", parameter.name, parameter.values.len()))
                    .into_owned(),
                is_chosen: Some(&parameter.name) == chosen.as_ref(),
            })
            .collect()
    };
    let mut page = Page {
        xs: axis(&wish.x, &None),
        ys: axis(&wish.y, &wish.x),
        tasks,
        parts: parts(&wish),
        modes: families(wish.mode),
        task: visible(&wish.task).into_owned(),
        problems,
        flat: flat(&wish, &study),
        surfaces: Vec::new(),
        line: None,
        remarks: Vec::new(),
        projection: None,
        projection_findings: Vec::new(),
        frontier: None,
        frontier_findings: Vec::new(),
        trials: format!("{}/trials{}", app.base, Query::default().with("task", Some(&wish.task))),
        models,
    };
    if page.flat.is_none() && !page.models.ids.is_empty() {
        fill(&app, &study, &wish, &mut page).await?;
    }
    let mut response = render(&app, "explorer.html", "Explorer", &study.remarks, &page)?;
    response.extensions_mut().insert(Charted);
    Ok(response)
}

/// Decides what is shown. What an address names and the study lacks is said, and left out.
async fn wish(
    study: &Snapshot,
    query: &Query,
    problems: &mut Vec<String>,
) -> Result<(Wish, Vec<Choice>), Problem> {
    let all = study.parameters(&[]).await?;
    let asked = query.get("task");
    let named = all.iter().find(|task| Some(task.task.as_str()) == asked);
    if let (Some(task), None) = (asked, named) {
        problems.push(format!("there is no task `{task}`; choose one of those below"));
    }
    // Of a study, the task that has most to look at.
    let first = all.iter().find(|task| task.parameters.len() > 1);
    let first = first.or_else(|| all.iter().find(|task| !task.parameters.is_empty())).or(all.first());
    let task = named.or(first).ok_or_else(|| Problem::wrong("the study has no points yet"))?;
    let part = query.get("part").filter(|part| task.manifolds.iter().any(|known| known == part));
    let narrowed = match part {
        Some(part) => {
            study.parameters(&[format!("base_task={}", task.task), format!("manifold={part}")]).await?
        }
        None => Arc::default(),
    };
    let parameters = narrowed.first().map_or(&task.parameters, |task| &task.parameters);
    // Parameters of a task that was chosen before are no mistake: they are left behind with it.
    let known = |name: &&str| parameters.iter().any(|parameter| parameter.name == **name);
    let x = query.get("x").filter(known);
    let y = query.get("y").filter(known).filter(|y| Some(*y) != x);
    let mut free = parameters.iter().map(|parameter| parameter.name.as_str());
    let x = x.or_else(|| free.clone().find(|name| Some(*name) != y));
    let y = y.or_else(|| free.find(|name| Some(*name) != x));
    let tasks = all
        .iter()
        .map(|other| Choice {
            value: other.task.clone(),
            shown: visible(&other.task).into_owned(),
            is_chosen: other.task == task.task,
        })
        .collect();
    let wish = Wish {
        task: task.task.clone(),
        part: part.map(ToOwned::to_owned),
        parts: task.manifolds.clone(),
        parameters: parameters.clone(),
        x: x.map(ToOwned::to_owned),
        y: y.map(ToOwned::to_owned),
        mode: mode(query, Mode::C_P)?,
    };
    Ok((wish, tasks))
}

/// The parts of the suite that the task has, if there are several.
fn parts(wish: &Wish) -> Vec<Choice> {
    if wish.parts.len() < 2 {
        return Vec::new();
    }
    let whole =
        Choice { value: String::new(), shown: "all of them".to_owned(), is_chosen: wish.part.is_none() };
    let part = |name: &String| Choice {
        value: name.clone(),
        shown: visible(name).into_owned(),
        is_chosen: Some(name) == wish.part.as_ref(),
    };
    [whole].into_iter().chain(wish.parts.iter().map(part)).collect()
}

fn flat(wish: &Wish, study: &Snapshot) -> Option<String> {
    wish.parameters.is_empty().then(|| {
        let tasks: std::collections::BTreeSet<&str> =
            study.db.sources().iter().map(|source| source.task.as_str()).collect();
        let others = if tasks.len() > 1 { " Another task may have some." } else { "" };
        format!(
            "No parameter of {} varies: all its trials are at one level of difficulty, as those of a dataset are, so \
             that there is nothing to look along.{others}",
            visible(&wish.task)
        )
    })
}

/// The address that says the same to the API: this task, these models, and these parameters.
fn address(wish: &Wish, ids: &[String], along: &[&str]) -> Query {
    let mut pairs = vec![("task", wish.task.as_str()), ("mode", wish.mode.name())];
    pairs.extend(ids.iter().map(|id| ("eval", id.as_str())));
    pairs.extend(along.iter().map(|name| ("x", *name)));
    let filter = wish.part.as_ref().map(|part| format!("manifold={part}"));
    pairs.extend(filter.iter().map(|filter| ("filter", filter.as_str())));
    Query::from_pairs(&pairs)
}

async fn fill(app: &App, study: &Snapshot, wish: &Wish, page: &mut Page) -> Result<(), Problem> {
    let ids = page.models.ids.clone();
    let here = address(wish, &ids, &[]);
    let part = Part::of(&here)?;
    let filters: Vec<&str> = here.all("filter").collect();
    let level = part.confidence.level();
    match (&wish.x, &wish.y) {
        (Some(x), Some(y)) => {
            let found = study.surface(&part, Some(x), Some(y)).await?;
            for view in &found.views {
                page.surfaces
                    .extend(in_order(view, &ids).map(|cells| surface(&app.base, view, cells, &filters)));
                page.remarks.extend(remarks(view, wish.mode));
            }
        }
        _ => {
            page.line =
                Some(format!("{} has one parameter that varies; a surface takes two.", visible(&wish.task)));
        }
    }
    let names: Vec<&str> = wish.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    let query = address(wish, &ids, &names);
    let views = projections(study, &query).await?;
    page.projection_findings = views.iter().filter_map(projection_finding).collect();
    page.projection_findings.extend(views.iter().filter(|view| !view.mixed.is_empty()).map(mixed));
    page.projection = Some(Drawn::of(
        projected(study, &query, &views).await?,
        "projection",
        format!("{}/api/v1/figures/projection{query}", app.base),
        Some(&views_for_people(&views)),
    ));
    let numeric = wish.parameters.iter().filter(|parameter| parameter.is_numeric);
    let numeric: Vec<&str> = numeric.map(|parameter| parameter.name.as_str()).collect();
    if !numeric.is_empty() {
        let query = address(wish, &ids, &numeric);
        let rows = fronts(study, &query).await?;
        page.frontier_findings = rows
            .iter()
            .map(|row| {
                visible(&format!("{} along {}: {}", row.label, row.parameter, row.finding)).into_owned()
            })
            .collect();
        page.frontier = Some(Drawn::of(
            frontier_figure(&rows, level),
            "frontier",
            format!("{}/api/v1/figures/frontier{query}", app.base),
            Some(&frontiers_for_people(&rows)),
        ));
    }
    Ok(())
}

/// The cells of each model, in the order in which these are chosen.
fn in_order<'v>(view: &'v View, ids: &'v [String]) -> impl Iterator<Item = &'v [ViewCell]> {
    let all = view.by_eval();
    ids.iter().filter_map(move |id| {
        all.iter().find(|cells| cells.iter().any(|cell| cell.eval.eval_id == *id)).copied()
    })
}

fn surface(base: &str, view: &View, cells: &[ViewCell], filters: &[&str]) -> Surface {
    let [x, y] = [&view.axes[0], &view.axes[1]];
    let values = |axis: &ViewAxis| -> Vec<String> {
        axis.values.iter().map(|value| visible(&value.to_string()).into_owned()).collect()
    };
    let at = |column: usize, row: usize| {
        cells.iter().find(|cell| cell.places == [column, row]).map(|cell| heat(base, view, cell, filters))
    };
    let names = values(y);
    let rows = names.iter().enumerate().rev().map(|(place, name)| Row {
        name: name.clone(),
        cells: (0..x.values.len()).map(|column| at(column, place)).collect(),
    });
    let first = cells.first();
    Surface {
        eval_id: first.map_or(String::new(), |cell| cell.eval.eval_id.clone()),
        label: first.map_or(String::new(), |cell| visible(&cell.label).into_owned()),
        x: visible(&x.parameter).into_owned(),
        y: visible(&y.parameter).into_owned(),
        columns: values(x),
        rows: rows.collect(),
        finding: surface_range(view, cells).map_or_else(
            || "cannot tell any two places apart".to_owned(),
            |range| format!("goes {}", visible(&range)),
        ),
    }
}

fn heat(base: &str, view: &View, cell: &ViewCell, filters: &[&str]) -> HeatCell {
    let estimate = &cell.estimate;
    let cut_off = cell.n_t as f64 / cell.n.max(1) as f64;
    let is_marked = cell.truncation_known && cut_off >= WORTH_MARKING;
    HeatCell {
        step: (estimate.center * STEPS).round().clamp(0.0, STEPS) as u8,
        center: format!("{:.0}", 100.0 * estimate.center),
        margin: format!("{:.0}", (100.0 * estimate.margin).max(1.0)),
        value: estimate.center,
        low: estimate.low,
        high: estimate.high,
        said: visible(&format!("{}: {}", view.place(&cell.places), told(cell))).into_owned(),
        href: trials_of(base, view, cell, filters),
        cut: is_marked.then(|| format!("{:.0} % truncated", 100.0 * cut_off)),
    }
}

/// What a reader of the cells has to know.
fn remarks(view: &View, mode: Mode) -> Vec<String> {
    let mut remarks = vec![format!("Accuracy is by {mode}, with its 95 % interval.")];
    if !view.pooled.is_empty() {
        remarks.push(format!("Each cell pools all values of {}.", view.pooled.join(", ")));
    }
    if !view.mixed.is_empty() {
        remarks.push(mixed(view));
    }
    if view.cells.iter().any(|cell| cell.is_near_chance) {
        let calibrated = Mode { event: Event::Calibrated, ..mode };
        remarks.push(format!(
            "Near chance these intervals are too narrow; {calibrated} gives bounds that hold."
        ));
    }
    let empty = view.cells.iter().filter(|cell| cell.n == 0).count();
    if empty > 0 {
        remarks.push(format!("{empty} cells have no trial yet; `reasonscape run` asks for them."));
    }
    remarks.iter().map(|remark| visible(remark).into_owned()).collect()
}

fn mixed(view: &View) -> String {
    let axes: Vec<&str> = view.axes.iter().map(|axis| axis.parameter.as_str()).collect();
    let change = if view.mixed.len() == 1 { "changes" } else { "change" };
    let said = format!(
        "{} {change} along with {}: what is seen may come of either.",
        view.mixed.join(", "),
        axes.join(" and ")
    );
    visible(&said).into_owned()
}

/// What tables call an evaluation.
pub(super) fn label(db: &PointsDb, eval_id: &str) -> String {
    visible(&super::trials::label(db, eval_id)).into_owned()
}
