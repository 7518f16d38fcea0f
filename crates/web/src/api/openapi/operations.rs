//! Every operation of the API: its route, and its description in the OpenAPI document.

use std::sync::Arc;

use axum::handler::Handler;
use axum::routing::{self, MethodRouter};
use reasonscape_analysis::{
    AccuracyGrid, AggregateRow, Comparison, Compression, EvalSummary, HazardRow, ModelSets, Pairwise,
    PointSummary, TaskSummary, ThresholdRow, TokensRow, VarianceRow,
};
use schemars::generate::SchemaGenerator;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

use super::parameters::{
    A, B, BUDGET, BY, COLUMNS, CONFIDENCE, CONTESTANTS, DATASET, DISAGREEMENT, EVAL, EVALS, EXAMPLES,
    FIGURE_X, FILTER, FIRST, GROUP_BY, KEEP, KIND, LIMIT, LITERAL, LOOP_BITS, METHOD, MODE, MODES, OFFSET,
    PARAMS, Parameter, RATING_SORT, REPEAT, RIGHT, RUN, SCORE_METHOD, SEED, SET_BY, STATUS, SURFACE_Y, TASK,
    TASKS, TEXT, TIES, TRIAL_EVAL, TRIAL_INDEX, TRIAL_POINT, TRIAL_TASK, UPLOAD_NAME, WIDTH, X,
};
use crate::api::analyses::Chart;
use crate::api::comparison::Differences;
use crate::api::{self, Board, TrialDetail, Trials, analyses, comparison};
use crate::app::App;
use crate::response::{EVENTS, JSON};
use crate::runs::api as runs_api;
use crate::runs::{CreateRunRequest, Plan, RunReply, Uploaded};

/// The prefix of all paths, below the base path of the server.
pub(crate) const ROOT: &str = "/api/v1";

/// One method of one path.
pub(crate) struct Operation {
    pub(crate) path: &'static str,
    pub(crate) handler: MethodRouter<Arc<App>>,
    pub(super) method: &'static str,
    pub(super) summary: &'static str,
    pub(super) parameters: &'static [Parameter],
    /// The body of the request, and whether it is required.
    pub(super) body: Option<(Body, bool)>,
    /// Status code and description of the reply.
    pub(super) success: (u16, &'static str),
    pub(super) reply: Option<Body>,
    /// Status codes of errors; 401 is common to all operations.
    pub(super) errors: &'static [u16],
    pub(super) is_deprecated: bool,
}

/// The media type and the schema of a request or reply.
type Body = (&'static str, fn(&mut SchemaGenerator) -> Schema);

/// `errors` of operations whose parameters can be invalid.
const INVALID: &[u16] = &[400];

fn operation(
    (method, path): (&'static str, &'static str),
    summary: &'static str,
    handler: MethodRouter<Arc<App>>,
) -> Operation {
    Operation {
        path,
        handler,
        method,
        summary,
        parameters: &[],
        body: None,
        success: (200, "The result."),
        reply: None,
        errors: &[],
        is_deprecated: false,
    }
}

fn get<H: Handler<T, Arc<App>>, T: 'static>(
    path: &'static str,
    summary: &'static str,
    handler: H,
) -> Operation {
    operation(("get", path), summary, routing::get(handler))
}

fn post<H: Handler<T, Arc<App>>, T: 'static>(
    path: &'static str,
    summary: &'static str,
    handler: H,
) -> Operation {
    operation(("post", path), summary, routing::post(handler))
}

fn delete<H: Handler<T, Arc<App>>, T: 'static>(
    path: &'static str,
    summary: &'static str,
    handler: H,
) -> Operation {
    let operation = operation(("delete", path), summary, routing::delete(handler));
    Operation { success: (204, "Deleted."), ..operation }
}

impl Operation {
    fn parameters(self, parameters: &'static [Parameter]) -> Self {
        Self { parameters, ..self }
    }

    fn body(self, body: Body, is_required: bool) -> Self {
        Self { body: Some((body, is_required)), ..self }
    }

    fn reply(self, body: Body) -> Self {
        Self { reply: Some(body), ..self }
    }

    fn json<T: JsonSchema>(self) -> Self {
        self.reply(json::<T>())
    }

    fn success(self, status: u16, description: &'static str) -> Self {
        Self { success: (status, description), ..self }
    }

    fn errors(self, errors: &'static [u16]) -> Self {
        Self { errors, ..self }
    }

    fn deprecated(self) -> Self {
        Self { is_deprecated: true, ..self }
    }
}

fn json<T: JsonSchema>() -> Body {
    (JSON, |generator| generator.subschema_for::<T>())
}

