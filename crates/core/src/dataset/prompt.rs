//! Builds a test from a question: its prompt, options and targets.

use super::options::{LETTERS, Options, listed_options};
use crate::Test;

/// A question with options.
///
/// # Errors
/// A target that isn't among the options.
pub(super) fn choice_test(
    input: &str,
    context: Option<&str>,
    options: &Options,
    targets: &[String],
) -> Result<Test, String> {
    let mut correct = Vec::new();
    for target in targets {
        let index = options.index_of(target).ok_or_else(|| {
            format!("`target` `{target}` is not among the options; expected a text, label, letter or 0-based index")
        })?;
        correct.push(options.texts[index].clone());
    }
    let target = correct.remove(0);
    // Don't repeat options that the question already lists.
    let shown =
        if options.texts.iter().all(|text| input.contains(text.as_str())) { &[][..] } else { &options.texts };
    Ok(Test {
        prompt: layout(input, context, shown),
        target,
        alternative_targets: correct,
        options: options.texts.clone(),
        scorer: None,
        stated_guess: None,
    })
}

/// A question without options of its own, unless it lists them itself.
pub(super) fn free_form_test(input: &str, context: Option<&str>, mut targets: Vec<String>) -> Test {
    let prompt = layout(input, context, &[]);
    if let Some((options, correct)) = listed_options(input, &targets) {
        return Test::choice(prompt, options, correct);
    }
    let alternative_targets = targets.split_off(1);
    Test {
        prompt,
        target: targets.remove(0),
        alternative_targets,
        options: Vec::new(),
        scorer: None,
        stated_guess: None,
    }
}

/// The prompt: context, question and options.
fn layout(input: &str, context: Option<&str>, options: &[String]) -> String {
    let mut prompt = String::new();
    if let Some(context) = context {
        prompt.push_str(context.trim());
        prompt.push_str("\n\n");
    }
    prompt.push_str(input.trim());
    for (index, (letter, option)) in LETTERS.zip(options).enumerate() {
        prompt.push_str(if index == 0 { "\n\n" } else { "\n" });
        prompt.push(letter);
        prompt.push_str(". ");
        prompt.push_str(option);
    }
    prompt
}
