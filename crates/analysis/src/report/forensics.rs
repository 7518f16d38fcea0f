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

/// The proportion of correct answers that a smaller token limit should keep.
const KEEP: f64 = 0.95;

/// The sections that need single trials; a study that only has counters has none of them.
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
                "Completion tokens until a model answers, as survival curves. Truncated trials have no answer and are \
                 censored at their token limit.",
            ),
            Block::Figure(Box::new(hazard_figure(&rows, confidence))),
            findings_list(rows.iter().map(|row| (&row.group.label, &row.finding))),
        ];
        blocks.extend(top.remark("hazard"));
        sections.push(Section { id: "hazard", title: "Tokens to an answer", blocks });
    }
    let options = TokensOptions { by: GroupBy::Eval, estimator, keep: KEEP, budgets: Vec::new() };
    if let Some(rows) = if_available(tokens(db, query, &options).await)?
        && rows.iter().any(|row| row.n > 0)
    {
        let mut blocks = vec![
            Block::text(
                "Accuracy with a smaller token limit. This is counted, not modeled: a smaller limit truncates the trials \
                 that used more tokens and doesn't change the others.",
            ),
            Block::Figure(Box::new(tokens_figure(&rows, confidence))),
            findings_list(rows.iter().map(|row| (&row.group.label, &row.finding))),
        ];
        blocks.extend(top.remark("tokens"));
        sections.push(Section { id: "tokens", title: "Accuracy by token limit", blocks });
    }
    let options = CompressionOptions { by: GroupBy::Eval, confidence, loop_bits: None, examples: 0 };
    if let Some(found) = if_available(compression(db, query, options).await)? {
        let figure = compression_figure(&found, |ended| ended.bits_per_token, "bits per token");
        let mut blocks = vec![
            Block::text(
                "Information per token: the gzip-compressed size of the model's output, in bits per token. A long trial \
                 with very few bits per token is a repetition loop.",
            ),
            Block::Figure(Box::new(figure)),
            findings_list(found.rows.iter().map(|row| (&row.group.label, &row.finding))),
        ];
        blocks.extend(top.remark("compression"));
        sections.push(Section { id: "compression", title: "Repetition loops", blocks });
    }
    Ok(sections)
}

/// One finding per evaluation.
fn findings_list<'a>(findings: impl Iterator<Item = (&'a String, &'a String)>) -> Block {
    Block::List(findings.map(|(label, finding)| format!("{label}: {finding}.")).collect())
}
