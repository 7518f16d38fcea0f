//! Findings on accuracy by parameter.

use super::{AccuracyGrid, AccuracyGridCell};
use crate::join_truncated;

/// The range of accuracies of an evaluation on a task, with both names.
pub fn surface_finding(grid: &AccuracyGrid, cells: &[AccuracyGridCell]) -> Option<String> {
    let label = &cells.first()?.label;
    Some(format!("{label} on {}: {}", grid.task, surface_range(grid, cells)?))
}

/// The range of accuracies of an evaluation, if any two of its intervals don't overlap.
pub fn surface_range(grid: &AccuracyGrid, cells: &[AccuracyGridCell]) -> Option<String> {
    let known = || cells.iter().filter(|cell| cell.estimate.point.is_some());
    let best = known().max_by(|a, b| a.estimate.low.total_cmp(&b.estimate.low))?;
    let worst = known().min_by(|a, b| a.estimate.high.total_cmp(&b.estimate.high))?;
    let describe = |cell: &AccuracyGridCell| {
        Some(format!("{} at {}", cell.estimate.to_text(3)?, grid.coordinates(&cell.value_indices)))
    };
    if best.estimate.low <= worst.estimate.high {
        return None;
    }
    Some(format!("from {} to {}", describe(best)?, describe(worst)?))
}

/// How accuracy changes from the first value to the last.
pub fn projection_finding(grid: &AccuracyGrid) -> Option<String> {
    let last = grid.axes[0].values.len().checked_sub(1).filter(|last| *last > 0)?;
    let [mut lower, mut higher, mut unclear] = [Vec::new(), Vec::new(), Vec::new()];
    for cells in grid.by_eval() {
        let at = |index: usize| cells.iter().find(|cell| cell.value_indices[0] == index && cell.n > 0);
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
        [("falls for", lower), ("rises for", higher), ("shows no significant change for", unclear)]
            .into_iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(word, names)| format!("{word} {}", join_truncated(&names)))
            .collect();
    let ends = [grid.coordinates(&[0]), grid.coordinates(&[last])];
    (!parts.is_empty())
        .then(|| format!("on {}, from {} to {}, accuracy {}", grid.task, ends[0], ends[1], parts.join("; ")))
}
