//! Colors, dashes, markers and hatches: series can be distinguished by color and, in black and white, by shape.

use std::collections::BTreeMap;

use crate::model::{Figure, Palette};

/// Lines of axes.
pub(crate) const AXIS: &str = "#444444";
/// Lines behind the data.
pub(crate) const GRID: &str = "#e4e4e4";
/// Text.
pub(crate) const TEXT: &str = "#222222";
/// Secondary text.
pub(crate) const TEXT_MUTED: &str = "#555555";
/// Series without a color of their own.
pub(crate) const GRAY: &str = "#a0a0a0";

/// The number of distinct styles.
pub(crate) const STYLE_COUNT: usize = 8;

/// The Okabe-Ito palette, which is safe for color-blind readers. Its yellow is darkened to be visible on white.
const COLORS: [&str; STYLE_COUNT] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#857a00"];

const DASHES: [&str; STYLE_COUNT] =
    ["", "7 3", "2 2.5", "8 3 2 3", "12 4", "5 2 1.5 2 1.5 2", "1 3.5", "14 3 4 3"];

/// The same dashes in plotly's notation.
const PLOTLY_DASHES: [&str; STYLE_COUNT] = [
    "solid",
    "7px,3px",
    "2px,2.5px",
    "8px,3px,2px,3px",
    "12px,4px",
    "5px,2px,1.5px,2px,1.5px,2px",
    "1px,3.5px",
    "14px,3px,4px,3px",
];

/// The shape of a dot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marker {
    Circle,
    Square,
    Up,
    Diamond,
    Down,
    Plus,
    Cross,
    Hexagon,
}

const MARKERS: [Marker; STYLE_COUNT] = [
    Marker::Circle,
    Marker::Square,
    Marker::Up,
    Marker::Diamond,
    Marker::Down,
    Marker::Plus,
    Marker::Cross,
    Marker::Hexagon,
];

impl Marker {
    /// The name in plotly.
    pub(crate) fn plotly(self) -> &'static str {
        match self {
            Self::Circle => "circle",
            Self::Square => "square",
            Self::Up => "triangle-up",
            Self::Diamond => "diamond",
            Self::Down => "triangle-down",
            Self::Plus => "cross",
            Self::Cross => "x",
            Self::Hexagon => "hexagon",
        }
    }
}

/// The style of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SeriesStyle {
    pub(crate) color: &'static str,
    pub(crate) dash: &'static str,
    pub(crate) plotly_dash: &'static str,
    pub(crate) marker: Marker,
    /// The hatch of an area; 0 is none.
    pub(crate) hatch: usize,
    /// Whether it has no style of its own, because there are too many series.
    pub(crate) is_gray: bool,
}

const fn style(index: usize) -> SeriesStyle {
    if index < STYLE_COUNT {
        SeriesStyle {
            color: COLORS[index],
            dash: DASHES[index],
            plotly_dash: PLOTLY_DASHES[index],
            marker: MARKERS[index],
            hatch: index,
            is_gray: false,
        }
    } else {
        SeriesStyle {
            color: GRAY,
            dash: "",
            plotly_dash: "solid",
            marker: Marker::Circle,
            hatch: 0,
            is_gray: true,
        }
    }
}

/// The style of every series name in a figure.
#[derive(Debug)]
pub(crate) struct StyleMap {
    indexes: BTreeMap<String, usize>,
}

impl StyleMap {
    /// Assigns styles in the order in which names appear.
    pub(crate) fn new(figure: &Figure) -> Self {
        let mut indexes = BTreeMap::new();
        for name in figure.panels.iter().flat_map(|panel| &panel.layers).filter_map(|layer| layer.name()) {
            let next = indexes.len();
            indexes.entry(name.to_owned()).or_insert(next);
        }
        Self { indexes }
    }

    pub(crate) fn get(&self, name: &str) -> SeriesStyle {
        style(self.indexes.get(name).copied().unwrap_or(0))
    }

