//! The Explorer page: accuracy by two parameters of a task, by each of them, and the thresholds.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use reasonscape_stats::{Event, Mode};
use serde::Serialize;

use super::choices::Choice;
use super::estimator_picker::{EstimatorGroup, estimator_groups};
use super::model_picker::ModelPicker;
use super::render;
use crate::analysis_cache::AnalysisCache;
use crate::app::App;
use crate::chart::{ChartView, NeedsChartCsp, percent_interval, percent_text, tooltip, trials_of};
use crate::error::ApiError;
use crate::figures::{projection_figure, projection_views, threshold_rows};
use crate::params::{AnalysisQuery, mode};
use crate::query_string::Query;
use reasonscape_analysis::tables::{surface, threshold};
use reasonscape_analysis::{
    AccuracyGrid, AccuracyGridAxis, AccuracyGridCell, Parameter, TaskParameters, ThresholdRow,
    accuracy_interval_name, accuracy_label, projection_finding, surface_range, threshold_figure,
};

/// The parameters of this page.
const NAMES: [&str; 6] = ["task", "part", "x", "y", "eval", "mode"];
/// Steps of the color scale.
const STEPS: f64 = 10.0;
/// A cell with a smaller proportion of truncated responses is not marked.
const MIN_TRUNCATION_RATE: f64 = 0.005;

#[derive(Serialize)]
struct Page {
    tasks: Vec<Choice>,
    parts: Vec<Choice>,
    x_choices: Vec<Choice>,
    y_choices: Vec<Choice>,
    modes: Vec<EstimatorGroup>,
    /// What the estimates are called.
    accuracy: &'static str,
    accuracy_interval: String,
    models: ModelPicker,
    task: String,
    /// Errors in the query.
    problems: Vec<String>,
    /// Why there are no parameters to show.
    no_parameters: Option<String>,
    trials: String,
    #[serde(flatten)]
    results: Results,
}

/// The results for a task; empty if there is nothing to show.
#[derive(Serialize, Default)]
struct Results {
    surfaces: Vec<Surface>,
    /// Why there are no surfaces.
    no_surface: Option<String>,
    /// Notes on the surfaces.
    remarks: Vec<String>,
    projection: Option<ChartView>,
    projection_findings: Vec<String>,
    thresholds: Option<ChartView>,
    threshold_findings: Vec<String>,
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
    estimate: String,
    interval: String,
    value: f64,
    low: f64,
    high: f64,
    tooltip: String,
    href: String,
    truncated: Option<String>,
}

/// The parameters of a request, with defaults where it names none, or none that the study has.
struct ExplorerParams {
    task: String,
    /// The manifold; `None` for all of them.
    part: Option<String>,
    parts: Vec<String>,
    parameters: Vec<Parameter>,
    x: Option<String>,
    y: Option<String>,
    mode: Mode,
}

pub(crate) async fn page(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri).only(&NAMES);
    let study = app.study().await;
    let analyses = &study.analyses;
    let all = analyses.parameters(&[]).await?;
    let params = parse_params(analyses, &all, &query).await?;
    let models = ModelPicker::from_query(analyses, &query, Some(&params.task), params.mode, u64::MAX).await?;
    let no_parameters = no_parameters_reason(&params, analyses);
    let results = if no_parameters.is_none() && !models.ids.is_empty() {
        results(&app.base, analyses, &params, &models.ids).await?
    } else {
        Results::default()
    };
    let page = Page {
        tasks: all.iter().map(|task| name_choice(&task.task, task.task == params.task)).collect(),
        parts: parts(&params),
        x_choices: axis_choices(&params, params.x.as_ref(), None),
        y_choices: axis_choices(&params, params.y.as_ref(), params.x.as_ref()),
        modes: estimator_groups(params.mode),
        accuracy: accuracy_label(params.mode.name()),
        accuracy_interval: accuracy_interval_name(params.mode.name(), 0.95),
        models,
        task: params.task.clone(),
        problems: unknown_task(&all, &query).into_iter().collect(),
        no_parameters,
        trials: format!("{}/trials{}", app.base, Query::default().with("task", Some(&params.task))),
        results,
    };
    let mut response = render(&app, "explorer.html", "Explorer", &study.remarks, &page)?;
    response.extensions_mut().insert(NeedsChartCsp);
    Ok(response)
}

