//! Errors for invalid parameters of a point.

/// An invalid set of parameters.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamError {
    /// The parameters are not a JSON object.
    #[error("invalid parameters of `{task}`: found {found}, expected an object such as {{\"{example}\": …}}")]
    NotAnObject {
        /// The task.
        task: String,
        /// What was found.
        found: &'static str,
        /// A parameter of the task.
        example: &'static str,
    },
    /// An unknown parameter.
    #[error("unknown parameter `{name}` of `{task}`{hint}; expected one of {known}", hint = did_you_mean(nearest.as_ref()))]
    Unknown {
        /// The task.
        task: String,
        /// The unknown name.
        name: String,
        /// The most similar parameter name.
        nearest: Option<&'static str>,
        /// The valid names.
        known: String,
    },
    /// A value of the wrong kind or out of range.
    #[error("`{name}` of `{task}` is {found}, but must be {range}; the nearest is {nearest}")]
    Invalid {
        /// The task.
        task: String,
        /// The parameter.
        name: &'static str,
        /// The value, as JSON.
        found: String,
        /// A description of the valid values.
        range: String,
        /// The nearest valid value.
        nearest: String,
    },
    /// A value that changes nothing, given the others.
    #[error(
        "`{name}` of `{task}` is {found}, which with {limit} has the same effect as {effective}; use {effective}"
    )]
    Ineffective {
        /// The task.
        task: String,
        /// The parameter.
        name: &'static str,
        /// Its value.
        found: String,
        /// The other parameter that limits it.
        limit: String,
        /// The value that has the same effect.
        effective: String,
    },
    /// Values that are valid individually but conflict.
    #[error("`{name}` of `{task}` is {found}, which conflicts with {conflict}; the nearest is {nearest}")]
    Impossible {
        /// The task.
        task: String,
        /// The parameter.
        name: &'static str,
        /// Its value.
        found: String,
        /// The other parameter and the reason.
        conflict: String,
        /// The nearest valid value.
        nearest: String,
    },
}

fn did_you_mean(nearest: Option<&&'static str>) -> String {
    nearest.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}