    /// The named series with a color, in order.
    pub(crate) fn named(&self) -> Vec<(&str, SeriesStyle)> {
        let mut named: Vec<(&str, usize)> =
            self.indexes.iter().map(|(name, index)| (name.as_str(), *index)).collect();
        named.retain(|(name, index)| !name.is_empty() && *index < STYLE_COUNT);
        named.sort_by_key(|(_, index)| *index);
        named.into_iter().map(|(name, index)| (name, style(index))).collect()
    }

    /// The number of series without a color of their own.
    pub(crate) fn gray_count(&self) -> usize {
        self.indexes.len().saturating_sub(STYLE_COUNT)
    }
}

/// Anchors of the sequential palette, from dark blue to light yellow.
const SEQUENTIAL: [[f64; 3]; 5] = [
    [0.0, 32.0, 76.0],
    [62.0, 74.0, 110.0],
    [122.0, 122.0, 121.0],
    [187.0, 173.0, 108.0],
    [255.0, 233.0, 69.0],
];

/// Anchors of the diverging palette: blue, white, orange.
const DIVERGING: [[f64; 3]; 5] = [
    [5.0, 78.0, 140.0],
    [116.0, 173.0, 216.0],
    [247.0, 247.0, 247.0],
    [240.0, 163.0, 90.0],
    [164.0, 68.0, 0.0],
];

impl Palette {
    fn anchors(self) -> &'static [[f64; 3]; 5] {
        match self {
            Self::Sequential => &SEQUENTIAL,
            Self::Diverging => &DIVERGING,
        }
    }

    /// The color at a fraction of the scale.
    pub(crate) fn at(self, fraction: f64) -> Color {
        let anchors = self.anchors();
        let along = fraction.clamp(0.0, 1.0) * (anchors.len() - 1) as f64;
        let before = (along.floor() as usize).min(anchors.len() - 2);
        let rest = along - before as f64;
        let mix = |channel: usize| {
            let (from, to) = (anchors[before][channel], anchors[before + 1][channel]);
            (from + (to - from) * rest).round() as u8
        };
        Color([mix(0), mix(1), mix(2)])
    }
}

/// An RGB color.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Color([u8; 3]);

impl Color {
    pub(crate) fn hex(self) -> String {
        let [red, green, blue] = self.0;
        format!("#{red:02x}{green:02x}{blue:02x}")
    }

    /// Black or white, whichever has more contrast (relative luminance of WCAG 2).
    pub(crate) fn text_color(self) -> &'static str {
        let linear = |channel: u8| {
            let fraction = f64::from(channel) / 255.0;
            if fraction <= 0.04045 { fraction / 12.92 } else { ((fraction + 0.055) / 1.055).powf(2.4) }
        };
        let [red, green, blue] = self.0.map(linear);
        let luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        if luminance > 0.179 { "#000000" } else { "#ffffff" }
    }
}

#[cfg(test)]
mod tests {
    use super::{Palette, STYLE_COUNT, StyleMap};
    use crate::model::{Axis, Figure, Layer, Panel};

    #[test]
    fn lightness_is_monotone() {
        let lightness = |step: u32| {
            let [red, green, blue] = Palette::Sequential.at(f64::from(step) / 50.0).0.map(f64::from);
            0.2126 * red + 0.7152 * green + 0.0722 * blue
        };
        assert!((0..50).all(|step| lightness(step) < lightness(step + 1)));
        assert_eq!(Palette::Diverging.at(0.5).hex(), "#f7f7f7");
        assert_eq!(Palette::Sequential.at(f64::NAN).hex(), Palette::Sequential.at(f64::NAN).hex());
    }

    #[test]
    fn ninth_name_is_gray() {
        let layers = (0..12).map(|index| Layer::dots(format!("m{index}"), Vec::new())).collect();
        let panel = Panel { layers, ..Panel::new("", Axis::linear("x"), Axis::linear("y")) };
        let styles = StyleMap::new(&Figure::new("").panel(panel));
        assert_eq!(styles.named().len(), STYLE_COUNT);
        assert_eq!(styles.gray_count(), 4);
        assert!(styles.get("m8").is_gray && !styles.get("m7").is_gray);
        assert_ne!(styles.get("m0").marker, styles.get("m1").marker);
    }
}
