//! Solvers that read nothing but the prompt. They share no code with the generators.

mod arithmetic;
mod boolean;
mod brackets;
mod cars;
pub(crate) mod dates;
mod jsonpath;
mod letters;
pub(crate) mod objects;
mod sequence;
mod shapes;
mod shuffle;
mod sort;
mod tables;

/// The answer that a careful reader of the prompt of this task would give.
pub(crate) fn solve(task: &str, prompt: &str) -> String {
    match task {
        "arithmetic" => arithmetic::solve(prompt),
        "boolean" => boolean::solve(prompt),
        "brackets" => brackets::solve(prompt),
        "cars" => cars::solve(prompt),
        "dates" => dates::solve(prompt),
        "jsonpath" => jsonpath::solve(prompt),
        "letters" => letters::solve(prompt),
        "objects" => objects::solve(prompt),
        "sequence" => sequence::solve(prompt),
        "shapes" => shapes::solve(prompt),
        "shuffle" => shuffle::solve(prompt),
        "sort" => sort::solve(prompt),
        "tables" => tables::solve(prompt),
        other => panic!("no solver for `{other}`"),
    }
}

/// The part of a prompt between two marks.
pub(crate) fn between<'a>(prompt: &'a str, start: &str, end: &str) -> &'a str {
    let from = prompt.find(start).unwrap_or_else(|| panic!("no `{start}` in: {prompt}")) + start.len();
    let length = prompt[from..].find(end).unwrap_or_else(|| panic!("no `{end}` in: {prompt}"));
    &prompt[from..from + length]
}
