//! Templates: from a test to the messages of its request.

mod examples;

use std::io;
use std::path::Path;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, ErrorKind, UndefinedBehavior, Value, context};
use reasonscape_core::{AnswerType, Json, Params, Task, Test, TestStream, tasks};
use reasonscape_providers::{Message, Role};
use toml::Spanned;
use toml::de::DeValue;

pub use examples::Examples;

use crate::StudyError;
use crate::builtins::{Builtins, check_name};
use crate::keys::{message, template};
use crate::toml_document::{Document, Fields, TableItems, did_you_mean};

/// The templates that are built in.
pub(crate) const BUILTINS: Builtins = Builtins {
    kind: "template",
    dir: "templates",
    built_in: &[
        ("zero-shot", include_str!("../templates/zero-shot.toml")),
        ("zero-shot-cot", include_str!("../templates/zero-shot-cot.toml")),
        ("zero-shot-cot-nosys", include_str!("../templates/zero-shot-cot-nosys.toml")),
        ("few-shot", include_str!("../templates/few-shot.toml")),
        ("cot-confidence", include_str!("../templates/cot-confidence.toml")),
    ],
};

/// What a message's source may name.
const VARIABLES: &[&str] = &["prompt", "options", "task", "answer_type", "examples"];
/// More examples than this are surely a slip.
const MAX_SHOTS: i64 = 64;
/// Instructions that rendering a message may take; 64 examples take about two thousand.
const MAX_INSTRUCTIONS: u64 = 100_000;
/// Maximum bytes of a message.
const MAX_MESSAGE_BYTES: usize = 16 << 20;

/// What a template is given to render.
#[derive(Debug, Clone, Copy)]
pub struct TemplateInput<'a> {
    /// The task that the test belongs to.
    pub task: &'a dyn Task,
    /// The test.
    pub test: &'a Test,
    /// Worked examples; [`Examples::none`] for a template that wants none.
    pub examples: &'a Examples,
}

/// How a test is put to a model: messages with places for the question.
///
/// It is compiled once, renders the same bytes for the same question, and escapes nothing.
///
/// ```
/// use reasonscape_core::{Json, Params, TestStream, tasks};
/// use reasonscape_study::{Examples, TemplateInput, Template};
///
/// let template = Template::built_in("zero-shot-cot-nosys").expect("a built-in template");
/// let task = tasks::by_name("arithmetic").expect("a built-in task");
/// let params = Params::new(task, &Json::parse("{}")?)?;
/// let test = TestStream::new(task, &params, 0).next().expect("tests without end");
/// let messages = template.render(&TemplateInput { task, test: &test, examples: &Examples::none() })?;
/// assert!(messages[0].content.starts_with(&test.prompt));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Template {
    /// The name by which evals call it.
    pub name: String,
    /// One line for a person.
    pub description: String,
    /// How many worked examples it shows.
    pub shots: usize,
    origin: String,
    messages: Vec<Source>,
    environment: Environment<'static>,
    /// What the messages name; the rest need not be prepared for each question.
    used_variables: Vec<String>,
}

/// The source of one message, compiled in the environment under its number.
#[derive(Debug)]
struct Source {
    role: Role,
    id: String,
    /// The line of the file on which the content begins.
    line: usize,
}

