//! The built-in tasks in all their versions: one file per task, and the list of them.

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

/// The version of a task's texts. Each keeps its problems forever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    V1,
    V2,
}

impl Version {
    const ALL: [Self; 2] = [Self::V1, Self::V2];
    /// What a name without a version means.
    const DEFAULT: Self = Self::V2;

    const fn number(self) -> u32 {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
        }
    }

    /// The name under which trials are stored, of those of each version.
    fn of(self, [first, second]: [&'static str; 2]) -> &'static str {
        match self {
            Self::V1 => first,
            Self::V2 => second,
        }
    }
}

/// The version that a name without one means in a new study.
pub(crate) const DEFAULT_VERSION: u32 = Version::DEFAULT.number();

/// Every built-in task of a version, by name. A new task is a file beside these and a line here.
fn built_in(version: Version) -> Vec<Arc<dyn Task>> {
    vec![
        Arc::new(arithmetic::Arithmetic(version)),
        Arc::new(boolean::Boolean(version)),
        Arc::new(brackets::Brackets(version)),
        Arc::new(cars::Cars(version)),
        Arc::new(dates::Dates(version)),
        Arc::new(jsonpath::JsonPath(version)),
        Arc::new(letters::Letters(version)),
        Arc::new(objects::Objects(version)),
        Arc::new(sequence::Sequence(version)),
        Arc::new(shapes::Shapes(version)),
        Arc::new(shuffle::Shuffle(version)),
        Arc::new(sort::Sort(version)),
        Arc::new(tables::Tables(version)),
    ]
}

static BUILT_IN: LazyLock<[Vec<Arc<dyn Task>>; 2]> = LazyLock::new(|| Version::ALL.map(built_in));

fn tasks_of(version: Version) -> &'static [Arc<dyn Task>] {
    &BUILT_IN[version as usize]
}

/// The default version of every built-in task, by name.
pub fn all() -> impl ExactSizeIterator<Item = &'static dyn Task> {
    tasks_of(Version::DEFAULT).iter().map(|task| &**task)
}

/// Every version of every built-in task, the oldest first.
pub fn all_versions() -> impl Iterator<Item = &'static dyn Task> {
    BUILT_IN.iter().flatten().map(|task| &**task)
}

/// The built-in task of this name: `boolean` is its default version, `boolean@1` and `boolean@2` name one.
///
/// ```
/// use reasonscape_core::tasks;
///
/// let version = |name| tasks::by_name(name).map(|task| task.version());
/// assert_eq!(version("arithmetic"), Some(2));
/// assert_eq!(version("arithmetic@1"), Some(1));
/// assert_eq!(version("alchemy"), None);
///
/// // Trials of version 1 are stored without a version.
/// assert_eq!(tasks::by_name("arithmetic@1").expect("a built-in task").name(), "arithmetic");
/// assert_eq!(tasks::by_name("arithmetic@2").expect("a built-in task").name(), "arithmetic@2");
/// ```
pub fn by_name(name: &str) -> Option<&'static dyn Task> {
    shared(name, None).map(|task| &**task)
}

/// The built-in task whose trials are stored under this name: `boolean` is version 1, `boolean@2` version 2.
///
/// ```
/// use reasonscape_core::tasks;
///
/// assert_eq!(tasks::by_stored_name("arithmetic").map(|task| task.version()), Some(1));
/// assert_eq!(tasks::by_stored_name("arithmetic@2").map(|task| task.version()), Some(2));
/// ```
pub fn by_stored_name(name: &str) -> Option<&'static dyn Task> {
    all_versions().find(|task| task.name() == name)
}

/// The built-in task of this name as an `Arc`, for use alongside other tasks. `default_version` is what a name without a
/// version means; `None` is the default.
pub fn shared(name: &str, default_version: Option<u32>) -> Option<&'static Arc<dyn Task>> {
    let (family, version) = match name.split_once('@') {
        Some((family, version)) => (family, version.parse().ok()?),
        None => (name, default_version.unwrap_or(Version::DEFAULT.number())),
    };
    let version = Version::ALL.into_iter().find(|known| known.number() == version)?;
    tasks_of(version).iter().find(|task| task.family() == family)
}