/// All operations.
pub(super) fn all() -> impl Iterator<Item = Operation> {
    study().into_iter().chain(runs()).chain(uploads()).chain(description())
}

/// The results of a study.
pub(crate) fn study() -> Vec<Operation> {
    let mut operations = vec![
        get("/leaderboard", "ReasonScores with confidence intervals and ranks", api::leaderboard)
            .parameters(&[FIRST, MODE, LITERAL, SCORE_METHOD, TIES, FILTER])
            .json::<Board<'_>>()
            .errors(INVALID),
        get("/evals", "Evaluations and their numbers of trials", api::evals)
            .parameters(&[FIRST, MODE, LITERAL, FILTER])
            .json::<Vec<EvalSummary>>()
            .errors(INVALID),
        get("/tasks", "Tasks and their numbers of trials", api::tasks)
            .parameters(&[FIRST, MODE, LITERAL, FILTER])
            .json::<Vec<TaskSummary>>()
            .errors(INVALID),
        get("/points", "Points with counters and estimates", api::points)
            .parameters(&[FIRST, MODE, LITERAL, FILTER])
            .json::<Vec<PointSummary>>()
            .errors(INVALID),
        get("/aggregate", "Points pooled by any columns, with any estimators", api::aggregate)
            .parameters(&[FIRST, GROUP_BY, MODES, LITERAL, FILTER])
            .json::<Vec<AggregateRow>>()
            .errors(INVALID),
        get("/pairwise", "Pairwise win rates and ratings", comparison::pairwise)
            .parameters(&[FIRST, CONTESTANTS, METHOD, SEED, RATING_SORT, MODE, TASKS, PARAMS, FILTER])
            .json::<Pairwise>()
            .errors(INVALID),
        get("/compare", "Two evaluations on the problems that both answered", comparison::compare)
            .parameters(&[FIRST, A, B, MODE, TASKS, PARAMS, FILTER])
            .json::<Comparison>()
            .errors(INVALID),
        get("/cluster", "Sets of models that can't be distinguished", comparison::model_sets)
            .parameters(&[FIRST, CONTESTANTS, SET_BY, TASKS, PARAMS, FILTER])
            .json::<ModelSets>()
            .errors(INVALID),
        get("/differences", "Problems with different outcomes for two evaluations", comparison::differences)
            .parameters(&[FIRST, A, B, DISAGREEMENT, RIGHT, TASKS, PARAMS, FILTER, OFFSET, LIMIT])
            .json::<Differences<'_>>()
            .errors(INVALID),
        get("/trials", "Trials by evaluation, task, parameters, index and repeat", api::trials)
            .parameters(&[FIRST, EVAL, TASK, STATUS, TEXT, PARAMS, FILTER, OFFSET, LIMIT])
            .json::<Trials<'_>>()
            .errors(INVALID),
        get("/trials/{eval}/{task}/{point}/{index}", "One trial with its prompt and reply", api::trial)
            .parameters(&[
                FIRST,
                TRIAL_EVAL,
                TRIAL_TASK,
                TRIAL_POINT,
                TRIAL_INDEX,
                REPEAT,
                EVAL,
                TASK,
                STATUS,
                TEXT,
                PARAMS,
                FILTER,
            ])
            .json::<TrialDetail<'_>>()
            .errors(&[400, 404]),
        get("/surface", "Accuracy by two parameters, as `reasonscape analyze surface`", analyses::surface)
            .parameters(&[FIRST, X, SURFACE_Y, MODE, CONFIDENCE, EVALS, TASKS, FILTER])
            .json::<Vec<AccuracyGrid>>()
            .errors(INVALID),
        get(
            "/projection",
            "Accuracy by one parameter, as `reasonscape analyze projection`",
            analyses::projection,
        )
        .parameters(&[FIRST, X, MODE, CONFIDENCE, EVALS, TASKS, FILTER])
        .json::<Vec<AccuracyGrid>>()
        .errors(INVALID),
        get(
            "/threshold",
            "Values of a parameter at which accuracy is one half, as `reasonscape analyze threshold`",
            analyses::threshold,
        )
        .parameters(&[FIRST, X, MODE, CONFIDENCE, EVALS, TASKS, FILTER])
        .json::<Vec<ThresholdRow>>()
        .errors(INVALID),
        get("/frontier", "Former path of `/threshold`", analyses::threshold) // wording: allow
            .parameters(&[FIRST, X, MODE, CONFIDENCE, EVALS, TASKS, FILTER])
            .json::<Vec<ThresholdRow>>()
            .errors(INVALID)
            .deprecated(),
    ];
    operations.extend(trial_analyses());
    operations
}

