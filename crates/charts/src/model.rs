//! What a figure says, before it is drawn: panels, axes and layers.

/// A pair of ends: of an interval, of an axis, of a scale of colours.
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
/// A name that stands on several layers looks the same on all of them and stands in the legend once. Names after the
/// eighth are drawn in grey, so those that matter come first; for more, make a panel of each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figure {
    /// What is to be seen, in a few words.
    pub title: String,
    /// What the numbers are: trials, confidence, filter.
    pub subtitle: String,
    /// What the reader must know, below the panels.
    pub notes: Vec<String>,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// How many panels stand side by side; 0 leaves it to the number of panels.
    pub columns: usize,
}

impl Figure {
    /// A figure without panels yet.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// The same with a line below the title.
    #[must_use]
    pub fn subtitle(mut self, subtitle: impl Into<String>) -> Self {
        self.subtitle = subtitle.into();
        self
    }

    /// The same with one note more.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The same with one panel more.
    #[must_use]
    pub fn panel(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// The same with so many panels side by side.
    #[must_use]
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = columns;
        self
    }
}

/// One pair of axes and what is drawn between them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Panel {
    /// What tells this panel from the others; empty if it is the only one.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis. Categories on it run from the top down.
    pub y: Axis,
    /// What is drawn, the first at the bottom.
    pub layers: Vec<Layer>,
}

impl Panel {
    /// A panel without layers yet.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, layers: Vec::new() }
    }

    /// The same with one layer more.
    #[must_use]
    pub fn layer(mut self, layer: Layer) -> Self {
        self.layers.push(layer);
        self
    }
}

/// How numbers become places.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Scale {
    /// Equal steps, equal distances.
    #[default]
    Linear,
    /// Equal factors, equal distances. Numbers at or below zero have no place on it.
    Log,
    /// Names; the number 0 is the first, 1 the second.
    Categories(Vec<String>),
}

/// One axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    /// What is measured, with its unit.
    pub label: String,
    /// How numbers become places.
    pub scale: Scale,
    /// The ends; without them, the data and their intervals decide.
    pub range: Option<Bounds>,
    /// Whether the numbers are shares, 0.25 to be written as 25%.
    pub percent: bool,
}

impl Axis {
    /// Equal steps.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// Equal factors.
    pub fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Log, ..Self::default() }
    }

    /// Shares between 0 and 1, written in percent and shown from 0 to 100.
    pub fn percent(label: impl Into<String>) -> Self {
        Self { label: label.into(), range: Some(Bounds::new(0.0, 1.0)), percent: true, scale: Scale::Linear }
    }

    /// Names.
    pub fn categories<N: Into<String>>(label: impl Into<String>, names: impl IntoIterator<Item = N>) -> Self {
        let names = names.into_iter().map(Into::into).collect();
        Self { label: label.into(), scale: Scale::Categories(names), ..Self::default() }
    }

    /// The same between these ends.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some(Bounds::new(low, high));
        self
    }

    /// The same with ends that the data decide.
    #[must_use]
    pub fn automatic(mut self) -> Self {
        self.range = None;
        self
    }
}

/// A number in its place, with its interval if one is known.
///
/// The interval belongs to `y`, except where `y` is an axis of names: there it belongs to `x`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Across.
    pub x: f64,
    /// Up.
    pub y: f64,
    /// How far the data fix the number. An end that is infinite reaches to the edge of the panel.
    pub interval: Option<Bounds>,
}

impl Point {
    /// A number without an interval: a count, an exact value.
    pub const fn exact(x: f64, y: f64) -> Self {
        Self { x, y, interval: None }
    }

    /// A number between its bounds.
    pub const fn between(x: f64, y: f64, low: f64, high: f64) -> Self {
        Self { x, y, interval: Some(Bounds { low, high }) }
    }
}

/// Five numbers that sum a sample up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Where it stands on the other axis.
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
    /// How many lie beyond the whiskers, if that was counted.
    pub outliers: Option<u64>,
}

/// One cell of a heat map.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    /// What it is coloured by; `None` is hatched.
    pub value: Option<f64>,
    /// How far the data fix it.
    pub interval: Option<Bounds>,
    /// What is written in it, if there is room.
    pub text: String,
}

