//! Templates: what is rendered, what is refused, and that an answer in the form they ask for is found.

use reasonscape_core::{Json, Params, Reply, Task, Test, TestStream, extract, tasks};
use reasonscape_providers::{Message, Role};
use reasonscape_study::{Examples, Sampler, Template, TemplateInput};

fn point(task: &'static dyn Task) -> Params {
    Params::new(task, &Json::parse("{}").unwrap()).unwrap()
}

fn first_test(name: &str) -> (&'static dyn Task, Test) {
    let task = tasks::by_name(name).unwrap();
    (task, TestStream::new(task, &point(task), 0).next().unwrap())
}

fn render(template: &Template, task: &'static dyn Task, test: &Test) -> Vec<Message> {
    let examples = Examples::new(task, &point(task), 0, template.shots);
    template.render(&TemplateInput { task, test, examples: &examples }).unwrap()
}

fn one_message(content: &str) -> String {
    format!("[[message]]\nrole = \"user\"\ncontent = '''\n{content}'''\n")
}

#[test]
fn every_built_in_template_renders_every_task() {
    for name in Template::built_in_names() {
        let template = Template::built_in(name).unwrap();
        for task in tasks::all() {
            let test = TestStream::new(task, &point(task), 0).next().unwrap();
            let messages = render(&template, task, &test);
            assert_eq!(messages, render(&template, task, &test), "{name}");
            let last = messages.last().unwrap();
            assert_eq!(last.role, Role::User);
            assert!(last.content.contains(&test.prompt), "{name} {}", task.name());
            for message in &messages {
                assert_eq!(message.content.trim(), message.content, "{name}");
                assert!(!message.content.contains("{{ ") && !message.content.contains("\n\n\n"), "{name}");
            }
        }
    }
}

#[test]
fn answers_in_the_requested_form_are_extracted() {
    for task in tasks::all() {
        for test in TestStream::new(task, &point(task), 0).take(16) {
            for reply in [
                format!("Answer: {}", test.target),
                format!("First this, then that.\n\nAnswer: {}", test.target),
                format!("First this, then that.\nAnswer: {}\nConfidence: 85%", test.target),
            ] {
                let found = extract(&Reply::from(reply.as_str())).answer;
                let is_correct = found.as_deref().is_some_and(|answer| task.check(answer, &test));
                assert!(is_correct, "{}: {found:?} in {reply}", task.name());
            }
        }
    }
}

#[test]
fn few_shot_prompt_layout() {
    let (task, test) = first_test("arithmetic");
    let template = Template::built_in("few-shot").unwrap();
    let messages = render(&template, task, &test);
    let examples = Examples::new(task, &point(task), 0, 3);
    let shown = examples.prompts_beside(&test.prompt);
    let content = &messages[1].content;
    assert!(content.starts_with(&format!(
        "Here are questions of the same kind with their answers.\n\nQuestion: {}\n\nAnswer: ",
        shown[0]
    )));
    assert!(
        content.ends_with(&format!("\n\nNow the question for you.\n\nQuestion: {}", test.prompt)),
        "{content}"
    );
    assert_eq!(content.matches("\nAnswer: ").count(), 3);
}

#[test]
fn prompts_are_neither_escaped_nor_rendered() {
    let (task, mut test) = first_test("shapes");
    test.prompt = "<path d=\"M 1 & 2\"/> {{ prompt }} {% if %} {# x #} 'é' \u{1f600}\n".to_owned();
    let template =
        Template::parse("mine.html", "`mine`", &one_message("{{ prompt }}|{{ options | join(', ') }}"))
            .unwrap();
    let content = render(&template, task, &test).remove(0).content;
    assert_eq!(content, format!("{}|{}", test.prompt, test.options.join(", ")));
}

#[test]
fn templates_can_use_task_and_answer_type() {
    let source = one_message("{{ task }} {{ answer_type }} {{ options | length }} {{ prompt | length > 0 }}");
    let template = Template::parse("mine", "`mine`", &source).unwrap();
    for (name, says) in [
        ("arithmetic", "arithmetic integer 0 "),
        ("boolean", "boolean boolean 2 "),
        ("shapes", "shapes choice "),
    ] {
        let (task, test) = first_test(name);
        let content = render(&template, task, &test).remove(0).content;
        assert!(content.starts_with(says), "{content}");
    }
}