/// Reads the parameters of a request. The default is the first task with several varying parameters.
async fn parse_params(
    analyses: &AnalysisCache,
    all: &[TaskParameters],
    query: &Query,
) -> Result<ExplorerParams, ApiError> {
    let requested = query.get("task");
    let requested = all.iter().find(|task| Some(task.task.as_str()) == requested);
    let first = all.iter().find(|task| task.parameters.len() > 1);
    let first = first.or_else(|| all.iter().find(|task| !task.parameters.is_empty())).or(all.first());
    let task = requested.or(first).ok_or_else(|| ApiError::bad_request("the study has no points yet"))?;
    let part = query.get("part").filter(|part| task.manifolds.iter().any(|known| known == part));
    let narrowed = match part {
        Some(part) => {
            analyses.parameters(&[format!("base_task={}", task.task), format!("manifold={part}")]).await?
        }
        None => Arc::default(),
    };
    let parameters = narrowed.first().map_or(&task.parameters, |task| &task.parameters);
    // Parameters left over from another task are ignored.
    let known = |name: &&str| parameters.iter().any(|parameter| parameter.name == **name);
    let x = query.get("x").filter(known);
    let y = query.get("y").filter(known).filter(|y| Some(*y) != x);
    let mut free = parameters.iter().map(|parameter| parameter.name.as_str());
    let x = x.or_else(|| free.clone().find(|name| Some(*name) != y));
    let y = y.or_else(|| free.find(|name| Some(*name) != x));
    Ok(ExplorerParams {
        task: task.task.clone(),
        part: part.map(ToOwned::to_owned),
        parts: task.manifolds.clone(),
        parameters: parameters.clone(),
        x: x.map(ToOwned::to_owned),
        y: y.map(ToOwned::to_owned),
        mode: mode(query, Mode::C_P)?,
    })
}

/// The error for an unknown task.
fn unknown_task(all: &[TaskParameters], query: &Query) -> Option<String> {
    let name = query.get("task").filter(|name| !all.iter().any(|task| task.task == **name))?;
    Some(format!("unknown task `{name}`; select one below"))
}

fn name_choice(name: &str, is_chosen: bool) -> Choice {
    Choice { value: name.to_owned(), shown: name.to_owned(), is_chosen }
}

/// The parameters that an axis can show: all but that of the other axis.
fn axis_choices(params: &ExplorerParams, chosen: Option<&String>, other: Option<&String>) -> Vec<Choice> {
    let offered = params.parameters.iter().filter(|parameter| Some(&parameter.name) != other);
    offered
        .map(|parameter| Choice {
            value: parameter.name.clone(),
            shown: format!("{} ({} values)", parameter.name, parameter.values.len()),
            is_chosen: Some(&parameter.name) == chosen,
        })
        .collect()
}

/// The parts of the suite that the task has, if there are several.
fn parts(params: &ExplorerParams) -> Vec<Choice> {
    if params.parts.len() < 2 {
        return Vec::new();
    }
    let all = Choice { value: String::new(), shown: "all".to_owned(), is_chosen: params.part.is_none() };
    let part = |name: &String| name_choice(name, Some(name) == params.part.as_ref());
    [all].into_iter().chain(params.parts.iter().map(part)).collect()
}

fn no_parameters_reason(params: &ExplorerParams, analyses: &AnalysisCache) -> Option<String> {
    params.parameters.is_empty().then(|| {
        let tasks: std::collections::BTreeSet<&str> =
            analyses.db.sources().iter().map(|source| source.task.as_str()).collect();
        let others = if tasks.len() > 1 { " Other tasks may have varying parameters." } else { "" };
        format!(
            "No parameter of {} varies: all its trials have the same difficulty, as in a dataset.{others}",
            params.task
        )
    })
}

