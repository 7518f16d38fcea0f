//! The built-in tasks: one file each, and the list of them.

use crate::Task;

mod arithmetic;
mod dates;
mod letters;
mod objects;
mod text;

/// Every built-in task, by name. A new task is a file beside these and a line here.
pub static ALL: &[&dyn Task] =
    &[&arithmetic::Arithmetic, &dates::Dates, &letters::Letters, &objects::Objects];

/// The built-in task of this name.
///
/// ```
/// use reasonscape_core::tasks;
///
/// assert_eq!(tasks::by_name("arithmetic").expect("it is built in").version(), 1);
/// assert!(tasks::by_name("alchemy").is_none());
/// ```
pub fn by_name(name: &str) -> Option<&'static dyn Task> {
    ALL.iter().copied().find(|task| task.name() == name)
}
