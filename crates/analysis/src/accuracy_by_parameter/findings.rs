//! What views show, in words.

use super::{AccuracyGrid, AccuracyGridCell};
use crate::join_truncated;

/// From where to where an evaluation goes on a task, with both their names.
pub fn surface_finding(view: &AccuracyGrid, cells: &[AccuracyGridCell]) -> Option<String> {
    let label = &cells.first()?.label;
    Some(format!("{label} on {}: {}", view.task, surface_range(view, cells)?))
}

/// From where to where an evaluation goes, if its intervals tell any two places apart.
pub fn surface_range(view: &AccuracyGrid, cells: &[AccuracyGridCell]) -> Option<String> {
    let known = || cells.iter().filter(|cell| cell.estimate.point.is_some());
    let best = known().max_by(|a, b| a.estimate.low.total_cmp(&b.estimate.low))?;
    let worst = known().min_by(|a, b| a.estimate.high.total_cmp(&b.estimate.high))?;
    let said = |cell: &AccuracyGridCell| {
        format!("{:.2} ± {:.2} at {}", cell.estimate.center, cell.estimate.margin, view.place(&cell.places))
    };
    (best.estimate.low > worst.estimate.high).then(|| format!("from {} to {}", said(best), said(worst)))
}

/// Where evaluations stand at the last value as against the first.
pub fn projection_finding(view: &AccuracyGrid) -> Option<String> {
    let last = view.axes[0].values.len().checked_sub(1).filter(|last| *last > 0)?;
    let [mut lower, mut higher, mut unclear] = [Vec::new(), Vec::new(), Vec::new()];
    for cells in view.by_eval() {
        let at = |place: usize| cells.iter().find(|cell| cell.places[0] == place && cell.n > 0);
        let (Some(start), Some(end)) = (at(0), at(last)) else { continue };
        let list = if start.estimate.low > end.estimate.high {
            &mut lower
        } else if start.estimate.high < end.estimate.low {
            &mut higher
        } else {
            &mut unclear
        };
        list.push(start.label.clone());
    }
    let parts: Vec<String> =
        [("falls for", lower), ("rises for", higher), ("shows no clear change for", unclear)]
            .into_iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(word, names)| format!("{word} {}", join_truncated(&names)))
            .collect();
    let ends = [view.place(&[0]), view.place(&[last])];
    (!parts.is_empty())
        .then(|| format!("on {}, from {} to {}, accuracy {}", view.task, ends[0], ends[1], parts.join("; ")))
}
