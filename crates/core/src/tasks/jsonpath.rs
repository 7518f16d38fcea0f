//! What a query selects from a JSON document.

mod document;
mod scenario;
mod words;

use document::{Step, select};
use scenario::{Question, Scenario};

use super::Version;
use crate::{AnswerType, Dimension, Parameter, Params, PyRandom, Task, Test};

/// The task in a version.
pub(super) struct JsonPath(pub(super) Version);

const PARAMETERS: &[Parameter] = &[
    Parameter::int("depth", Dimension::Depth, [1, 8, 3], "how deep below its first name the query reaches"),
    Parameter::int(
        "width",
        Dimension::Length,
        [1, 8, 4],
        "number of members of each object or list along the query, without decoys",
    ),
    Parameter::word(
        "operators",
        Dimension::MultiStep,
        &["child", "index", "slice", "wildcard", "recursive", "filter"],
        "steps of the query: names, names and positions, or these plus one step of the given kind",
    )
    .with_default(3),
    Parameter::int(
        "noise",
        Dimension::Interference,
        [0, 16, 2],
        "number of decoys that resemble what the query selects",
    ),
    Parameter::word("layout", Dimension::Format, &["indented", "compact"], "how the document is laid out"),
];

impl Task for JsonPath {
    fn name(&self) -> &'static str {
        self.0.of(["jsonpath", "jsonpath@2"])
    }

    fn version(&self) -> u32 {
        self.0.number()
    }

    fn description(&self) -> &'static str {
        "List the values that a JSONPath query selects from a JSON document. Harder with deeper documents, more \
         members, steps that select several values, look-alikes beside the way and a layout without line breaks."
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn answer_type(&self) -> AnswerType {
        AnswerType::Json
    }

    fn generate(&self, params: &Params, rng: &mut PyRandom) -> Test {
        let scenario = Scenario {
            version: self.0,
            depth: params.size("depth"),
            width: params.size("width"),
            operators: params.word("operators"),
            noise: params.size("noise"),
        };
        let Question { document, query } = scenario.question(rng);

        let mut target = String::from("[");
        for (index, value) in select(&document, &query).into_iter().enumerate() {
            target.push_str(if index == 0 { "" } else { ", " });
            value.write_compact(&mut target);
        }
        target.push(']');

        let mut prompt = String::from("Here is a JSON document:\n\n");
        match params.word("layout") {
            "indented" => document.write_indented(0, &mut prompt),
            _ => document.write_compact(&mut prompt),
        }
        prompt.push_str("\n\nWhat does the JSONPath query $");
        for step in &query {
            step.write(&mut prompt);
        }
        prompt.push_str(" select from it?\n\n");
        write_rules(&query, &mut prompt);
        prompt.push_str(self.0.of([
            "The answer is a JSON list of the selected values, in the order in which they stand in the document.",
            "What a step looks for but does not find is left out. Reply with a JSON list of the selected values, in the \
             order in which they stand in the document, like [7, \"abc\"].",
        ]));
        Test::free_form(prompt, target)
    }
}

/// The meaning of the steps that the query has, since dialects of the language differ in it.
fn write_rules(query: &[Step], text: &mut String) {
    if query.iter().any(|step| matches!(step, Step::Index(_) | Step::Slice { .. })) {
        text.push_str("Positions in a list count from 0, negative ones from its end: [-1] is the last. ");
    }
    for step in query {
        match step {
            Step::Child(_) | Step::Index(_) => {}
            Step::Slice { .. } => text.push_str(
                "[a:b] selects the positions from a up to but not including b; without a it begins with the first, \
                 without b it ends with the last. ",
            ),
            Step::EveryMember => text.push_str(".* selects the value of every member of an object. "),
            Step::EveryElement => text.push_str("[*] selects every element of a list. "),
            Step::Descend(key) => text.extend([
                "..",
                key,
                " selects the value of every member named ",
                key,
                ", at any depth inside the value that the query has reached. ",
            ]),
            Step::Filter { .. } => text.push_str(
                "[?condition] selects the elements of a list for which the condition holds; @ is the element. ",
            ),
        }
    }
}