/// The API query for this task, these models and these parameters.
fn api_query(params: &ExplorerParams, ids: &[String], parameters: &[&str]) -> Query {
    let mut pairs = vec![("task", params.task.as_str()), ("mode", params.mode.name())];
    pairs.extend(ids.iter().map(|id| ("eval", id.as_str())));
    pairs.extend(parameters.iter().map(|name| ("x", *name)));
    let filter = params.part.as_ref().map(|part| format!("manifold={part}"));
    pairs.extend(filter.iter().map(|filter| ("filter", filter.as_str())));
    Query::from_pairs(&pairs)
}

async fn results(
    base: &str,
    analyses: &AnalysisCache,
    params: &ExplorerParams,
    ids: &[String],
) -> Result<Results, ApiError> {
    let (surfaces, remarks) = surfaces(base, analyses, params, ids).await?;
    let no_surface = (params.x.is_none() || params.y.is_none())
        .then(|| format!("{} has only one varying parameter; a surface needs two.", params.task));
    let (projection, projection_findings) = projection(base, analyses, params, ids).await?;
    let (thresholds, threshold_findings) = thresholds(base, analyses, params, ids).await?.unzip();
    Ok(Results {
        surfaces,
        no_surface,
        remarks,
        projection: Some(projection),
        projection_findings,
        thresholds,
        threshold_findings: threshold_findings.unwrap_or_default(),
    })
}

/// The surfaces of the models over both parameters, with notes on them.
async fn surfaces(
    base: &str,
    analyses: &AnalysisCache,
    params: &ExplorerParams,
    ids: &[String],
) -> Result<(Vec<Surface>, Vec<String>), ApiError> {
    let (mut surfaces, mut notes) = (Vec::new(), Vec::new());
    let (Some(x), Some(y)) = (&params.x, &params.y) else { return Ok((surfaces, notes)) };
    let query = api_query(params, ids, &[]);
    let filters: Vec<&str> = query.all("filter").collect();
    let selected = AnalysisQuery::from_query(&query)?;
    for view in &analyses.surface(&selected, Some(x), Some(y)).await?.grids {
        surfaces.extend(cells_by_model(view, ids).map(|cells| surface(base, view, cells, &filters)));
        notes.extend(surface_notes(view, params.mode));
    }
    Ok((surfaces, notes))
}

/// Accuracy along each parameter, with findings.
async fn projection(
    base: &str,
    analyses: &AnalysisCache,
    params: &ExplorerParams,
    ids: &[String],
) -> Result<(ChartView, Vec<String>), ApiError> {
    let names: Vec<&str> = params.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    let query = api_query(params, ids, &names);
    let views = projection_views(analyses, &query).await?;
    let mut findings: Vec<String> = views.iter().filter_map(projection_finding).collect();
    findings.extend(views.iter().filter(|view| !view.mixed.is_empty()).map(confounding_note));
    let chart = ChartView::new(
        projection_figure(analyses, &query, &views).await?,
        "projection",
        format!("{base}/api/v1/figures/projection{query}"),
        Some(&surface::display_table(&views)),
    );
    Ok((chart, findings))
}

/// The thresholds along each numeric parameter, with findings; `None` without such a parameter.
async fn thresholds(
    base: &str,
    analyses: &AnalysisCache,
    params: &ExplorerParams,
    ids: &[String],
) -> Result<Option<(ChartView, Vec<String>)>, ApiError> {
    let numeric = params.parameters.iter().filter(|parameter| parameter.is_numeric);
    let numeric: Vec<&str> = numeric.map(|parameter| parameter.name.as_str()).collect();
    if numeric.is_empty() {
        return Ok(None);
    }
    let query = api_query(params, ids, &numeric);
    let rows = threshold_rows(analyses, &query).await?;
    let finding = |row: &ThresholdRow| format!("{} along {}: {}", row.label, row.parameter, row.finding);
    let chart = ChartView::new(
        threshold_figure(&rows, AnalysisQuery::from_query(&query)?.confidence.level()),
        "threshold",
        format!("{base}/api/v1/figures/threshold{query}"),
        Some(&threshold::display_table(&rows)),
    );
    Ok(Some((chart, rows.iter().map(finding).collect())))
}

