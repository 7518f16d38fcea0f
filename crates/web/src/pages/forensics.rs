//! The Forensics page: tokens before an answer, what a smaller token limit would give, and repetition loops.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use reasonscape_stats::Mode;
use serde::Serialize;

use super::choices::Choice;
use super::model_picker::ModelPicker;
use super::{PlainTable, render};
use crate::analysis_cache::KEEP;
use crate::app::{App, Snapshot};
use crate::chart::{ChartView, NeedsChartCsp};
use crate::error::ApiError;
use crate::params::{AnalysisQuery, by};
use crate::query_string::Query;
use crate::trial_lookup::trial_href;
use crate::trial_query::TrialName;
use reasonscape_analysis::tables::compression::CompressionMeasure;
use reasonscape_analysis::tables::{self, Table};
use reasonscape_analysis::{
    CompressionRow, GroupBy, HazardRow, TokensRow, VarianceRow, compression_figure, hazard_figure,
    histogram_figure, tokens_figure,
};

/// The parameters of this page.
const NAMES: [&str; 3] = ["task", "eval", "by"];
/// Maximum number of trials to read by default; takes about a second.
const MAX_TRIALS: u64 = 150_000;
/// Number of example loops.
const EXAMPLES: usize = 6;
/// Further findings are collapsed.
const MAX_FINDINGS: usize = 8;

#[derive(Serialize)]
struct Page {
    tasks: Vec<Choice>,
    by: Vec<Choice>,
    models: ModelPicker,
    problems: Vec<String>,
    /// Why there is nothing to show.
    empty_reason: Option<String>,
    sections: Vec<Section>,
    loops: Vec<Loop>,
}

/// A section: its text, its figures and its findings.
#[derive(Serialize)]
struct Section {
    id: &'static str,
    title: &'static str,
    text: &'static str,
    figures: Vec<ChartView>,
    tables: Vec<PlainTable>,
    findings: Vec<String>,
    more_findings: Vec<String>,
    remarks: Vec<String>,
}

/// A trial with a repetition loop.
#[derive(Serialize)]
struct Loop {
    href: String,
    description: String,
    words: Option<String>,
}

pub(crate) async fn page(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri).only(&NAMES);
    let study = app.study().await;
    let all: BTreeSet<&str> = study.analyses.db.sources().iter().map(|source| source.task.as_str()).collect();
    let mut problems = Vec::new();
    let task = query.get("task").filter(|task| {
        let is_known = all.contains(task);
        if !is_known {
            problems.push(format!("unknown task `{task}`; all tasks are shown"));
        }
        is_known
    });
    let by = by(&query, GroupBy::Eval)?;
    let models = ModelPicker::from_query(&study.analyses, &query, task, Mode::C_P, MAX_TRIALS).await?;
    let mut tasks = vec![Choice { value: String::new(), shown: "all".to_owned(), is_chosen: task.is_none() }];
    tasks.extend(all.iter().map(|other| Choice {
        value: (*other).to_owned(),
        shown: (*other).to_owned(),
        is_chosen: Some(*other) == task,
    }));
    let row = |value: &str, shown: &str, group_by: GroupBy| Choice {
        value: value.to_owned(),
        shown: shown.to_owned(),
        is_chosen: group_by == by,
    };
    let mut page = Page {
        tasks,
        by: vec![row("eval", "all tasks pooled", GroupBy::Eval), row("task", "by task", GroupBy::Task)],
        problems,
        empty_reason: None,
        sections: Vec::new(),
        loops: Vec::new(),
        models,
    };
    if page.models.ids.is_empty() {
        page.empty_reason = Some("The study has no trials yet.".to_owned());
    } else {
        add_sections(&app, &study, task, by, &mut page).await?;
    }
    let mut response = render(&app, "forensics.html", "Forensics", &study.remarks, &page)?;
    response.extensions_mut().insert(NeedsChartCsp);
    Ok(response)
}

