//! Names of evaluations and estimates in tables, and shortened lists of names.

use reasonscape_points::EvalInfo;

use crate::in_percent;

/// `a, b or c`; long lists are shortened.
pub(crate) fn join_alternatives(values: &[String]) -> String {
    const MAX: usize = 12;
    match values {
        [] => String::new(),
        [one] => one.clone(),
        few if few.len() <= MAX => {
            let (last, others) = few.split_last().expect("more than one");
            format!("{} or {last}", others.join(", "))
        }
        many => format!("{} or one of {} more", many[..MAX].join(", "), many.len() - MAX),
    }
}

/// `a, b, c`; long lists are shortened.
pub fn join_truncated(names: &[String]) -> String {
    const MAX: usize = 5;
    match names.len().saturating_sub(MAX) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..MAX].join(", ")),
    }
}

/// What an estimate by the mode of this name is called, in the heads of tables and the legends of figures.
///
/// ```
/// use reasonscape_analysis::accuracy_label;
///
/// assert_eq!((accuracy_label("E_P"), accuracy_label("C_P")), ("accuracy", "guess-corrected accuracy"));
/// ```
pub fn accuracy_label(mode: &str) -> &'static str {
    if mode.starts_with('E') { "accuracy" } else { "guess-corrected accuracy" }
}

/// What the interval of an accuracy by the mode of this name is called. Only intervals with demonstrated coverage are called
/// confidence intervals; those of the C modes cover less near chance (docs/coverage.md).
///
/// ```
/// use reasonscape_analysis::accuracy_interval_name;
///
/// assert_eq!(accuracy_interval_name("K_P", 0.95), "95 % CI");
/// assert_eq!(accuracy_interval_name("C_P", 0.95), "nominal 95 % interval");
/// ```
pub fn accuracy_interval_name(mode: &str, level: f64) -> String {
    let level = in_percent(level);
    if mode.starts_with('C') { format!("nominal {level} % interval") } else { format!("{level} % CI") }
}

/// [`accuracy_label`] of the mode of the first row.
pub(crate) fn accuracy_label_of(mut modes: impl Iterator<Item = &'static str>) -> &'static str {
    modes.next().map_or("accuracy", accuracy_label)
}

/// The name of an evaluation in tables: its name, with its id if the name isn't unique.
pub fn eval_label(evals: &[EvalInfo], eval: &EvalInfo) -> String {
    let is_alone = evals.iter().filter(|other| other.name == eval.name).count() == 1;
    if is_alone { eval.name.clone() } else { format!("{} ({})", eval.name, eval.eval_id) }
}
