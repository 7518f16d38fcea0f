//! Figures of numbers with their intervals: one description, drawn as SVG, PNG or a page that can be looked at closer.
//!
//! A [`Figure`] has [`Panel`]s, a panel has two [`Axis`] and [`Layer`]s, and a layer has numbers with their intervals.
//!
//! ```
//! use reasonscape_charts::{Axis, Figure, Kind, Layer, Panel, Point};
//!
//! let accuracy = vec![Point::between(2.0, 0.91, 0.86, 0.95), Point::between(8.0, 0.44, 0.37, 0.51)];
//! let figure = Figure::new("Accuracy falls with depth").subtitle("95% intervals by Wilson").panel(
//!     Panel::new("", Axis::linear("depth"), Axis::percent("accuracy")).layer(Layer::line("llama-8b", accuracy)),
//! );
//! let kind = Kind::from_path("depth.svg".as_ref())?;
//! assert!(figure.bytes(kind)?.starts_with(b"<svg"));
//! # Ok::<(), reasonscape_charts::FigureError>(())
//! ```
//!
//! # Promises
//! No number without its interval where one is known; no font, network or browser is needed; the same figure gives the
//! same bytes. Whatever the numbers are, empty, equal, infinite or none, there is a figure, and a note says what is not
//! in it. Nothing is read or written: the caller has the bytes.

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
