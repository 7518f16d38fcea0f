//! Why the parameters of a point are refused.

/// Why coordinates are refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamError {
    /// The coordinates are not a JSON object.
    #[error("parameters of `{task}` are {found}, but must be an object such as {{\"{example}\": …}}")]
    NotAnObject {
        /// The task.
        task: String,
        /// What was found.
        found: &'static str,
        /// A parameter of the task.
        example: &'static str,
    },
    /// A name that the task does not have.
    #[error("`{task}` has no parameter `{name}`{hint}; it has {known}", hint = did_you_mean(nearest.as_ref()))]
    Unknown {
        /// The task.
        task: String,
        /// The stranger.
        name: String,
        /// The parameter it may have meant.
        nearest: Option<&'static str>,
        /// The names that there are.
        known: String,
    },
    /// A value of the wrong kind or out of range.
    #[error("`{name}` of `{task}` is {found}, but must be {range}; the nearest is {nearest}")]
    Invalid {
        /// The task.
        task: String,
        /// The parameter.
        name: &'static str,
        /// What was given, as JSON.
        found: String,
        /// The values that there are, in words.
        range: String,
        /// The legal value nearest to it.
        nearest: String,
    },
    /// Values that are each legal but cannot go together.
    #[error("`{name}` of `{task}` is {found}, which cannot go with {conflict}; the nearest is {nearest}")]
    Impossible {
        /// The task.
        task: String,
        /// The parameter.
        name: &'static str,
        /// Its value.
        found: String,
        /// The other parameter and why it conflicts, in words.
        conflict: String,
        /// The value nearest to it that would do.
        nearest: String,
    },
}

fn did_you_mean(nearest: Option<&&'static str>) -> String {
    nearest.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}
