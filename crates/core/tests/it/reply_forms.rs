//! Correct answers to generated problems, in the forms in which models write them: all of them are correct, and the same
//! forms of another answer aren't.

use crate::task_of::TaskOf;
use reasonscape_core::{AnswerType, Json, Outcome, Params, Reply, Task, Test, TestStream, score, tasks};

/// Forms of any answer: `@` is where it stands.
const FORMS: [&str; 44] = [
    "@",
    "@.",
    "**@**",
    "`@`",
    "$@$",
    "\"@\"",
    "Answer: @",
    "answer: @",
    "Answer: @.",
    "Answer: **@**",
    "**Answer:** @",
    "**Answer: @**",
    "### Answer\n@",
    "### Answer: @",
    "Answer:\n@",
    "Answer:\n\n@",
    "Answer:\n```\n@\n```",
    "Final answer: @",
    "**Final Answer:** @",
    "Final Answer: `@`",
    "The answer is @",
    "The answer is @.",
    "The answer is: @",
    "The answer is **@**.",
    "The final answer is @.",
    "So the answer is @.",
    "So, the correct answer is @.",
    "Therefore, the answer is **@**.",
    "Thus, the final answer is: **@**",
    "The result is @.",
    "\\boxed{@}",
    "$\\boxed{@}$",
    "The answer is $\\boxed{@}$.",
    "\\[\\boxed{@}\\]",
    "<answer>@</answer>",
    "<answer>\n@\n</answer>",
    "<b>Answer: @</b>",
    "[ANSWER]@[/ANSWER]",
    "Let me work through this.\n\nFirst I read the problem twice.\n\nAnswer: @",
    "I went through it step by step.\n\n@",
    "Answer: @\n\nLet me know if you have questions!",
    "<think>Let me see.\nI think so.</think>\n\nAnswer: @",
    "<think>Let me see.</think>@",
    "Answer: @<|im_end|>",
];

/// Other ways to write the answer itself, by its type.
fn notations(kind: AnswerType, test: &Test) -> Vec<String> {
    let target = test.target.as_str();
    let items: Vec<&str> = target.trim_matches(['[', ']']).split(", ").collect();
    match kind {
        AnswerType::Integer => vec![
            format!("{target}.0"),
            format!("**{target}**"),
            format!("{target} in total"),
            format!("the number {target}"),
            format!("x = {target}"),
            format!("{target} (as computed above)"),
            format!("{target} - as computed above"),
            format!("{target}, as computed above"),
        ],
        AnswerType::List => {
            let quoted: Vec<String> = items.iter().map(|item| format!("\"{item}\"")).collect();
            let numbered: Vec<String> = (1..).zip(&items).map(|(n, item)| format!("{n}. {item}")).collect();
            let half = items.len().div_ceil(2);
            vec![
                items.join(", "),
                items.join(","),
                format!("[{}]", items.join(", ")),
                format!("[{}]", quoted.join(", ")),
                quoted.join(", "),
                format!("{},\n{}", items[..half].join(", "), items[half..].join(", ")),
            ]
            .into_iter()
            .chain((items.len() > 1).then(|| format!("\n{}", numbered.join("\n"))))
            .chain((items.len() > 1).then(|| format!("\n- {}", items.join("\n- "))))
            .chain((items.len() > 1).then(|| format!("\n{}", items.join("\n"))))
            .collect()
        }
        AnswerType::Symbols => {
            let symbols: Vec<String> =
                target.chars().filter(|c| !c.is_whitespace()).map(String::from).collect();
            vec![
                symbols.join(" "),
                symbols.concat(),
                symbols.join(", "),
                format!("`{}`", symbols.join("` `")),
            ]
        }
        AnswerType::Boolean => {
            vec![target.to_lowercase(), target.to_uppercase(), format!("it evaluates to {target}")]
        }
        AnswerType::Choice | AnswerType::Cell | AnswerType::Text => {
            vec![
                target.to_uppercase(),
                format!("{target} (as shown above)"),
                format!("{target} - as shown above"),
            ]
        }
        AnswerType::Date => vec![format!("the date {target}"), format!("{target} (as computed above)")],
        AnswerType::Json => vec![format!("\n```json\n{target}\n```"), format!("the value {target}")],
    }
}

