//! The description of a figure: panels, axes and layers.

/// The ends of an interval, an axis or a color scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Bounds {
    /// From `low` to `high`.
    pub const fn new(low: f64, high: f64) -> Self {
        Self { low, high }
    }
}

/// A figure: one panel, or small multiples in a grid.
///
/// A name that is used by several layers has the same style in all of them and one entry in the legend. Names after the
/// eighth are gray, so put the important ones first, or use a panel for each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figure {
    /// The title.
    pub title: String,
    /// The line below the title: trials, confidence level, filter.
    pub subtitle: String,
    /// Notes below the panels.
    pub notes: Vec<String>,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// Panels per row; 0 chooses automatically.
    pub columns: usize,
}

impl Figure {
    /// A figure without panels.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Sets the subtitle.
    #[must_use]
    pub fn subtitle(mut self, subtitle: impl Into<String>) -> Self {
        self.subtitle = subtitle.into();
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds a panel.
    #[must_use]
    pub fn panel(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// Sets the number of panels per row.
    #[must_use]
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = columns;
        self
    }
}

/// A pair of axes and the layers drawn between them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Panel {
    /// The title; empty for a single panel.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis. Categories on it run from the top down.
    pub y: Axis,
    /// The layers, the first at the bottom.
    pub layers: Vec<Layer>,
}

impl Panel {
    /// A panel without layers.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, layers: Vec::new() }
    }

    /// Adds a layer.
    #[must_use]
    pub fn layer(mut self, layer: Layer) -> Self {
        self.layers.push(layer);
        self
    }
}

/// The scale of an axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Scale {
    /// Linear.
    #[default]
    Linear,
    /// Logarithmic. Values at or below zero can't be shown.
    Log,
    /// Categories; the value 0 is the first, 1 the second.
    Categories(Vec<String>),
}

/// One axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    /// The label, with its unit.
    pub label: String,
    /// The scale.
    pub scale: Scale,
    /// The ends; by default they are chosen from the data and their intervals.
    pub range: Option<Bounds>,
    /// Whether values are proportions, shown in percent.
    pub percent: bool,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Log, ..Self::default() }
    }

    /// Proportions between 0 and 1, shown from 0 to 100 %.
    pub fn percent(label: impl Into<String>) -> Self {
        Self { label: label.into(), range: Some(Bounds::new(0.0, 1.0)), percent: true, scale: Scale::Linear }
    }

    /// An axis of categories.
    pub fn categories<N: Into<String>>(label: impl Into<String>, names: impl IntoIterator<Item = N>) -> Self {
        let names = names.into_iter().map(Into::into).collect();
        Self { label: label.into(), scale: Scale::Categories(names), ..Self::default() }
    }

    /// Sets the ends.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some(Bounds::new(low, high));
        self
    }

    /// Chooses the ends from the data.
    #[must_use]
    pub fn automatic(mut self) -> Self {
        self.range = None;
        self
    }
}

/// A point, with its interval if it has one.
///
/// The interval belongs to `y`, or to `x` if `y` is an axis of categories.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Horizontal position.
    pub x: f64,
    /// Vertical position.
    pub y: f64,
    /// The interval. An infinite end extends to the edge of the panel.
    pub interval: Option<Bounds>,
}

impl Point {
    /// A value without an interval, such as a count.
    pub const fn exact(x: f64, y: f64) -> Self {
        Self { x, y, interval: None }
    }

    /// A value with its interval.
    pub const fn between(x: f64, y: f64, low: f64, high: f64) -> Self {
        Self { x, y, interval: Some(Bounds { low, high }) }
    }
}

/// Five-number summary of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// The position on the other axis.
    pub at: f64,
    /// End of the lower whisker.
    pub low: f64,
    /// First quartile.
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub q3: f64,
    /// End of the upper whisker.
    pub high: f64,
    /// The number of values beyond the whiskers, if known.
    pub outliers: Option<u64>,
}

/// One cell of a heat map.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    /// The value, shown as a color; `None` is hatched.
    pub value: Option<f64>,
    /// The interval of the value.
    pub interval: Option<Bounds>,
    /// The text in the cell, if there is room.
    pub text: String,
}