/// Analyses of single trials, and the figures of all analyses.
fn trial_analyses() -> Vec<Operation> {
    vec![
        get("/hazard", "Tokens to an answer, as `reasonscape analyze hazard`", analyses::hazard)
            .parameters(&[FIRST, WIDTH, CONFIDENCE, EVALS, TASKS, FILTER, BY])
            .json::<Vec<HazardRow>>()
            .errors(INVALID),
        get("/tokens", "Outcomes of smaller token limits, as `reasonscape analyze tokens`", analyses::tokens)
            .parameters(&[FIRST, KEEP, BUDGET, MODE, CONFIDENCE, EVALS, TASKS, FILTER, BY])
            .json::<Vec<TokensRow>>()
            .errors(INVALID),
        get(
            "/variance",
            "Variance between problems and samples, pass@k and pass^k, as `reasonscape analyze variance`",
            analyses::variance,
        )
        .parameters(&[FIRST, CONFIDENCE, EVALS, TASKS, FILTER, BY])
        .json::<Vec<VarianceRow>>()
        .errors(INVALID),
        get(
            "/compression",
            "Compressed sizes and repetition loops, as `reasonscape analyze compression`",
            analyses::compression,
        )
        .parameters(&[FIRST, LOOP_BITS, EXAMPLES, CONFIDENCE, EVALS, TASKS, FILTER, BY])
        .json::<Compression>()
        .errors(INVALID),
        get(
            "/figures/{kind}",
            "The figure of an analysis for plotly; takes the parameters of the analysis",
            analyses::figure,
        )
        .parameters(&[FIRST, KIND, FIGURE_X, SURFACE_Y, COLUMNS, MODE, CONFIDENCE, EVALS, TASKS, FILTER, BY])
        .json::<Chart>()
        .errors(&[400, 404]),
    ]
}

/// Runs and datasets.
pub(crate) fn runs() -> Vec<Operation> {
    vec![
        get("/runs", "Runs, latest first", runs_api::list).json::<runs_api::RunList<'_>>(),
        post("/runs", "Create a run; requests are sent only once it is started", runs_api::create)
            .body(json::<CreateRunRequest>(), true)
            .json::<RunReply<'_>>()
            .success(201, "The run.")
            .errors(&[400, 403, 409]),
        get("/runs/{name}", "The current state of a run", runs_api::get)
            .parameters(&[RUN])
            .json::<RunReply<'_>>()
            .errors(&[404]),
        delete("/runs/{name}", "Delete a run with its responses and results", runs_api::delete)
            .parameters(&[RUN])
            .errors(&[403, 404, 409]),
        get("/runs/{name}/plan", "The requests that a start would send, and their cost", runs_api::plan)
            .parameters(&[RUN])
            .json::<Plan>()
            .errors(&[400, 404]),
        post("/runs/{name}/start", "Start or resume a run", runs_api::start)
            .parameters(&[RUN])
            .body(json::<runs_api::Start>(), false)
            .json::<RunReply<'_>>()
            .success(202, "The run.")
            .errors(&[400, 403, 404, 409]),
        post(
            "/runs/{name}/cancel",
            "Stop a run; a second call doesn't wait for requests in flight",
            runs_api::cancel,
        )
        .parameters(&[RUN])
        .json::<RunReply<'_>>()
        .success(202, "The run.")
        .errors(&[403, 404, 409]),
        get(
            "/runs/{name}/events",
            "A run as it changes: server-sent events `progress`, then `end`",
            runs_api::events,
        )
        .parameters(&[RUN])
        .reply((EVENTS, |generator| generator.subschema_for::<String>()))
        .success(200, "Events, each with the run as JSON.")
        .errors(&[404, 503]),
        get("/datasets", "Uploaded datasets", runs_api::datasets).json::<runs_api::DatasetList>(),
        delete("/datasets/{name}", "Delete a dataset; runs keep their copies", runs_api::delete_dataset)
            .parameters(&[DATASET])
            .errors(&[403, 404]),
    ]
}

/// Operations with larger request bodies.
pub(crate) fn uploads() -> Vec<Operation> {
    vec![
        post("/datasets", "Upload a dataset; the body is the file", runs_api::upload)
            .parameters(&[UPLOAD_NAME])
            .body(("application/octet-stream", |_| Schema::default()), true)
            .json::<Uploaded>()
            .success(201, "The stored dataset.")
            .errors(&[400, 403, 413, 507]),
    ]
}

/// The description of the API itself.
pub(crate) fn description() -> Vec<Operation> {
    vec![get("/openapi.json", "This document", super::openapi).json::<Map<String, Value>>()]
}
