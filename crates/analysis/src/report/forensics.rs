//! How models fail: time to an answer, token limits and repetition loops.

use reasonscape_points::{Estimator, PointsDb};
use reasonscape_stats::Mode;

use super::selection::TopModels;
use super::{Block, Section, if_available};
use crate::error::AnalysisError;
use crate::{
    CompressionOptions, GroupBy, HazardOptions, TokensOptions, compression, compression_figure, hazard,
    hazard_figure, tokens, tokens_figure,
};

/// The share of correct answers that a smaller token limit should keep.
const KEEP: f64 = 0.95;

/// The sections for which the trials were stored; a study of counters alone has none of them.
pub(super) async fn forensics(
    db: &PointsDb,
    top: &TopModels,
    mode: Mode,
) -> Result<Vec<Section>, AnalysisError> {
    let query = &top.query;
    let estimator = Estimator::from(mode);
    let confidence = estimator.confidence;
    let mut sections = Vec::new();
    let options = HazardOptions { by: GroupBy::Eval, width: None, confidence };
    if let Some(rows) = if_available(hazard(db, query, options).await)?
        && rows.iter().any(|row| row.n > 0)
    {
        let mut blocks = vec![
            Block::text(
                "How many tokens a model uses before it answers. A trial that was cut off would have answered later, \
                 nobody knows when: it counts as thinking for as long as it was watched.",
            ),
            Block::Figure(Box::new(hazard_figure(&rows, confidence))),
            findings_list(rows.iter().map(|row| (&row.group.label, &row.finding))),
        ];
        blocks.extend(top.remark("hazard"));
        sections.push(Section { id: "hazard", title: "Thinking longer", blocks });
    }
    let options = TokensOptions { by: GroupBy::Eval, estimator, keep: KEEP, budgets: Vec::new() };
    if let Some(rows) = if_available(tokens(db, query, &options).await)?
        && rows.iter().any(|row| row.n > 0)
    {
        let mut blocks = vec![
            Block::text(
                "What a smaller token limit would have given. It is counted, not modelled: a smaller limit cuts off the \
                 trials that used more and leaves the others as they are.",
            ),
            Block::Figure(Box::new(tokens_figure(&rows, confidence))),
            findings_list(rows.iter().map(|row| (&row.group.label, &row.finding))),
        ];
        blocks.extend(top.remark("tokens"));
        sections.push(Section { id: "tokens", title: "What tokens buy", blocks });
    }
    let options = CompressionOptions { by: GroupBy::Eval, confidence, loop_bits: None, examples: 0 };
    if let Some(found) = if_available(compression(db, query, options).await)? {
        let figure = compression_figure(&found, |ended| ended.bits_per_token, "bits per token");
        let mut blocks = vec![
            Block::text(
                "How much is new in a token: what a model says, compressed by gzip, in bits per token. A long trial with \
                 hardly any is a loop.",
            ),
            Block::Figure(Box::new(figure)),
            findings_list(found.rows.iter().map(|row| (&row.group.label, &row.finding))),
        ];
        blocks.extend(top.remark("compression"));
        sections.push(Section { id: "compression", title: "Going round in circles", blocks });
    }
    Ok(sections)
}

/// What was found of each.
fn findings_list<'a>(findings: impl Iterator<Item = (&'a String, &'a String)>) -> Block {
    Block::List(findings.map(|(label, finding)| format!("{label}: {finding}.")).collect())
}
