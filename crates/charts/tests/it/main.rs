//! Figures are checked by independent code: resvg's XML parser, text layout and renderer.

mod degenerate;
mod hostile;
mod legible;
mod output;
mod snapshots;
mod test_env;
