//! PNG: the SVG, rendered by resvg with embedded fonts.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Source};
use resvg::usvg::{Options, Tree};

use crate::output::FigureError;

/// The maximum number of pixels; more would need a gigabyte of memory.
const MAX_PIXELS: f64 = 250e6;

/// Only embedded fonts, loaded once: system fonts would make figures differ between machines.
fn fonts() -> Arc<Database> {
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    Arc::clone(FONTS.get_or_init(|| {
        let mut fonts = Database::new();
        // The second font has characters that the first one lacks.
        for font in [epaint_default_fonts::UBUNTU_LIGHT, epaint_default_fonts::HACK_REGULAR] {
            fonts.load_font_source(Source::Binary(Arc::new(font)));
        }
        fonts.set_sans_serif_family("Ubuntu");
        Arc::new(fonts)
    }))
}

pub(crate) fn options() -> Options<'static> {
    Options { fontdb: fonts(), font_family: "Ubuntu".to_owned(), ..Options::default() }
}

pub(crate) fn png(svg: &str, scale: f32) -> Result<Vec<u8>, FigureError> {
    if !(scale.is_finite() && scale > 0.0) {
        return Err(FigureError::Scale { scale });
    }
    let broken = |problem: String| FigureError::Drawing { problem };
    let tree = Tree::from_str(svg, &options()).map_err(|error| broken(error.to_string()))?;
    let width = (tree.size().width() * scale).ceil();
    let height = (tree.size().height() * scale).ceil();
    if f64::from(width) * f64::from(height) > MAX_PIXELS {
        return Err(FigureError::Scale { scale });
    }
    let mut pixels = Pixmap::new(width as u32, height as u32).ok_or(FigureError::Scale { scale })?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| broken(error.to_string()))
}
