//! Names of evaluations in tables, and shortened lists of names.

use reasonscape_points::EvalInfo;

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

/// The name of an evaluation in tables: its name, with its id if the name isn't unique.
pub fn eval_label(evals: &[EvalInfo], eval: &EvalInfo) -> String {
    let is_alone = evals.iter().filter(|other| other.name == eval.name).count() == 1;
    if is_alone { eval.name.clone() } else { format!("{} ({})", eval.name, eval.eval_id) }
}
