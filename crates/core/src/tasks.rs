//! The built-in tasks: one file each, and the list of them.

use std::sync::{Arc, LazyLock};

use crate::Task;

mod arithmetic;
mod boolean;
mod brackets;
mod cars;
mod dates;
mod jsonpath;
mod letters;
mod objects;
mod sequence;
mod shapes;
mod shuffle;
mod sort;
mod tables;
mod text;

/// Every built-in task, by name. A new task is a file beside these and a line here.
static BUILT_IN: LazyLock<Vec<Arc<dyn Task>>> = LazyLock::new(|| {
    vec![
        Arc::new(arithmetic::Arithmetic),
        Arc::new(boolean::Boolean),
        Arc::new(brackets::Brackets),
        Arc::new(cars::Cars),
        Arc::new(dates::Dates),
        Arc::new(jsonpath::JsonPath),
        Arc::new(letters::Letters),
        Arc::new(objects::Objects),
        Arc::new(sequence::Sequence),
        Arc::new(shapes::Shapes),
        Arc::new(shuffle::Shuffle),
        Arc::new(sort::Sort),
        Arc::new(tables::Tables),
    ]
});

/// Every built-in task, by name.
pub fn all() -> impl ExactSizeIterator<Item = &'static dyn Task> {
    BUILT_IN.iter().map(|task| &**task)
}

/// The built-in task of this name.
///
/// ```
/// use reasonscape_core::tasks;
///
/// assert_eq!(tasks::by_name("arithmetic").expect("it is built in").version(), 1);
/// assert!(tasks::by_name("alchemy").is_none());
/// ```
pub fn by_name(name: &str) -> Option<&'static dyn Task> {
    shared(name).map(|task| &**task)
}

/// The built-in task of this name as an `Arc`, for use alongside other tasks.
pub fn shared(name: &str) -> Option<&'static Arc<dyn Task>> {
    BUILT_IN.iter().find(|task| task.name() == name)
}