impl Template {
    /// The names of the built-in templates.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> {
        BUILTINS.built_in.iter().map(|(name, _)| *name)
    }

    /// A built-in template.
    pub fn built_in(name: &str) -> Option<Self> {
        let (origin, text) = BUILTINS.built_in_text(name)?;
        Some(Self::parse(name, &origin, text).expect("a test parses every built-in template"))
    }

    /// The template of this name: a file in the folder's `templates/`, or else a built-in one.
    ///
    /// # Errors
    /// When there is none of this name, naming those there are; or when the file is wrong, naming the line.
    pub fn load(name: &str, dir: &Path) -> Result<Self, StudyError> {
        let (origin, text) = BUILTINS.find(name, dir)?;
        Self::parse(name, &origin, &text)
    }

    /// Reads a template. `origin` is how errors call the text.
    ///
    /// # Errors
    /// A [`StudyError`] with the line of what is wrong. A template is tried on a test of every task, so that what
    /// would fail in a run fails here.
    pub fn parse(name: &str, origin: &str, text: &str) -> Result<Self, StudyError> {
        let document = Document { origin, text };
        let mut fields = Fields::new(document, &template::KEYS, document.table()?)?;
        check_name(document, fields.text(template::NAME)?.as_ref(), name)?;
        let description = fields.text(template::DESCRIPTION)?.map(Spanned::into_inner).unwrap_or_default();
        let shots = fields.integer(template::SHOTS, 1..=MAX_SHOTS)?;
        let tables = fields.tables(template::MESSAGE)?;
        if tables.is_empty() {
            return Err(
                fields.missing(template::MESSAGE, "…` under [[message]], and `content = \"{{ prompt }}\"")
            );
        }
        let mut compiler =
            MessageCompiler { document, environment: environment(), used_variables: Vec::new() };
        let messages = tables
            .into_iter()
            .enumerate()
            .map(|(number, table)| compiler.message(number, table))
            .collect::<Result<Vec<_>, _>>()?;
        let uses = |variable: &str| compiler.used_variables.iter().any(|used| used == variable);
        let last = messages.last().map_or(1, |message| message.line);
        if !uses("prompt") {
            let problem = "no message has `{{ prompt }}`, so the problem would not be sent; add it to one";
            return Err(document.error_in_line(last, problem));
        }
        match &shots {
            Some(shots) if !uses("examples") => {
                let problem =
                    "`shots` is set, but no message uses `examples`; loop over them or remove `shots`";
                return Err(document.error(shots.span(), problem));
            }
            None if uses("examples") => {
                let problem = "a message uses `examples`, but `shots` is not set; add `shots = 3`";
                return Err(document.error_in_line(last, problem));
            }
            _ => {}
        }
        let template = Self {
            name: name.to_owned(),
            description,
            shots: shots.map_or(0, |shots| *shots.get_ref() as usize),
            origin: origin.to_owned(),
            messages,
            environment: compiler.environment,
            used_variables: compiler.used_variables,
        };
        template.validate_render()?;
        Ok(template)
    }

    /// The messages of a request.
    ///
    /// # Errors
    /// When an expression of the template cannot be worked out for this question, with its line.
    pub fn render(&self, input: &TemplateInput<'_>) -> Result<Vec<Message>, StudyError> {
        let TemplateInput { task, test, examples } = input;
        let if_used = |variable: &str, prepare: &dyn Fn() -> Value| {
            let is_used = self.used_variables.iter().any(|used| used == variable);
            if is_used { prepare() } else { Value::UNDEFINED }
        };
        let values = context! {
            prompt => test.prompt.as_str(),
            options => if_used("options", &|| Value::from(test.options.clone())),
            task => if_used("task", &|| Value::from(task.family())),
            answer_type => if_used("answer_type", &|| Value::from(answer_type(*task, test))),
            examples => if_used("examples", &|| examples.beside(&test.prompt)),
        };
        let message = |source: &Source| {
            let mut output = BoundedOutput(Vec::new());
            self.environment
                .get_template(&source.id)
                .and_then(|template| template.render_captured_to(values.clone(), &mut output))
                .map_err(|error| render_error(&self.origin, source.line, &error))?;
            let content = String::from_utf8_lossy(&output.0).into_owned();
            Ok(Message { role: source.role, content })
        };
        self.messages.iter().map(message).collect()
    }

    /// Renders a test of every task.
    fn validate_render(&self) -> Result<(), StudyError> {
        for task in tasks::all() {
            let params = Params::new(task, &Json::Object([].into())).expect("every task has defaults");
            let examples = Examples::new(task, &params, 0, self.shots);
            for test in TestStream::new(task, &params, 0).take(1) {
                let messages = self.render(&TemplateInput { task, test: &test, examples: &examples })?;
                let empty = messages
                    .iter()
                    .zip(&self.messages)
                    .find(|(message, _)| message.content.trim().is_empty());
                if let Some((_, source)) = empty {
                    let problem =
                        format!("this message is empty for a test of `{}`; give it words", task.name());
                    let origin = self.origin.clone();
                    return Err(StudyError::Invalid { origin, line: Some(source.line), problem });
                }
            }
        }
        Ok(())
    }
}

/// A message while it is rendered. Writing fails at the maximum.
struct BoundedOutput(Vec<u8>);

