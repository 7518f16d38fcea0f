//! A recursive-descent reader of logical expressions that needs no spaces.

use super::between;

pub(crate) fn solve(prompt: &str) -> String {
    let expression: String = between(prompt, "\n\n", "\n\n").split_whitespace().collect();
    let last_line = prompt.lines().last().expect("a line of rules");
    let form = ["The answer is ", "Reply with "].into_iter().find_map(|form| last_line.rsplit_once(form));
    let (_, answers) = form.expect("the form of the answer");
    let (yes, no) = answers.trim_end_matches('.').split_once(" or ").expect("two answers");
    let mut reader = Reader { rest: &expression, yes, no };
    let value = reader.implication();
    assert!(reader.rest.is_empty(), "unread: {}", reader.rest);
    if value { yes } else { no }.to_owned()
}

/// Where an operand is expected `not` is tried before `no`; where an operator is expected no truth value fits.
struct Reader<'a> {
    rest: &'a str,
    yes: &'a str,
    no: &'a str,
}

impl Reader<'_> {
    fn take(&mut self, word: &str) -> bool {
        match self.rest.strip_prefix(word) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn implication(&mut self) -> bool {
        let left = self.disjunction();
        if self.take("implies") {
            let right = self.implication();
            return !left || right;
        }
        left
    }

    fn disjunction(&mut self) -> bool {
        let mut value = self.difference();
        while self.take("or") {
            value |= self.difference();
        }
        value
    }

    fn difference(&mut self) -> bool {
        let mut value = self.conjunction();
        while self.take("xor") {
            value ^= self.conjunction();
        }
        value
    }

    fn conjunction(&mut self) -> bool {
        let mut value = self.operand();
        while self.take("and") {
            value &= self.operand();
        }
        value
    }

    fn operand(&mut self) -> bool {
        if self.take("not") {
            return !self.operand();
        }
        if self.take("(") {
            let value = self.implication();
            assert!(self.take(")"), "unclosed parenthesis before {}", self.rest);
            return value;
        }
        let (yes, no) = (self.yes, self.no);
        if self.take(yes) {
            return true;
        }
        assert!(self.take(no), "no truth value: {}", self.rest);
        false
    }
}
