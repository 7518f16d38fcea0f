//! The three kinds of files that a figure becomes.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::model::Figure;
use crate::{alt_text, notes, page, png, svg};

/// Pixels of a PNG for each of the SVG: 288 to the inch in print.
pub const PNG_SCALE: f32 = 3.0;

/// Why a figure cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FigureError {
    /// A file name that does not say what kind of figure it is to be.
    #[error("cannot tell what kind of picture `{}` is to be; give it the ending .svg, .png or .html", path.display())]
    Ending {
        /// The file.
        path: PathBuf,
    },
    /// A size that no figure can have.
    #[error("cannot draw a picture at scale `{scale}`; choose one above 0 and below 10")]
    Scale {
        /// The factor.
        scale: f32,
    },
    /// resvg does not take what we wrote: a defect of this crate.
    #[error("failed to draw the picture: {problem}; please report this, and write .svg or .html meanwhile")]
    Drawing {
        /// What resvg said.
        problem: String,
    },
}

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Lines and letters, for documents and print.
    Svg,
    /// Pixels, for whatever takes nothing else.
    Png,
    /// A page to look closer.
    Html,
}

impl Kind {
    /// The kind that a file's ending asks for, in small letters or capitals.
    ///
    /// # Errors
    /// If the ending is none of `.svg`, `.png` and `.html`.
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
    /// It can stand in a file or within a page.
    pub fn svg(&self) -> String {
        svg::svg(self, false)
    }

    /// The figure as PNG, `scale` pixels for each of the SVG; [`PNG_SCALE`] is fit for print.
    ///
    /// # Errors
    /// If the scale is not above zero, or the figure would be too large.
    pub fn png(&self, scale: f32) -> Result<Vec<u8>, FigureError> {
        png::png(&svg::svg(self, true), scale)
    }

    /// The figure as a page of its own, which needs no network.
    pub fn html(&self) -> String {
        page::page(self)
    }

    /// The figure as a part of a page that has [`plotly_script`](crate::plotly_script) in a `<script>` above it. `id`
    /// must be the only one of its name on the page.
    pub fn fragment(&self, id: &str) -> String {
        page::fragment(self, id)
    }

    /// What plotly is given to draw it: an object with `data`, `layout` and `config`. Words around the panels are not in
    /// it; they are the [title](Figure::title), the [subtitle](Figure::subtitle) and the [remarks](Figure::remarks).
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

    /// The figure in a few sentences, for readers who do not see it.
    pub fn description(&self) -> String {
        alt_text::describe(self)
    }

    /// The notes, and those that the drawing itself makes necessary.
    pub fn remarks(&self) -> Vec<String> {
        notes::notes(self)
    }

    /// The bytes of a file of this kind.
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