/// The color palette of a heat map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Palette {
    /// From dark blue to light yellow, for amounts.
    #[default]
    Sequential,
    /// Blue below zero, white at zero, orange above, for differences.
    Diverging,
}

/// A table of values as colors. Its rows and columns replace the ticks of the panel's axes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Heatmap {
    /// Names of the rows, from the top.
    pub rows: Vec<String>,
    /// Names of the columns, from the left.
    pub columns: Vec<String>,
    /// The cells, row by row; absent ones have no data.
    pub cells: Vec<Cell>,
    /// The palette.
    pub palette: Palette,
    /// The values at the ends of the color scale; by default chosen from the cells.
    pub range: Option<Bounds>,
    /// The label of the color scale.
    pub label: String,
    /// Whether values are proportions, shown in percent.
    pub percent: bool,
}

/// A merge of two clusters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Merge {
    /// The index of a leaf, or the number of leaves plus the index of an earlier merge.
    pub a: usize,
    /// The other cluster.
    pub b: usize,
    /// The distance.
    pub height: f64,
}

/// A horizontal dendrogram with the leaves at the left, which replace the ticks of the vertical axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Dendrogram {
    /// Names of the leaves, by index.
    pub leaves: Vec<String>,
    /// The indices of the leaves from the top down, so that no lines cross. Missing leaves are appended.
    pub order: Vec<usize>,
    /// The merges, each made of leaves and earlier merges.
    pub merges: Vec<Merge>,
    /// The distance below which differences are within noise.
    pub noise: Option<f64>,
}

/// The direction of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From left to right.
    Horizontal,
    /// From bottom to top.
    Vertical,
}

/// A layer of a panel.
#[derive(Debug, Clone, PartialEq)]
pub enum Layer {
    /// Connected points, with intervals as a band.
    Line {
        /// Name in the legend; empty for none.
        name: String,
        /// The points.
        points: Vec<Point>,
        /// Whether the line is a step function, such as a survival curve.
        step: bool,
    },
    /// Separate points, with intervals as error bars.
    Dots {
        /// Name in the legend; empty for none.
        name: String,
        /// The points.
        points: Vec<Point>,
    },
    /// Bars from zero, with error bars. Several layers are drawn side by side.
    Bars {
        /// Name in the legend; empty for none.
        name: String,
        /// The ends of the bars.
        points: Vec<Point>,
    },
    /// Box plots. Several layers are drawn side by side.
    Boxes {
        /// Name in the legend; empty for none.
        name: String,
        /// The boxes.
        boxes: Vec<Summary>,
    },
    /// A heat map.
    Heatmap(Heatmap),
    /// A reference line across the panel, with its label.
    ReferenceLine {
        /// The label.
        label: String,
        /// The position.
        at: f64,
        /// The direction.
        direction: Direction,
    },
    /// A dendrogram.
    Dendrogram(Dendrogram),
    /// A text at a position.
    Text {
        /// Horizontal position.
        x: f64,
        /// Vertical position.
        y: f64,
        /// The text.
        text: String,
    },
}

impl Layer {
    /// Connected points.
    pub fn line(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self::Line { name: name.into(), points, step: false }
    }

    /// A step function.
    pub fn steps(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self::Line { name: name.into(), points, step: true }
    }

    /// Separate points.
    pub fn dots(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self::Dots { name: name.into(), points }
    }

    /// Bars from zero.
    pub fn bars(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self::Bars { name: name.into(), points }
    }

    /// Box plots.
    pub fn boxes(name: impl Into<String>, boxes: Vec<Summary>) -> Self {
        Self::Boxes { name: name.into(), boxes }
    }

    /// A vertical reference line.
    pub fn vertical(label: impl Into<String>, at: f64) -> Self {
        Self::ReferenceLine { label: label.into(), at, direction: Direction::Vertical }
    }

    /// A horizontal reference line.
    pub fn horizontal(label: impl Into<String>, at: f64) -> Self {
        Self::ReferenceLine { label: label.into(), at, direction: Direction::Horizontal }
    }

    /// The name in the legend, if it has one.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Line { name, .. }
            | Self::Dots { name, .. }
            | Self::Bars { name, .. }
            | Self::Boxes { name, .. } => Some(name),
            Self::Heatmap(_) | Self::ReferenceLine { .. } | Self::Dendrogram(_) | Self::Text { .. } => None,
        }
    }
}
