//! Accuracy along the parameters of each task, thresholds, and models that perform similarly.

use reasonscape_points::{Estimator, PointsDb};
use reasonscape_stats::Mode;
use reasonscape_stats::cluster::Linkage;

use super::selection::TopModels;
use super::{Block, Section, if_available};
use crate::error::AnalysisError;
use crate::tables::{Cell, Table};
use crate::{
    AxisSelection, ThresholdRow, accuracy_grids, accuracy_interval_name, cluster_models, projection_figure,
    similarity_figure, threshold_figure, thresholds,
};

/// The sections that the study has data for: if no parameter varies, there is no curve.
pub(super) async fn parameter_curves(
    db: &PointsDb,
    [curves, rows]: [&TopModels; 2],
    mode: Mode,
) -> Result<Vec<Section>, AnalysisError> {
    let estimator = Estimator::from(mode);
    let confidence = estimator.confidence.level();
    let mut sections = Vec::new();
    let along = AxisSelection { x: None, y: None, is_surface: false };
    if let Some(found) = if_available(accuracy_grids(db, &curves.query, along, estimator).await)?
        .filter(|found| !found.grids.is_empty())
    {
        let mut blocks = vec![Block::Text(format!(
            "Accuracy by the parameter that varies most on each task, with its {}. Other parameters are pooled.",
            accuracy_interval_name(mode.name(), confidence)
        ))];
        blocks.push(Block::Figure(Box::new(projection_figure(&found.grids, confidence))));
        blocks.extend(curves.remark("projection"));
        let mixed: Vec<String> = found
            .grids
            .iter()
            .filter(|grid| !grid.mixed.is_empty())
            .map(|grid| {
                format!(
                    "On {}, {} {} along with {}: the effects can't be separated.",
                    grid.task,
                    grid.mixed.join(", "),
                    if grid.mixed.len() == 1 { "changes" } else { "change" },
                    grid.axes[0].parameter
                )
            })
            .collect();
        if !mixed.is_empty() {
            blocks.push(Block::List(mixed));
        }
        sections.push(Section { id: "landscapes", title: "Accuracy by parameter", blocks });
    }
    if let Some(found) = if_available(thresholds(db, &curves.query, None, estimator).await)?
        .filter(|found| !found.rows.is_empty())
    {
        let mut blocks = vec![
            Block::Text(format!(
                "The threshold is the parameter value at which accuracy by {mode} is 50 %, from a logistic curve, with its \
                 95 % confidence interval (profile likelihood). Where accuracy doesn't cross 50 % within the tested values, the \
                 threshold is not reached."
            )),
            Block::Figure(Box::new(threshold_figure(&found.rows, confidence))),
        ];
        blocks.extend(curves.remark("threshold"));
        blocks.push(Block::Table(threshold_table(&found.rows)));
        sections.push(Section { id: "thresholds", title: "Thresholds", blocks });
    }
    if let Some(clusters) =
        if_available(cluster_models(db, &rows.query, estimator, Linkage::default(), false).await)?
    {
        let mut blocks = vec![
            Block::text(
                "Models with similar accuracies on the same tasks are joined. Differences to the left of the line are \
                 within noise.",
            ),
            Block::Figure(Box::new(similarity_figure(&clusters))),
        ];
        blocks.extend(rows.remark("similarity"));
        sections.push(Section { id: "similarity", title: "Similar models", blocks });
    }
    Ok(sections)
}

fn threshold_table(rows: &[ThresholdRow]) -> Table {
    let mut table = Table::new(&["task", "parameter", "name", "threshold (95 % CI)", "finding", "trials"]);
    for row in rows {
        table.push(vec![
            Cell::text(&row.task),
            Cell::text(&row.parameter),
            Cell::text(&row.label),
            Cell::Formatted(row.threshold_text()),
            Cell::text(&row.finding),
            Cell::Number(row.n as f64, 0),
        ]);
    }
    table
}
