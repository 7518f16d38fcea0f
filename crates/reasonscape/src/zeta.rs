//! Zeta: answers that were collected somewhere, from lines of JSON to metrics.

mod blocks;
mod differences;
mod log;
mod names;
mod read;
mod reliability;
mod row;
mod table;

pub(crate) use differences::{Difference, differences};
pub(crate) use log::{Log, LogKind};
pub(crate) use names::Names;
pub(crate) use read::{Example, Model, Options, Results, read};
pub(crate) use reliability::reliability_figure;
pub(crate) use table::{for_people, for_programs};
