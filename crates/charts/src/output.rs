//! Rendering a figure as SVG, PNG or HTML.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::model::Figure;
use crate::{alt_text, notes, page, png, svg};

/// PNG pixels per SVG pixel: 288 dpi in print.
pub const PNG_SCALE: f32 = 3.0;

/// Why a figure cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FigureError {
    /// The file name has no known extension.
    #[error("unknown figure format of `{}`; expected a file name that ends in .svg, .png or .html", path.display())]
    Ending {
        /// The file.
        path: PathBuf,
    },
    /// The scale is out of range.
    #[error("invalid scale `{scale}` of a figure; expected a number above 0 and below 10")]
    Scale {
        /// The scale.
        scale: f32,
    },
    /// resvg rejected our SVG: a bug in this crate.
    #[error("failed to render the figure: {problem}; please report this, and use .svg or .html instead")]
    Drawing {
        /// The message of resvg.
        problem: String,
    },
}

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// SVG, for documents and print.
    Svg,
    /// PNG, for tools that don't take SVG.
    Png,
    /// An interactive page.
    Html,
}

impl Kind {
    /// The format for a file's extension, in upper or lower case.
    ///
    /// # Errors
    /// If the extension is none of `.svg`, `.png` and `.html`.
    ///
    /// ```
    /// use reasonscape_charts::Kind;
    ///
    /// assert_eq!(Kind::from_path("hazard.PNG".as_ref())?, Kind::Png);
    /// assert!(Kind::from_path("hazard.pdf".as_ref()).unwrap_err().to_string().contains(".svg, .png or .html"));
    /// # Ok::<(), reasonscape_charts::FigureError>(())
    /// ```
    pub fn from_path(path: &Path) -> Result<Self, FigureError> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            Some("html") => Ok(Self::Html),
            _ => Err(FigureError::Ending { path: path.to_owned() }),
        }
    }
}

impl Figure {
    /// The figure as SVG, 180 mm wide, with a title and a description for screen readers.
    ///
    /// It can be a file or part of a page.
    pub fn svg(&self) -> String {
        svg::svg(self, false)
    }

    /// The figure as PNG with `scale` pixels per SVG pixel; [`PNG_SCALE`] is suitable for print.
    ///
    /// # Errors
    /// If the scale is not above zero, or the figure would be too large.
    pub fn png(&self, scale: f32) -> Result<Vec<u8>, FigureError> {
        png::png(&svg::svg(self, true), scale)
    }

    /// The figure as a self-contained HTML page.
    pub fn html(&self) -> String {
        page::page(self)
    }

    /// The figure as part of a page that has [`plotly_script`](crate::plotly_script) in a `<script>` above it. `id` must be
    /// unique on the page.
    pub fn fragment(&self, id: &str) -> String {
        page::fragment(self, id)
    }

    /// The input of plotly: an object with `data`, `layout` and `config`. It doesn't include the [title](Figure::title), the
    /// [subtitle](Figure::subtitle) and the [remarks](Figure::remarks).
    ///
    /// ```
    /// use reasonscape_charts::{Axis, Figure, Layer, Panel, Point};
    ///
    /// let panel = Panel::new("", Axis::linear("depth"), Axis::percent("accuracy"));
    /// let chart = Figure::new("").panel(panel.layer(Layer::dots("a", vec![Point::exact(2.0, 0.5)]))).chart();
    /// assert_eq!(chart["data"][0]["x"][0], 2.0);
    /// ```
    pub fn chart(&self) -> Value {
        page::chart(self)
    }

    /// The alternative text: the figure in a few sentences, for screen readers.
    pub fn description(&self) -> String {
        alt_text::describe(self)
    }

    /// The notes of the figure, and a note on points that can't be shown.
    pub fn remarks(&self) -> Vec<String> {
        notes::notes(self)
    }

    /// The figure as a file in this format.
    ///
    /// # Errors
    /// If a PNG would be too large.
    pub fn bytes(&self, kind: Kind) -> Result<Vec<u8>, FigureError> {
        match kind {
            Kind::Svg => Ok(self.svg().into_bytes()),
            Kind::Png => self.png(PNG_SCALE),
            Kind::Html => Ok(self.html().into_bytes()),
        }
    }
}
