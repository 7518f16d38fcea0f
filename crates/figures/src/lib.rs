//! Pictures of numbers with their intervals: one description, drawn as SVG, PNG or a page that can be looked at closer.
//!
//! # Promises
//! No number without its interval where one is known; no font, network or browser is needed; the same figure gives the
//! same bytes.
