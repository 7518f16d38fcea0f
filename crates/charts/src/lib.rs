//! Charts of estimates with their intervals: one description, rendered as SVG, PNG or an interactive HTML page.
//!
//! A [`Figure`] has [`Panel`]s, a panel has two [`Axis`] and [`Layer`]s, and a layer has values with their intervals.
//!
//! ```
//! use reasonscape_charts::{Axis, Figure, Kind, Layer, Panel, Point};
//!
//! let accuracy = vec![Point::between(2.0, 0.91, 0.86, 0.95), Point::between(8.0, 0.44, 0.37, 0.51)];
//! let figure = Figure::new("Accuracy falls with depth").subtitle("95 % confidence intervals (Wilson)").panel(
//!     Panel::new("", Axis::linear("depth"), Axis::percent("accuracy")).layer(Layer::line("llama-8b", accuracy)),
//! );
//! let kind = Kind::from_path("depth.svg".as_ref())?;
//! assert!(figure.bytes(kind)?.starts_with(b"<svg"));
//! # Ok::<(), reasonscape_charts::FigureError>(())
//! ```
//!
//! # Promises
//! - Every value is drawn with its interval, if it has one.
//! - No font, network or browser is needed, and the same figure gives the same bytes.
//! - Every input gives a figure, even if values are missing, equal or infinite; a note counts the points that can't be shown.
//! - No file is read or written: the caller gets the bytes.

mod alt_text;
mod axis;
mod brackets;
mod heatmap;
mod model;
mod notes;
mod number;
mod output;
mod page;
mod panel;
mod plotly;
mod png;
mod reference_lines;
mod resolved_figure;
mod style;
mod svg;
mod text_layout;

pub use model::{
    Axis, Bounds, Cell, Dendrogram, Direction, Figure, Heatmap, Layer, Merge, Palette, Panel, Point, Scale,
    Summary,
};
pub use output::{FigureError, Kind, PNG_SCALE};
pub use page::plotly_script;
pub use text_layout::escape;
