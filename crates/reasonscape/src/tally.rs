//! The front end's names for the runner's progress counts.
// removed when all users name the new crate

pub(crate) use reasonscape_runner::progress::{
    FailureGroup as Trouble, ProgressCounts as Tally, group_failures as troubles,
};