impl io::Write for BoundedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_MESSAGE_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Jinja as people know it from chat templates: tags on lines of their own leave no blank lines behind.
fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(MAX_INSTRUCTIONS));
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.expect("these options go together"));
    environment
}

/// How an answer to the test is compared, in one word.
fn answer_type(task: &dyn Task, test: &Test) -> &'static str {
    match task.answer_type() {
        AnswerType::Boolean => "boolean",
        _ if !test.options.is_empty() => "choice",
        AnswerType::Choice => "choice",
        AnswerType::Integer => "integer",
        AnswerType::List => "list",
        AnswerType::Symbols => "symbols",
        AnswerType::Date => "date",
        AnswerType::Json => "json",
        AnswerType::Cell => "cell",
        AnswerType::Text => "text",
    }
}

fn render_error(origin: &str, first_line: usize, error: &minijinja::Error) -> StudyError {
    let detail = match error.kind() {
        ErrorKind::OutOfFuel => {
            format!(": the message takes more than {MAX_INSTRUCTIONS} steps; shorten its loops")
        }
        ErrorKind::WriteFailure => {
            format!(": the message has more than {} MiB; shorten its loops", MAX_MESSAGE_BYTES >> 20)
        }
        _ => error.detail().map_or_else(String::new, |detail| format!(": {detail}")),
    };
    StudyError::Invalid {
        origin: origin.to_owned(),
        line: Some(first_line + error.line().unwrap_or(1) - 1),
        problem: format!("{}{detail}", error.kind()),
    }
}

/// Compiles messages and collects the variables that they use.
struct MessageCompiler<'d> {
    document: Document<'d>,
    environment: Environment<'static>,
    used_variables: Vec<String>,
}

impl<'d> MessageCompiler<'d> {
    fn message(&mut self, number: usize, table: Spanned<TableItems<'d>>) -> Result<Source, StudyError> {
        let mut fields = Fields::new(self.document, &message::KEYS, table)?;
        let role = fields.text(message::ROLE)?.ok_or_else(|| fields.missing(message::ROLE, "\"user\""))?;
        let role = role.get_ref().parse::<Role>().map_err(|()| {
            let known = Role::ALL.map(Role::name);
            let hint = did_you_mean(role.get_ref(), &known);
            let problem = format!("unknown role `{}`{hint}; there are {}", role.get_ref(), known.join(", "));
            self.document.error(role.span(), problem)
        })?;
        let missing = fields.missing(message::CONTENT, "\"{{ prompt }}\"");
        let content = fields.take(message::CONTENT).ok_or(missing)?;
        let line = self.first_line(content.span());
        let DeValue::String(source) = content.get_ref() else {
            return Err(fields.mismatch(content.span(), message::CONTENT, content.get_ref(), "a string"));
        };
        let id = number.to_string();
        self.environment
            .add_template_owned(id.clone(), source.clone().into_owned())
            .map_err(|error| render_error(self.document.origin, line, &error))?;
        self.collect_variables(&id, line)?;
        Ok(Source { role, id, line })
    }

    /// The line on which a string's text begins, which for `"""` may be the next one.
    fn first_line(&self, span: std::ops::Range<usize>) -> usize {
        let written = &self.document.text[span.clone()];
        let quotes_alone =
            ["\"\"\"\n", "\"\"\"\r\n", "'''\n", "'''\r\n"].iter().any(|q| written.starts_with(q));
        self.document.line(span.start) + usize::from(quotes_alone)
    }

    /// Collects the variables that a message uses; an unknown one is an error.
    fn collect_variables(&mut self, id: &str, line: usize) -> Result<(), StudyError> {
        let compiled = self.environment.get_template(id).expect("it was added just now");
        let mut used: Vec<String> = compiled.undeclared_variables(false).into_iter().collect();
        used.retain(|name| !self.environment.globals().any(|(global, _)| global == name));
        used.sort();
        if let Some(name) = used.iter().find(|name| !VARIABLES.contains(&name.as_str())) {
            let hint = did_you_mean(name, VARIABLES);
            let problem = format!("unknown variable `{name}`{hint}; there are {}", VARIABLES.join(", "));
            return Err(self.document.error_in_line(line, problem));
        }
        self.used_variables.extend(used);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_template_parses() {
        for name in Template::built_in_names() {
            assert!(!Template::built_in(name).unwrap().description.is_empty(), "{name}");
        }
    }
}
