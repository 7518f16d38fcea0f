//! Integration tests; one binary, so that linking stays cheap.

mod coverage;
mod docs;
mod python;
mod score;