#[test]
fn template_errors_have_a_line() {
    for (text, line, says) in [
        ("", 1, "a template has no `message`"),
        ("shots = 0", 1, "`shots` is 0"),
        ("descripton = \"x\"", 1, "`descripton` (did you mean `description`?)"),
        ("name = \"yours\"", 1, "`name` is `yours`, but the file name is `mine`"),
        (
            "[[message]]\nrole = \"usr\"\ncontent = \"{{ prompt }}\"",
            2,
            "unknown role `usr` (did you mean `user`?)",
        ),
        ("[[message]]\ncontent = \"{{ prompt }}\"", 1, "has no `role`"),
        ("[[message]]\nrole = \"user\"", 1, "has no `content`"),
        ("[[message]]\nrole = \"user\"\ncontent = 3", 3, "`content` is an integer"),
        ("[[message]]\nrole = \"user\"\ncontent = \"hello\"", 3, "no message has `{{ prompt }}`"),
        (
            "[[message]]\nrole = \"user\"\ncontent = \"{{ promt }}\"",
            3,
            "unknown variable `promt` (did you mean `prompt`?)",
        ),
        (
            "shots = 2\n[[message]]\nrole = \"user\"\ncontent = \"{{ prompt }}\"",
            1,
            "no message uses `examples`",
        ),
        ("[[message]]\nrole = \"user\"\ncontent = \"{{ prompt }}{{ examples }}\"", 3, "add `shots = 3`"),
        ("[[message]]\nrole = \"user\"\ncontent = '''\none\n{{ prompt }}\n{% if %}'''", 6, "syntax error"),
        ("[[message]]\nrole = \"user\"\ncontent = '''\none\n{{ prompt | shout }}'''", 5, "shout"),
        (
            "[[message]]\nrole = \"user\"\ncontent = '''\n{{ prompt }}\n{{ options[0].x.y }}'''",
            5,
            "undefined",
        ),
        (
            "[[message]]\nrole = \"system\"\ncontent = \" \"\n[[message]]\nrole = \"user\"\ncontent = \"{{ prompt }}\"",
            3,
            "this message is empty",
        ),
    ] {
        let error = Template::parse("mine", "`mine.toml`", text).expect_err(text);
        assert_eq!(error.line(), Some(line), "{error}\n{text}");
        let error = error.to_string();
        assert!(error.starts_with("`mine.toml`: line ") && error.contains(says), "{error}");
    }
}

#[test]
fn samplers_pass_any_json_value_through() {
    let text = "
        description = \"everything\"
        [params]
        top_k = 40
        min_p = 0.05
        one = 1.0
        stop = [\"</s>\", \"\\n\\n\"]
        reasoning_effort = \"low\"
        hex = 0xff
        nested = { a = { b = [1, [2.5, true]] } }
        n = 1
        stream = false
    ";
    let sampler = Sampler::parse("mine", "`mine`", text).unwrap();
    let json = serde_json::to_string(&sampler.params).unwrap();
    assert_eq!(
        json,
        r#"{"hex":255,"min_p":0.05,"n":1,"nested":{"a":{"b":[1,[2.5,true]]}},"one":1.0,"reasoning_effort":"low","stop":["</s>","\n\n"],"stream":false,"top_k":40}"#
    );
}

#[test]
fn sampler_errors_have_a_line() {
    for (line, says) in [
        ("when = 2020-01-01", "`when` is a date or time, which JSON cannot carry"),
        ("a = { when = 10:00:00 }", "`when` is a date or time"),
        ("temperature = nan", "`temperature` is not a finite number"),
        ("temperature = inf", "`temperature` is not a finite number"),
        ("seed = 99999999999999999999", "`seed` is too large"),
        ("model = \"x\"", "`model` does not belong in a sampler"),
        ("messages = []", "`messages` does not belong"),
        ("stream = true", "`stream` must be off"),
        ("n = 4", "set `repeats`"),
    ] {
        let error = Sampler::parse("mine", "`mine.toml`", &format!("[params]\n{line}")).expect_err(line);
        assert_eq!(error.line(), Some(2), "{error}");
        assert!(error.to_string().contains(says), "{error}");
    }
    let error = Sampler::parse("mine", "`mine.toml`", "temperature = 0").unwrap_err().to_string();
    assert!(error.contains("unknown key `temperature`; a sampler has name, description, params"), "{error}");
    let error = Sampler::parse("mine", "`mine.toml`", "").unwrap_err().to_string();
    assert!(error.contains("a sampler has no `params`"), "{error}");
}
