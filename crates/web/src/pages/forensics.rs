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
use super::render;
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
    CompressionRow, GroupBy, HazardRow, TokensRow, compression_figure, hazard_figure, histogram_figure,
    tokens_figure,
};

/// The parameters of this page.
const NAMES: [&str; 3] = ["task", "eval", "by"];
/// Trials that are read unless the reader chooses models: about a second's worth.
const MAX_TRIALS: u64 = 150_000;
/// Examples of loops.
const EXAMPLES: usize = 6;
/// Findings beyond these are folded.
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
            problems.push(format!("there is no task `{task}`; these are all of them together"));
        }
        is_known
    });
    let by = by(&query, GroupBy::Eval)?;
    let models = ModelPicker::from_query(&study.analyses, &query, task, Mode::C_P, MAX_TRIALS).await?;
    let mut tasks =
        vec![Choice { value: String::new(), shown: "all of them".to_owned(), is_chosen: task.is_none() }];
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
        by: vec![row("eval", "tasks together", GroupBy::Eval), row("task", "each task apart", GroupBy::Task)],
        problems,
        empty_reason: None,
        sections: Vec::new(),
        loops: Vec::new(),
        models,
    };
    if page.models.ids.is_empty() {
        page.empty_reason = Some("No model was tried yet.".to_owned());
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
            "No trial has a count of tokens: nothing was answered yet, or it was imported from a log that has none."
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
        1 => "One trial without a count of tokens is left out.".to_owned(),
        count => format!("{count} trials without a count of tokens are left out."),
    })
}

fn hazard_section(rows: &[HazardRow], figures: Vec<ChartView>) -> Section {
    let (findings, more_findings) = findings(rows.iter().map(|row| (row.group.title(), row.finding.clone())));
    let mut remarks = Vec::new();
    if rows.iter().any(|row| row.stops_helping.is_some()) {
        remarks.push(
            "Late answers may be worse because hard tests take longer; one task compares more like with like."
                .to_owned(),
        );
    }
    remarks.extend(without_tokens_note(rows.iter().map(|row| row.without_tokens).sum()));
    Section {
        id: "thinking",
        title: "Thinking longer",
        text: "How many tokens a model uses before it answers, and whether late answers are worse. A trial that was cut \
               off would have answered later, nobody knows when: it counts as thinking for as long as it was watched.",
        figures,
        findings,
        more_findings,
        remarks,
    }
}

fn token_section(rows: &[TokensRow], figure: ChartView) -> Section {
    let (findings, more_findings) = findings(rows.iter().map(|row| (row.group.title(), row.finding.clone())));
    Section {
        id: "buying",
        title: "What tokens buy",
        text: "What a smaller token limit would have given. It is counted, not modelled: a smaller limit cuts off the \
               trials that used more and leaves the others as they are.",
        figures: vec![figure],
        findings,
        more_findings,
        remarks: without_tokens_note(rows.iter().map(|row| row.without_tokens).sum()).into_iter().collect(),
    }
}

fn loop_section(rows: &[CompressionRow], figure: ChartView) -> Section {
    let (findings, more_findings) = findings(rows.iter().map(|row| (row.group.title(), row.finding.clone())));
    let (known, all) =
        (rows.iter().map(|row| row.loops.of).sum::<u64>(), rows.iter().map(|row| row.n).sum::<u64>());
    let unknown = (known < all).then(|| {
        format!("{} trials have no bits per token: no tokens counted, or nothing to compress.", all - known)
    });
    Section {
        id: "circles",
        title: "Going round in circles",
        text: "How much is new in a token: what a model says, compressed by gzip, in bits per token. A long trial with \
               hardly any is a loop.",
        figures: vec![figure],
        findings,
        more_findings,
        remarks: unknown.into_iter().collect(),
    }
}