async fn add_sections(
    app: &App,
    study: &Snapshot,
    task: Option<&str>,
    by: GroupBy,
    page: &mut Page,
) -> Result<(), ApiError> {
    let mut pairs: Vec<(&str, &str)> = page.models.ids.iter().map(|id| ("eval", id.as_str())).collect();
    pairs.extend(task.map(|task| ("task", task)));
    pairs.push(("by", if by == GroupBy::Eval { "eval" } else { "task" }));
    let query = Query::from_pairs(&pairs);
    let selected = AnalysisQuery::from_query(&query)?;
    let chart = |figure, id: &'static str, table: Option<&Table>| {
        ChartView::new(figure, id, format!("{}/api/v1/figures/{id}{query}", app.base), table)
    };
    let hazard = study.analyses.hazard(&selected, by, None).await?;
    if hazard.iter().all(|row| row.n == 0) {
        page.empty_reason = Some(
            "No trial has a token count: there are no responses yet, or they were imported from a log without token counts."
                .to_owned(),
        );
    } else {
        let tokens = study.analyses.tokens(&selected, by, None, &[]).await?;
        page.sections.push(hazard_section(
            &hazard,
            vec![
                chart(
                    hazard_figure(&hazard, selected.confidence),
                    "hazard",
                    Some(&tables::hazard::display_table(&hazard)),
                ),
                chart(histogram_figure(&hazard), "histogram", None),
            ],
        ));
        page.sections.push(token_section(
            &tokens,
            chart(
                tokens_figure(&tokens, selected.confidence),
                "tokens",
                Some(&tables::tokens::display_table(&tokens, KEEP)),
            ),
        ));
    }
    let variance = study.analyses.variance(&selected, by).await?;
    if variance.iter().any(|row| row.samples > 1) {
        page.sections.push(variance_section(&variance));
    }
    let compression = study.analyses.compression(&selected, by, None, EXAMPLES).await?;
    if !compression.rows.is_empty() {
        let figure = compression_figure(&compression, |ended| ended.bits_per_token, "bits per token");
        page.sections.push(loop_section(
            &compression.rows,
            chart(
                figure,
                "compression",
                Some(&tables::compression::display_table(&compression, CompressionMeasure::Bits)),
            ),
        ));
        page.loops = compression
            .examples
            .iter()
            .map(|example| Loop {
                href: trial_href(
                    app,
                    &TrialName {
                        eval_id: example.eval_id.clone(),
                        base_task: example.task.clone(),
                        params: example.params.clone(),
                        index: example.index,
                        repeat: example.repeat,
                    },
                    &Query::default(),
                ),
                description: format!(
                    "{} on {}: {:.2} bits per token over {} tokens, {}",
                    example.label,
                    example.task,
                    example.bits_per_token,
                    example.completion_tokens,
                    example.status
                ),
                words: example.words.clone(),
            })
            .collect();
    }
    Ok(())
}

fn findings(all: impl Iterator<Item = (String, String)>) -> (Vec<String>, Vec<String>) {
    let mut shown: Vec<String> = all.map(|(title, finding)| format!("{title}: {finding}")).collect();
    let more = shown.split_off(shown.len().min(MAX_FINDINGS));
    (shown, more)
}

fn without_tokens_note(count: u64) -> Option<String> {
    (count > 0).then(|| match count {
        1 => "One trial without a token count is excluded.".to_owned(),
        count => format!("{count} trials without a token count are excluded."),
    })
}

fn hazard_section(rows: &[HazardRow], figures: Vec<ChartView>) -> Section {
    let (findings, more_findings) = findings(rows.iter().map(|row| (row.group.title(), row.finding.clone())));
    let mut remarks = Vec::new();
    if rows.iter().any(|row| row.stops_helping.is_some()) {
        remarks.push(
            "Late answers may be less accurate because hard problems take longer; select one task to reduce this effect."
                .to_owned(),
        );
    }
    remarks.extend(without_tokens_note(rows.iter().map(|row| row.without_tokens).sum()));
    Section {
        id: "thinking",
        title: "Response length and accuracy",
        text: "The number of tokens that a model uses before it answers, and whether late answers are less accurate. \
               Truncated trials are treated as censored at the number of tokens they used.",
        figures,
        tables: Vec::new(),
        findings,
        more_findings,
        remarks,
    }
}

fn token_section(rows: &[TokensRow], figure: ChartView) -> Section {
    let (findings, more_findings) = findings(rows.iter().map(|row| (row.group.title(), row.finding.clone())));
    Section {
        id: "token-limit",
        title: "Accuracy by token limit",
        text: "The outcomes under smaller token limits. They are counted, not modeled: a smaller limit truncates the \
               trials that used more tokens and doesn't change the others.",
        figures: vec![figure],
        tables: Vec::new(),
        findings,
        more_findings,
        remarks: without_tokens_note(rows.iter().map(|row| row.without_tokens).sum()).into_iter().collect(),
    }
}

fn variance_section(rows: &[VarianceRow]) -> Section {
    let (findings, more_findings) = findings(rows.iter().map(|row| (row.group.title(), row.finding.clone())));
    Section {
        id: "repeats",
        title: "Repeated samples",
        text: "Several samples of each problem: whether more problems or more samples would narrow the confidence intervals, \
               the probability that at least one (pass@k) or all (pass^k) of k samples are correct, and the majority vote \
               (maj@k). Intervals count the samples of one problem as one cluster.",
        figures: Vec::new(),
        tables: [tables::variance::display_table(rows), tables::variance::display_pass_table(rows)]
            .iter()
            .map(PlainTable::from)
            .collect(),
        findings,
        more_findings,
        remarks: Vec::new(),
    }
}

fn loop_section(rows: &[CompressionRow], figure: ChartView) -> Section {
    let (findings, more_findings) = findings(rows.iter().map(|row| (row.group.title(), row.finding.clone())));
    let (known, all) =
        (rows.iter().map(|row| row.loops.of).sum::<u64>(), rows.iter().map(|row| row.n).sum::<u64>());
    let unknown = (known < all).then(|| {
        format!("{} trials have no bits per token: no token count, or no text to compress.", all - known)
    });
    Section {
        id: "loops",
        title: "Repetition loops",
        text: "The information content of responses: their gzip-compressed size, in bits per token. A long trial with \
               very few bits per token is a repetition loop.",
        figures: vec![figure],
        tables: Vec::new(),
        findings,
        more_findings,
        remarks: unknown.into_iter().collect(),
    }
}
