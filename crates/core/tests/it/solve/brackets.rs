//! Removes adjacent pairs until none is left; what remains is what must be closed.

use super::between;

pub(crate) fn solve(prompt: &str) -> String {
    let mut rest: String =
        between(prompt, "\n\n", "\n\n").chars().filter(|c| "()[]{}<>".contains(*c)).collect();
    loop {
        let shorter = ["()", "[]", "{}", "<>"].iter().fold(rest.clone(), |text, pair| text.replace(pair, ""));
        if shorter == rest {
            break;
        }
        rest = shorter;
    }
    rest.chars()
        .rev()
        .map(|opening| match opening {
            '(' => ')',
            '[' => ']',
            '{' => '}',
            '<' => '>',
            other => panic!("`{other}` closes nothing in: {prompt}"),
        })
        .collect()
}
