//! Pictures are looked at by parsers that we did not write: resvg's reader of XML, its layout of text and its pixels.

mod degenerate;
mod hostile;
mod legible;
mod output;
mod snapshots;
mod test_env;
