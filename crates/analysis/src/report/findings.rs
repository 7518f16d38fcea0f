//! Findings: only differences that are significant after correction.

use reasonscape_points::{PointsDb, PointsError};
use reasonscape_stats::multiple_testing::holm;
use reasonscape_stats::paired::Verdict;
use reasonscape_stats::{Assumption, Interval, Mode};

use super::Block;
use crate::error::AnalysisError;
use crate::{Comparison, Leaderboard, PointQuery, Ties, compare};

/// Adjacent pairs to compare, from the top of the leaderboard.
const MAX_NEIGHBORS: usize = 10;
/// Significance level.
const LEVEL: f64 = 0.05;
/// A proportion of truncated responses above which a score should be read with care.
const HIGH_TRUNCATION_RATE: f64 = 0.05;

/// The findings, strongest first.
pub(super) async fn findings(
    db: &PointsDb,
    query: &PointQuery,
    board: &Leaderboard,
    mode: Mode,
) -> Result<Vec<Block>, AnalysisError> {
    let mut found = vec![leader(board)];
    let mut comparisons = Vec::new();
    for pair in board.rows.windows(2).take(MAX_NEIGHBORS) {
        let [a, b] = [&pair[0].eval.eval_id, &pair[1].eval.eval_id];
        match compare(db, query, [a, b], mode).await {
            Ok(comparison) => comparisons.push(comparison),
            // They have no problem in common.
            Err(PointsError::InvalidQuery(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    found.extend(neighbor_findings(&comparisons));
    found.extend(truncation_findings(board));
    if board.rows.len() == 1 {
        return Ok(vec![Block::List(found)]);
    }
    let intro = format!(
        "Adjacent models on the leaderboard are compared on the problems that both answered (sign-flip test), and \
         p-values are corrected for the number of comparisons (Holm, {:.0} %). Differences that are not significant \
         are not listed.",
        100.0 * LEVEL
    );
    Ok(vec![Block::List(found), Block::Text(intro)])
}

/// The leader, or the tied leaders.
fn leader(board: &Leaderboard) -> String {
    let first = &board.rows[0];
    let score = first.reason_score;
    let score = format!("{:.0} ({} {})", score.estimate, score.interval_name(), score.interval_label());
    let tied: Vec<&str> =
        board.rows.iter().filter(|row| row.rank_best == 1).map(|row| row.label.as_str()).collect();
    match tied.as_slice() {
        _ if board.rows.len() == 1 => {
            format!("{} has a ReasonScore of {score}.", first.label)
        }
        [only] => {
            let reason = match board.ties {
                Ties::Paired => "it is better than every other model on the problems that both answered",
                Ties::V2 => "no other interval (v2) overlaps its own",
            };
            format!("{only} ranks first with a ReasonScore of {score}; {reason}.")
        }
        several => {
            let reason = match board.ties {
                Ties::Paired => "no other model is better on the problems that both answered",
                Ties::V2 => "their ReasonScore intervals (v2) overlap",
            };
            format!("{} are tied for first place: {reason}.", join_with_and(several))
        }
    }
}

/// The differences that are significant after correction, and how many are not.
fn neighbor_findings(comparisons: &[Comparison]) -> Vec<String> {
    let p: Vec<f64> = comparisons.iter().map(Comparison::p).collect();
    let Ok(adjusted) = holm(&p) else { return Vec::new() };
    let mut found: Vec<String> = comparisons
        .iter()
        .zip(&adjusted)
        .filter(|(comparison, p)| **p < LEVEL && comparison.verdict != Verdict::CannotTell)
        .map(|(comparison, p)| {
            let p = if *p < 0.001 { "< 0.001".to_owned() } else { format!("= {p:.3}") };
            format!(
                "{} on the {} problems that both answered (p {p} after Holm correction).",
                comparison.finding, comparison.pairs
            )
        })
        .collect();
    let ties = comparisons.len() - found.len();
    if ties > 0 {
        let verb = if ties == 1 { "shows" } else { "show" };
        found.push(format!(
            "Of {} adjacent pairs, {ties} {verb} no significant difference.",
            comparisons.len()
        ));
    }
    found
}

/// Models whose truncation rate is above [`HIGH_TRUNCATION_RATE`] with 95 % confidence; many are listed in one sentence.
fn truncation_findings(board: &Leaderboard) -> Vec<String> {
    const MAX: usize = 5;
    let counting = match board.mode.assumption {
        Assumption::Independence => "truncated responses are ignored in scores",
        Assumption::Pessimism => "truncated responses count as failures in scores",
        Assumption::Optimism => "truncated responses count as passed in scores",
    };
    let truncated: Vec<(&str, f64, Interval)> = board
        .rows
        .iter()
        .filter_map(|row| {
            let interval = row.truncation.filter(|interval| interval.low > HIGH_TRUNCATION_RATE)?;
            Some((row.label.as_str(), interval.point?, interval))
        })
        .collect();
    if truncated.len() > MAX {
        let labels: Vec<&str> = truncated.iter().map(|(label, ..)| *label).collect();
        let lowest = |value: fn(&(&str, f64, Interval)) -> f64| {
            100.0 * truncated.iter().map(value).fold(f64::INFINITY, f64::min)
        };
        let highest = |value: fn(&(&str, f64, Interval)) -> f64| {
            100.0 * truncated.iter().map(value).fold(0.0, f64::max)
        };
        return vec![format!(
            "In {} of {} evaluations, {:.0} to {:.0} % of responses are truncated by the token limit (95 % CIs from {:.0} to \
             {:.0} %; {counting}): {}.",
            truncated.len(),
            board.rows.len(),
            lowest(|(_, rate, _)| *rate),
            highest(|(_, rate, _)| *rate),
            lowest(|(.., interval)| interval.low),
            highest(|(.., interval)| interval.high),
            join_with_and(&labels)
        )];
    }
    let describe = |(label, rate, interval): &(&str, f64, Interval)| {
        format!(
            "{label}: {:.0} % of responses are truncated by the token limit (95 % CI {:.0} to {:.0} %; {counting}).",
            100.0 * rate,
            100.0 * interval.low,
            100.0 * interval.high
        )
    };
    truncated.iter().map(describe).collect()
}

/// `a`, `a and b`, `a, b and c`; of many only the first few.
fn join_with_and(names: &[&str]) -> String {
    const MAX: usize = 5;
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        names if names.len() > MAX => {
            format!("{} and {} more", names[..MAX].join(", "), names.len() - MAX)
        }
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::join_with_and;

    #[test]
    fn joins_names_with_and_and_truncates() {
        assert_eq!(join_with_and(&["a"]), "a");
        assert_eq!(join_with_and(&["a", "b"]), "a and b");
        assert_eq!(join_with_and(&["a", "b", "c"]), "a, b and c");
        assert_eq!(join_with_and(&["a", "b", "c", "d", "e", "f", "g"]), "a, b, c, d, e and 2 more");
    }
}