/// Points of a task: the default, and where it has a length, a short and a long one.
fn points(task: &'static dyn Task) -> Vec<Params> {
    let has_length = task.parameters().iter().any(|parameter| parameter.name == "length");
    let settings: &[&str] =
        if has_length { &["{}", r#"{"length": 4}"#, r#"{"length": 64}"#] } else { &["{}"] };
    settings.iter().filter_map(|text| Params::new(task, &Json::parse(text).unwrap()).ok()).collect()
}

/// The replies to a test in all forms, with names of the forms.
fn replies(kind: AnswerType, test: &Test) -> Vec<(String, String)> {
    let mut replies: Vec<(String, String)> =
        FORMS.iter().map(|form| ((*form).to_owned(), form.replace('@', &test.target))).collect();
    for (index, notation) in notations(kind, test).into_iter().enumerate() {
        for form in ["@", "Answer: @", "**Answer:** @", "Let me see.\n\nAnswer: @"] {
            let reply = form.replace('@', &notation).replace(": \n", ":\n").replace("** \n", "**\n");
            replies.push((format!("notation {index}, {form}"), reply));
        }
    }
    replies
}

#[test]
fn correct_answers_are_accepted_in_every_form_and_others_in_none() {
    let mut wrong = Vec::new();
    let (mut correct, mut incorrect) = (0, 0);
    for task in tasks::all() {
        for params in points(task) {
            let tests: Vec<Test> = TestStream::new(task, &params, 11).take(4).collect();
            for (index, test) in tests.iter().enumerate() {
                let other = &tests[(index + 1) % tests.len()];
                let is_correct =
                    |reply: &str| score(task, test, &Reply::from(reply), false).0 == Outcome::Correct;
                for (form, reply) in replies(task.answer_type(), test) {
                    correct += 1;
                    if !is_correct(&reply) {
                        wrong.push(format!("{} refuses {form:?}: {reply:?}", task.name()));
                    }
                }
                if test.target == other.target || other.options != test.options {
                    continue;
                }
                for (form, reply) in replies(task.answer_type(), other) {
                    incorrect += 1;
                    if is_correct(&reply) {
                        wrong.push(format!(
                            "{} accepts {form:?} for {}: {reply:?}",
                            task.name(),
                            test.target
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), correct + incorrect, wrong.join("\n"));
    assert!(correct > 5_000 && incorrect > 2_000, "{correct} and {incorrect} replies");
}

#[test]
fn word_answer_can_be_an_item_of_a_list() {
    let task = TaskOf(AnswerType::List);
    for items in [["answer", "apple", "zebra"], ["apple", "answer", "zebra"], ["apple", "result", "answer"]] {
        let test = Test::free_form(String::new(), items.join(", "));
        for (form, reply) in replies(AnswerType::List, &test) {
            let found = score(&task, &test, &Reply::from(reply.as_str()), false);
            assert_eq!(found.0, Outcome::Correct, "{form:?}: {reply:?} gives {:?}", found.1.answer);
        }
    }
}

/// What a reader could take for correct, and is refused on purpose: it isn't certain that it is the answer.
#[test]
fn hedged_and_double_answers_are_refused() {
    for (kind, target, reply) in [
        (AnswerType::Integer, "42", "Answer: about 42"),
        (AnswerType::Integer, "42", "Answer: 42?"),
        (AnswerType::Integer, "42", "Answer: 42 or 43"),
        (AnswerType::Integer, "42", "Answer: not 42"),
        (AnswerType::Integer, "42", "Answer: 40 to 42"),
        (AnswerType::Integer, "42", "Answer: 42%"),
        (AnswerType::List, "a, b, c", "Answer: c, b, a (reversed)"),
        (AnswerType::List, "a, b, c", "Answer: a, b, c, …"),
        (AnswerType::Symbols, ")]", "Answer: ([)]"),
        (AnswerType::Boolean, "True", "Answer: true or false"),
        (AnswerType::Boolean, "True", "Answer: True?"),
        (AnswerType::Date, "1998-01-06", "Answer: the day before 1998-01-06"),
        (AnswerType::Cell, "Oslo", "Answer: Oslo or Bergen"),
        (AnswerType::Json, "[1, 2]", "Answer: [1, 2, …]"),
    ] {
        let (task, test) = (TaskOf(kind), Test::free_form(String::new(), target));
        let found = score(&task, &test, &Reply::from(reply), false);
        assert_eq!(found.0, Outcome::Incorrect, "{reply} for {target}");
    }
}