/// Colours of a heat map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Palette {
    /// From dark blue to yellow, in lightness too: for amounts.
    #[default]
    Sequential,
    /// Blue below zero, orange above, white between: for differences.
    Diverging,
}

/// A table of numbers as colours. Its names take the place of the panel's axes, of which only the labels stay.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Heatmap {
    /// Names of the rows, from the top.
    pub rows: Vec<String>,
    /// Names of the columns, from the left.
    pub columns: Vec<String>,
    /// The cells, row by row. Those that are not there are missing.
    pub cells: Vec<Cell>,
    /// Which colours.
    pub palette: Palette,
    /// The numbers at the ends of the colours; without them, the cells decide.
    pub range: Option<Bounds>,
    /// What the colours stand for.
    pub label: String,
    /// Whether the numbers are shares, to be written in percent.
    pub percent: bool,
}

/// Two clusters become one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Merge {
    /// A leaf below the number of leaves; from there on, the cluster that the merge of that number made.
    pub a: usize,
    /// The other one.
    pub b: usize,
    /// At what distance.
    pub height: f64,
}

/// A dendrogram, drawn sideways with the leaves at the left. The leaves take the place of the vertical axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Dendrogram {
    /// Names of the leaves, by their numbers.
    pub leaves: Vec<String>,
    /// The numbers of the leaves from the top down, so that no lines cross. A leaf that is left out follows at the end.
    pub order: Vec<usize>,
    /// The merges, each made of leaves and earlier merges.
    pub merges: Vec<Merge>,
    /// The distance below which chance alone may have kept two apart.
    pub noise: Option<f64>,
}

/// Which way a line runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// At one height, from left to right.
    Horizontal,
    /// At one place across, from bottom to top.
    Vertical,
}

/// One thing that is drawn in a panel.
#[derive(Debug, Clone, PartialEq)]
pub enum Layer {
    /// Points joined in their order, their intervals as a band.
    Line {
        /// Name in the legend; empty for none.
        name: String,
        /// The points.
        points: Vec<Point>,
        /// Whether a value holds until the next point, as in a survival curve.
        step: bool,
    },
    /// Points on their own, their intervals as bars with caps.
    Dots {
        /// Name in the legend; empty for none.
        name: String,
        /// The points.
        points: Vec<Point>,
    },
    /// Bars from zero, their intervals with caps. Several layers stand side by side.
    Bars {
        /// Name in the legend; empty for none.
        name: String,
        /// The ends of the bars.
        points: Vec<Point>,
    },
    /// Boxes with whiskers. Several layers stand side by side.
    Boxes {
        /// Name in the legend; empty for none.
        name: String,
        /// The boxes.
        boxes: Vec<Summary>,
    },
    /// A heat map.
    Heatmap(Heatmap),
    /// A line across the whole panel, with what it means.
    ReferenceLine {
        /// What it means.
        label: String,
        /// Where it stands.
        at: f64,
        /// Which way it runs.
        direction: Direction,
    },
    /// A dendrogram.
    Dendrogram(Dendrogram),
    /// A word at a place.
    Text {
        /// Across.
        x: f64,
        /// Up.
        y: f64,
        /// The word.
        text: String,
    },
}

impl Layer {
    /// Points joined in their order.
    pub fn line(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self::Line { name: name.into(), points, step: false }
    }

    /// Values that hold until the next point.
    pub fn steps(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self::Line { name: name.into(), points, step: true }
    }

    /// Points on their own.
    pub fn dots(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self::Dots { name: name.into(), points }
    }

    /// Bars from zero.
    pub fn bars(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self::Bars { name: name.into(), points }
    }

    /// Boxes with whiskers.
    pub fn boxes(name: impl Into<String>, boxes: Vec<Summary>) -> Self {
        Self::Boxes { name: name.into(), boxes }
    }

    /// A line from bottom to top.
    pub fn vertical(label: impl Into<String>, at: f64) -> Self {
        Self::ReferenceLine { label: label.into(), at, direction: Direction::Vertical }
    }

    /// A line from left to right.
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