/// The cells of each model, in the order of `ids`.
fn cells_by_model<'v>(
    view: &'v AccuracyGrid,
    ids: &'v [String],
) -> impl Iterator<Item = &'v [AccuracyGridCell]> {
    let all = view.by_eval();
    ids.iter().filter_map(move |id| {
        all.iter().find(|cells| cells.iter().any(|cell| cell.eval.eval_id == *id)).copied()
    })
}

fn surface(base: &str, view: &AccuracyGrid, cells: &[AccuracyGridCell], filters: &[&str]) -> Surface {
    let [x, y] = [&view.axes[0], &view.axes[1]];
    let values =
        |axis: &AccuracyGridAxis| -> Vec<String> { axis.values.iter().map(ToString::to_string).collect() };
    let at = |column: usize, row: usize| {
        cells
            .iter()
            .find(|cell| cell.value_indices == [column, row])
            .and_then(|cell| heat_cell(base, view, cell, filters))
    };
    let names = values(y);
    let rows = names.iter().enumerate().rev().map(|(index, name)| Row {
        name: name.clone(),
        cells: (0..x.values.len()).map(|column| at(column, index)).collect(),
    });
    let first = cells.first();
    Surface {
        eval_id: first.map_or(String::new(), |cell| cell.eval.eval_id.clone()),
        label: first.map_or(String::new(), |cell| cell.label.clone()),
        x: x.parameter.clone(),
        y: y.parameter.clone(),
        columns: values(x),
        rows: rows.collect(),
        finding: surface_range(view, cells).map_or_else(
            || "no significant differences between cells".to_owned(),
            |range| format!("ranges {range}"),
        ),
    }
}

/// The accuracy of a cell; `None` without an estimate.
fn heat_cell(base: &str, view: &AccuracyGrid, cell: &AccuracyGridCell, filters: &[&str]) -> Option<HeatCell> {
    let estimate = &cell.estimate;
    let point = estimate.point?;
    let truncation_rate = cell.n_t as f64 / cell.n.max(1) as f64;
    let is_marked = cell.truncation_known && truncation_rate >= MIN_TRUNCATION_RATE;
    Some(HeatCell {
        step: (point * STEPS).round().clamp(0.0, STEPS) as u8,
        estimate: percent_text(point),
        interval: percent_interval(estimate),
        value: point,
        low: estimate.low,
        high: estimate.high,
        tooltip: format!("{}: {}", view.coordinates(&cell.value_indices), tooltip(cell, view.mode)),
        href: trials_of(base, view, cell, filters),
        truncated: is_marked.then(|| format!("{:.0} % truncated", 100.0 * truncation_rate)),
    })
}

/// Notes on the cells.
fn surface_notes(view: &AccuracyGrid, mode: Mode) -> Vec<String> {
    let mut remarks = vec![format!(
        "Cells show the {}, estimated by {mode}, with its {}.",
        accuracy_label(mode.name()),
        accuracy_interval_name(mode.name(), 0.95)
    )];
    if !view.pooled.is_empty() {
        remarks.push(format!("Each cell pools all values of {}.", view.pooled.join(", ")));
    }
    if !view.mixed.is_empty() {
        remarks.push(confounding_note(view));
    }
    if view.cells.iter().any(|cell| cell.is_near_chance) {
        let calibrated = Mode { event: Event::Calibrated, ..mode };
        remarks
            .push(format!("Near chance these intervals are too narrow; {calibrated} gives calibrated ones."));
    }
    let empty = view.cells.iter().filter(|cell| cell.n == 0).count();
    if empty > 0 {
        remarks
            .push(format!("{empty} cells have no trials yet; `reasonscape run` sends the missing requests."));
    }
    remarks
}

fn confounding_note(view: &AccuracyGrid) -> String {
    let axes: Vec<&str> = view.axes.iter().map(|axis| axis.parameter.as_str()).collect();
    let change = if view.mixed.len() == 1 { "changes" } else { "change" };
    format!(
        "{} {change} together with {}: the effects can't be separated.",
        view.mixed.join(", "),
        axes.join(" and ")
    )
}
