//! Layouts of public datasets are read as they are: a model that always answers the target scores 1, a wrong one 0.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, ListBuilder, RecordBatch, StringArray, StringBuilder};
use parquet::arrow::ArrowWriter;
use reasonscape_core::{Dataset, Outcome, Reply, Test, detect_scorer, score};
use reasonscape_ingest::dataset_reader::{DatasetFormat, DatasetItems, TargetExtraction};
use tempfile::TempDir;

fn recognizing() -> DatasetFormat {
    DatasetFormat { recognize: true, ..DatasetFormat::default() }
}

fn read_with(format: &DatasetFormat, file: &str, content: &str) -> Result<DatasetItems, String> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(file);
    fs::write(&path, content).unwrap();
    format.read(&path).map_err(|error| error.to_string())
}

fn read(file: &str, content: &str) -> DatasetItems {
    read_with(&recognizing(), file, content).unwrap_or_else(|error| panic!("{file}: {error}\n{content}"))
}

/// Accuracy of a model over all items, with its replies in several frames.
fn accuracies(items: &DatasetItems, answers: impl Fn(&Test) -> Vec<String>) -> Vec<f64> {
    let dataset = Dataset::new("oracle", items.items.clone());
    let scorer = detect_scorer(dataset.items()).scorer;
    let dataset = dataset.with_scorer(scorer);
    let frames = ["@", "Let me think.\nAnswer: @", "The answer is @.", r"So \boxed{@}", "<answer>@</answer>"];
    let accuracy = |frame: &str| {
        let (mut correct, mut total) = (0, 0);
        for task in dataset.tasks() {
            for item in task.items() {
                for answer in answers(&item.test) {
                    let reply = frame.replace('@', &answer);
                    let (outcome, _) = score(&**task, &item.test, &Reply::from(reply.as_str()), false);
                    correct += usize::from(outcome == Outcome::Correct);
                    total += 1;
                }
            }
        }
        f64::from(correct as u32) / f64::from(total as u32)
    };
    frames.into_iter().map(accuracy).collect()
}

fn letter(index: usize) -> String {
    char::from(b'A' + u8::try_from(index).unwrap()).to_string()
}

/// Ways to say the target: its text, and its letter where there are options.
fn right(test: &Test) -> Vec<String> {
    let place = test.options.iter().position(|option| *option == test.target);
    // A single letter as option's text is that text.
    let has_letters = test
        .options
        .iter()
        .all(|option| option.chars().count() > 1 || !option.starts_with(char::is_alphabetic));
    let letters = place.filter(|_| has_letters).map(letter);
    std::iter::once(test.target.clone()).chain(letters).collect()
}

/// Every other option, or these answers.
fn wrong(test: &Test, answers: &[&str]) -> Vec<String> {
    if test.options.is_empty() {
        return answers.iter().map(|answer| (*answer).to_owned()).collect();
    }
    let others = test
        .options
        .iter()
        .filter(|option| **option != test.target && !test.alternative_targets.contains(option));
    others.cloned().collect()
}

struct LayoutCase {
    /// File name, its content and what is said about it.
    file: &'static str,
    content: &'static str,
    note: &'static str,
    /// The targets that are read.
    targets: &'static [&'static str],
    /// The options of the first item; 0 for a free-form question.
    options: usize,
    wrong: &'static [&'static str],
}

const CASES: [LayoutCase; 37] = [
    LayoutCase {
        file: "word_problems.jsonl",
        content: r#"{"question": "Ann has 3 pens and buys 4. How many?", "answer": "She has 3 + 4 = <<3+4=7>>7.\n#### 7"}
{"question": "A crate costs $1,000 more. What is it?", "answer": "It costs more.\n#### 1,200"}"#,
        note: "looks like GSM8K: input=question, target=answer (target after ####)",
        targets: &["7", "1,200"],
        options: 0,
        wrong: &["8", "1,209"],
    },
    LayoutCase {
        file: "solutions.jsonl",
        content: r#"{"problem": "Halve one.", "solution": "We get $\\boxed{\\frac{1}{2}}$.", "level": "Level 1", "type": "Algebra"}
{"problem": "Solve.", "solution": "First \\boxed{3}, finally $\\boxed{\\text{(C)} \\{1, 2\\}}$.", "type": "Algebra"}"#,
        note: r"looks like MATH: input=problem, target=solution, category=type (target in the last \boxed{…})",
        targets: &[r"\frac{1}{2}", r"\text{(C)} \{1, 2\}"],
        options: 0,
        wrong: &[r"\frac{1}{3}"],
    },
    LayoutCase {
        file: "math_answers.jsonl",
        content: r#"{"problem": "Polar?", "solution": "So \\boxed{(3, 4)}.", "answer": "\\left( 3, \\frac{\\pi}{2} \\right)", "subject": "Precalculus", "unique_id": "p/1"}"#,
        note: "looks like MATH with answers: id=unique_id, input=problem, target=answer, category=subject",
        targets: &[r"\left( 3, \frac{\pi}{2} \right)"],
        options: 0,
        wrong: &[r"\left( 3, \frac{\pi}{3} \right)"],
    },
    LayoutCase {
        file: "dollars.jsonl",
        content: r#"{"question": "Simplify: $-10-4(n-5)$", "answer": "$10-4 n$", "data_topic": "algebra"}
{"question": "Divide.", "answer": "$\\frac{48 i-56}{85}$"}"#,
        note: "reading input=question, target=answer",
        targets: &["$10-4 n$", r"$\frac{48 i-56}{85}$"],
        options: 0,
        wrong: &["$10+4 n$"],
    },
    LayoutCase {
        file: "lists.jsonl",
        content: r#"{"question": "Find k.", "final_answer": ["$2$"]}
{"question": "Find all.", "final_answer": ["$x=1$", "$x=2$"]}"#,
        note: "reading input=question, target=final_answer",
        targets: &["$2$", "$x=1$"],
        options: 0,
        wrong: &["17"],
    },
    LayoutCase {
        file: "boxed_letters.jsonl",
        content: r#"{"prompt": "Which?", "answer": "\\boxed{D}"}
{"prompt": "And which?", "answer": "\\boxed{A}"}"#,
        note: "reading input=prompt, target=answer",
        targets: &[r"\boxed{D}", r"\boxed{A}"],
        options: 0,
        wrong: &["C", r"\boxed{B}"],
    },
    LayoutCase {
        file: "mmlu_rows.jsonl",
        content: r#"{"question": "Which is odd?", "choices": ["0", "4", "3", "6"], "answer": 2, "subject": "algebra"}
{"question": "Which is even?", "choices": ["2", "5", "7", "9"], "answer": 0, "subject": "algebra"}
{"question": "Which is a metal?", "choices": ["wood", "iron", "glass", "air"], "answer": 1, "subject": "matter"}"#,
        note: "looks like MMLU: input=question, options=choices, target=answer, category=subject",
        targets: &["3", "2", "iron"],
        options: 4,
        wrong: &[],
    },
    LayoutCase {
        file: "mmlu_test.csv",
        content: "\"Find the degree, over Q.\",0,4,2,6,B\n\"Which zeros?\",0,1,\"0,1\",\"0,4\",D\n",
        note: "the first row is data, so the columns are question, A, B, C, D, answer",
        targets: &["4", "0,4"],
        options: 4,
        wrong: &[],
    },
    LayoutCase {
        file: "columns.csv",
        content: "id,question,A,B,C,D,answer\n1,Which is a fruit?,pear,spade,rope,nail,A\n2,Which is a tool?,plum,spade,fig,kiwi,B\n",
        note: "looks like a table with option columns: input=question, options=A+B+C+D, target=answer",
        targets: &["pear", "spade"],
        options: 4,
        wrong: &[],
    },
    LayoutCase {
        file: "pro.jsonl",
        content: r#"{"question_id": 70, "question": "Which?", "options": ["wood", "iron", "glass", "air", "sand"], "answer": "B", "answer_index": 1, "category": "physics"}"#,
        note: "looks like MMLU-Pro: id=question_id, input=question, target=answer",
        targets: &["iron"],
        options: 5,
        wrong: &[],
    },
    LayoutCase {
        file: "arc.jsonl",
        content: r#"{"id": "M_1", "question": "Which is a metal?", "choices": {"text": ["wood", "iron", "glass"], "label": ["1", "2", "3"]}, "answerKey": "2"}"#,
        note: "looks like ARC or CommonsenseQA: input=question, options=choices, target=answerKey",
        targets: &["iron"],
        options: 3,
        wrong: &[],
    },
    LayoutCase {
        file: "ai2.jsonl",
        content: r#"{"id": "8-343", "question": {"stem": "To save money one can", "choices": [{"text": "call more", "label": "A"}, {"text": "eat at home", "label": "B"}]}, "answerKey": "B"}"#,
        note: "looks like AI2 multiple choice: input=question.stem, options=question.choices, target=answerKey",
        targets: &["eat at home"],
        options: 2,
        wrong: &[],
    },
    LayoutCase {
        file: "medical.jsonl",
        content: r#"{"question": "What next?", "options": {"A": "rest", "B": "water", "C": "tea"}, "answer": "tea", "answer_idx": "C"}"#,
        note: "looks like MedQA: input=question, target=answer_idx",
        targets: &["tea"],
        options: 3,
        wrong: &[],
    },
    LayoutCase {
        file: "aqua.jsonl",
        content: r#"{"question": "How long?", "options": ["A)5(√3 + 1)", "B)6(√3 + √2)", "C)None of these"], "rationale": "…", "correct": "A"}"#,
        note: "looks like AQuA: input=question, target=correct",
        targets: &["5(√3 + 1)"],
        options: 3,
        wrong: &[],
    },
    LayoutCase {
        file: "one_string.json",
        content: r#"[{"Problem": "what is the average of 26 , 50 ?", "options": "a ) 38 , b ) 27.675 , c ) none of these", "correct": "a"}]"#,
        note: "looks like MathQA: input=Problem, target=correct",
        targets: &["38"],
        options: 3,
        wrong: &[],
    },
    LayoutCase {
        file: "task.json",
        content: r#"{"name": "metals", "description": "…", "keywords": ["x"], "examples": [
            {"input": "Which is a metal?", "target_scores": {"iron": 1, "wood": 0, "glass": 0}},
            {"input": "Which is a fruit?", "target_scores": {"rope": 0, "pear": 1}}]}"#,
        note: "looks like BIG-bench",
        targets: &["iron", "pear"],
        options: 3,
        wrong: &[],
    },
    LayoutCase {
        file: "bbh_letters.json",
        content: r#"{"canary": "…", "examples": [{"input": "Which is a metal?\nOptions:\n(A) wood\n(B) iron", "target": "(B)"}]}"#,
        note: "",
        targets: &["iron"],
        options: 2,
        wrong: &[],
    },
    LayoutCase {
        file: "bbh_dashes.json",
        content: r#"{"canary": "…", "examples": [{"input": "Did it rain?\nOptions:\n- Yes\n- No", "target": "No"}, {"input": "Did it snow?\nOptions:\n- Yes\n- No", "target": "Yes"}]}"#,
        note: "",
        targets: &["No", "Yes"],
        options: 2,
        wrong: &[],
    },
    LayoutCase {
        file: "bbh_truth.json",
        content: r#"{"canary": "…", "examples": [{"input": "not ( True ) is", "target": "False"}, {"input": "True or False is", "target": "True"}]}"#,
        note: "",
        targets: &["False", "True"],
        options: 0,
        wrong: &["maybe", "Oslo"],
    },
    LayoutCase {
        file: "server_rows.json",
        content: r#"{"features": [], "rows": [{"row_idx": 0, "row": {"question": "Is it?", "passage": "It is.", "answer": true}, "truncated_cells": []}], "num_rows_total": 1}"#,
        note: "looks like BoolQ: input=question, context=passage, target=answer",
        targets: &["true"],
        options: 0,
        wrong: &["false", "No"],
    },
    LayoutCase {
        file: "endings.jsonl",
        content: r#"{"ctx": "He opens the door and", "endings": ["walks in.", "eats it.", "is a door.", "was Tuesday."], "label": "0"}
{"ctx": "She lifts the cup and", "endings": ["sleeps.", "was blue.", "drinks.", "is eaten."], "label": "2"}"#,
        note: "looks like HellaSwag: input=ctx, options=endings, target=label",
        targets: &["walks in.", "drinks."],
        options: 4,
        wrong: &[],
    },
    LayoutCase {
        file: "pairs.jsonl",
        content: r#"{"sentence": "The cup broke the plate because the _ was hard.", "option1": "cup", "option2": "plate", "answer": "1"}
{"sentence": "Ann thanked Eve because _ had helped.", "option1": "Ann", "option2": "Eve", "answer": "2"}"#,
        note: "targets are numbers of options, from 1",
        targets: &["cup", "Eve"],
        options: 2,
        wrong: &[],
    },
    LayoutCase {
        file: "distractors.jsonl",
        content: r#"{"question": "Which is a metal?", "correct_answer": "iron", "distractor1": "wood", "distractor2": "glass", "distractor3": "air", "support": ""}"#,
        note: "looks like SciQ: input=question, target=correct_answer",
        targets: &["iron"],
        options: 4,
        wrong: &[],
    },
    LayoutCase {
        file: "graduate.csv",
        content: "Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3,Subdomain\nWhich one?,~10^-4 eV,10^-11 eV,10^-8 eV,10^-9 eV,Physics\n",
        note: "looks like GPQA: input=Question, target=Correct Answer, category=Subdomain",
        targets: &["~10^-4 eV"],
        options: 4,
        wrong: &[],
    },
    LayoutCase {
        file: "truthful.csv",
        content: "Type,Category,Question,Best Answer,Correct Answers,Incorrect Answers,Source\nA,Myths,What happens?,Nothing much,Nothing happens; You digest it,You grow it,x\n",
        note: "looks like TruthfulQA: input=Question, category=Category",
        targets: &["Nothing much"],
        options: 0,
        wrong: &["You grow it"],
    },
    LayoutCase {
        file: "stems.jsonl",
        content: r#"{"id": "1", "question_stem": "Which is a metal?", "choices": {"text": ["wood", "iron"], "label": ["A", "B"]}, "answerKey": "B"}"#,
        note: "looks like OpenBookQA: input=question_stem, options=choices, target=answerKey",
        targets: &["iron"],
        options: 2,
        wrong: &[],
    },
    LayoutCase {
        file: "articles.jsonl",
        content: r#"{"example_id": "a", "article": "Ann likes tea.", "question": "What does Ann like?", "options": ["milk", "tea"], "answer": "B"}"#,
        note: "looks like RACE: input=question, context=article, target=answer",
        targets: &["tea"],
        options: 2,
        wrong: &[],
    },
    LayoutCase {
        file: "logic.jsonl",
        content: r#"{"context": "All cats purr.", "query": "What follows?", "options": ["Tom barks", "Tom purrs", "None"], "correct_option": 1}"#,
        note: "looks like LogiQA: input=query, target=correct_option",
        targets: &["Tom purrs"],
        options: 3,
        wrong: &[],
    },
    LayoutCase {
        file: "clinic.jsonl",
        content: r#"{"id": "m1", "question": "Which is an organ?", "opa": "tea", "opb": "heart", "opc": "shoe", "opd": "lamp", "cop": 1, "subject_name": "Anatomy"}
{"id": "m2", "question": "Which is a bone?", "opa": "rib", "opb": "lung", "opc": "eye", "opd": "skin", "cop": 0, "subject_name": "Anatomy"}"#,
        note: "looks like MedMCQA: input=question, options=opa+opb+opc+opd, target=cop, category=subject_name",
        targets: &["heart", "rib"],
        options: 4,
        wrong: &[],
    },
    LayoutCase {
        file: "goals.jsonl",
        content: r#"{"goal": "Open a door", "sol1": "Sing to it", "sol2": "Turn the knob", "label": 1}"#,
        note: "looks like PIQA: input=goal, options=sol1+sol2, target=label",
        targets: &["Turn the knob"],
        options: 2,
        wrong: &[],
    },
    LayoutCase {
        file: "social.jsonl",
        content: r#"{"context": "Ann fell.", "question": "How does she feel?", "answerA": "hurt", "answerB": "rich", "answerC": "tall", "label": "1"}"#,
        note: "looks like Social IQa: input=question, options=answerA+answerB+answerC, target=label",
        targets: &["hurt"],
        options: 3,
        wrong: &[],
    },
    LayoutCase {
        file: "pair_of_one.jsonl",
        content: r#"{"sentence": "The cup was full, so _ was heavy.", "option1": "the cup", "option2": "the air", "answer": "1"}"#,
        note: "looks like WinoGrande: input=sentence, options=option1+option2, target=answer",
        targets: &["the cup"],
        options: 2,
        wrong: &[],
    },
    LayoutCase {
        file: "truthful_choice.jsonl",
        content: r#"{"question": "What do cats drink?", "mc1_targets": {"choices": ["Water", "Only milk", "Ink"], "labels": [1, 0, 0]}, "mc2_targets": {"choices": ["Water"], "labels": [1]}}"#,
        note: "(options of mc1_targets in alphabetical order)",
        targets: &["Water"],
        options: 3,
        wrong: &[],
    },
    LayoutCase {
        file: "bodies.json",
        content: r#"[{"ID": "chal-1", "Body": "Ann has 5 pens and 3 cups.", "Question": "How many more pens than cups?", "Equation": "( 5.0 - 3.0 )", "Answer": 2.0, "Type": "Subtraction"}]"#,
        note: "looks like SVAMP: id=ID, input=Question, context=Body, target=Answer, category=Type",
        targets: &["2.0"],
        options: 0,
        wrong: &["3", "5"],
    },
    LayoutCase {
        file: "trivia.jsonl",
        content: r#"{"question": "Where is the harbor?", "question_id": "t1", "answer": {"value": "Oslo", "aliases": ["Oslo", "Oslo, Norway"], "normalized_aliases": ["oslo"]}}"#,
        note: "(targets from answer.value and answer.aliases)",
        targets: &["Oslo"],
        options: 0,
        wrong: &["Bergen"],
    },
    LayoutCase {
        file: "wrapped.json",
        content: r#"{"version": "1.1", "data": [{"input": "6 * 7?", "target": "42"}, {"input": "6 * 6?", "target": "36"}]}"#,
        note: "",
        targets: &["42", "36"],
        options: 0,
        wrong: &["43"],
    },
    LayoutCase {
        file: "some_ids.jsonl",
        content: r#"{"id": "a", "input": "6 * 7?", "target": 42}
{"input": "6 * 8?", "target": 48}"#,
        note: "",
        targets: &["42", "48"],
        options: 0,
        wrong: &["43", "4"],
    },
];

#[test]
fn oracle_scores_one_and_a_wrong_model_zero_on_every_layout() {
    for case in &CASES {
        let found = read(case.file, case.content);
        let notes = found.notes.join("\n");
        assert!(
            notes.contains(case.note) && (!case.note.is_empty() || notes.is_empty()),
            "{}: {notes}",
            case.file
        );
        let targets: Vec<&str> = found.items.iter().map(|item| item.test.target.as_str()).collect();
        assert_eq!(targets, case.targets, "{}", case.file);
        assert_eq!(found.items[0].test.options.len(), case.options, "{}", case.file);
        assert_eq!(accuracies(&found, right), [1.0; 5], "{}", case.file);
        assert_eq!(accuracies(&found, |test| wrong(test, case.wrong)), [0.0; 5], "{}", case.file);
    }
}

#[test]
fn guess_rate_of_listed_options_is_one_in_their_number() {
    let found = read("bbh.json", CASES[17].content);
    assert_eq!(found.items[0].test.guess(), 0.5);
    assert_eq!(found.items[0].test.prompt, found.items[0].input, "the options aren't repeated");
}

fn write_parquet(path: &Path, first: i64) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let questions: ArrayRef = Arc::new(StringArray::from(vec!["Which?", "And which?"]));
    let answers: ArrayRef = Arc::new(Int64Array::from(vec![first, 1 - first]));
    let mut choices = ListBuilder::new(StringBuilder::new());
    for _ in 0..2 {
        choices.values().append_value("iron");
        choices.values().append_value("wood");
        choices.append(true);
    }
    let choices: ArrayRef = Arc::new(choices.finish());
    let batch =
        RecordBatch::try_from_iter([("question", questions), ("choices", choices), ("answer", answers)])
            .unwrap();
    let mut writer = ArrowWriter::try_new(fs::File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn reads_shards_of_a_dataset_folder_as_one() {
    let folder = TempDir::new().unwrap();
    for (file, first) in [("test-00000-of-00002", 0), ("test-00001-of-00002", 1), ("dev-00000-of-00001", 0)] {
        write_parquet(&folder.path().join("data").join(format!("{file}.parquet")), first);
    }
    let found = recognizing().read(folder.path()).unwrap();
    let targets: Vec<&str> = found.items.iter().map(|item| item.test.target.as_str()).collect();
    assert_eq!(targets, ["iron", "wood", "wood", "iron"]);
    let ids: Vec<&str> = found.items.iter().map(|item| item.id.as_str()).collect();
    assert_eq!(ids, ["1", "2", "3", "4"]);
    assert!(
        found.notes[0].contains("reading split `test`") && found.notes[0].contains("2 files"),
        "{:?}",
        found.notes
    );
    assert!(found.notes[0].contains("choose `validation` with `--split`"), "{:?}", found.notes);
    assert_eq!(accuracies(&found, right), [1.0; 5]);
    let dev = DatasetFormat { split: Some("validation".to_owned()), ..recognizing() };
    assert_eq!(dev.read(folder.path()).unwrap().items.len(), 2);
    let file = folder.path().join("data/test-00000-of-00002.parquet");
    let error = dev.read(&file).unwrap_err().to_string();
    assert!(error.contains("selects a part of a dataset folder"), "{error}");
}

#[test]
fn refuses_a_mapped_field_that_no_line_has() {
    let lines = r#"{"question": "?", "answer": "1", "choices": ["1", "2"]}"#;
    for (map, says) in [
        (
            "input=question,target=anwser",
            "`--map target=anwser`: no line has `anwser`; did you mean `answer`?",
        ),
        ("input=question,target=answer,options=choise", "no line has `choise`; did you mean `choices`?"),
        ("input=question,target=answer,category=topic.name", "no line has `topic.name`"),
    ] {
        let format = DatasetFormat { columns: map.parse().unwrap(), ..recognizing() };
        let error = read_with(&format, "rows.jsonl", lines).unwrap_err();
        assert!(error.contains(says), "{map}: {error}");
    }
}

#[test]
fn reads_mapped_paths_columns_and_rules() {
    let boxed = DatasetFormat {
        columns: "input=q,target=a.text".parse().unwrap(),
        target: TargetExtraction::Boxed,
        ..recognizing()
    };
    let lines = r#"{"q": "?", "a": {"text": "so $\\boxed{\\frac{1}{\\sqrt{2}}}$"}}"#;
    assert_eq!(read_with(&boxed, "rows.jsonl", lines).unwrap().items[0].test.target, r"\frac{1}{\sqrt{2}}");
    let error = read_with(&boxed, "rows.jsonl", r#"{"q": "?", "a": {"text": "1"}}"#).unwrap_err();
    assert!(error.contains(r"line 1: the target `1` has no `\boxed{…}`"), "{error}");

    let headless = DatasetFormat {
        header: Some(["q", "first", "second", "key"].map(str::to_owned).to_vec()),
        columns: "input=q,options=first+second,target=key".parse().unwrap(),
        ..recognizing()
    };
    let found = read_with(&headless, "rows.csv", "Which is a fruit?,spade,pear,B\n").unwrap();
    assert_eq!((found.items[0].test.target.as_str(), found.items[0].line), ("pear", 1));
    let windows =
        "Which is a fruit?,spade,pear,B\r\nWhich is a tool?,spade,pear,A\r\nAnd which?,fig,rope,A\r\n";
    let lines: Vec<usize> =
        read_with(&headless, "rows.csv", windows).unwrap().items.iter().map(|item| item.line).collect();
    assert_eq!(lines, [1, 2, 3]);
    let error = read_with(&headless, "rows.jsonl", "{}").unwrap_err();
    assert!(error.contains("is neither CSV nor TSV"), "{error}");
    let error = read_with(&headless, "rows.csv", "a,b\n").unwrap_err();
    assert!(error.contains("2 cells, but `--columns` has 4"), "{error}");
}

#[test]
fn skips_invalid_lines_only_if_wanted() {
    let lines = "{\"id\": \"a\", \"input\": \"?\", \"target\": \"1\"}\nnot JSON\n{\"id\": \"a\", \"input\": \"?\", \"target\": \"1\"}\n\
                 {\"input\": \"?\", \"target\": \"2\"}\n";
    assert!(read_with(&recognizing(), "rows.jsonl", lines).is_err());
    let skipping = DatasetFormat { skip_invalid: true, ..recognizing() };
    let found = read_with(&skipping, "rows.jsonl", lines).unwrap();
    let ids: Vec<&str> = found.items.iter().map(|item| item.id.as_str()).collect();
    assert_eq!(ids, ["a", "line-4"]);
    let skipped: Vec<usize> = found.skipped.iter().map(|problem| problem.line).collect();
    assert_eq!(skipped, [2, 3]);
    assert!(read_with(&skipping, "rows.jsonl", "not JSON\n").is_err(), "nothing is left");
}

#[test]
fn without_recognition_rows_are_read_as_before_layouts() {
    let strict = DatasetFormat {
        columns: "input=question,target=correct".parse().unwrap(),
        ..DatasetFormat::default()
    };
    let lines = r#"{"question": "?", "options": ["A)5", "B)6"], "correct": "A"}"#;
    let found = read_with(&strict, "rows.jsonl", lines).unwrap();
    assert_eq!(found.items[0].test.options, ["A)5", "B)6"]);
    assert!(found.notes.is_empty());
    let error = read_with(&DatasetFormat::default(), "rows.jsonl", CASES[0].content).unwrap_err();
    assert!(error.contains("missing field `input`"), "{error}");
}

#[test]
fn solutions_without_an_answer_are_errors_of_their_lines() {
    let hashes = |line: usize| {
        let answer = if line == 2 { "She has seven." } else { "3 + 4 = 7\n#### 7" };
        serde_json::json!({"question": "How many?", "answer": answer}).to_string()
    };
    let lines: Vec<String> = (1..=4).map(hashes).collect();
    let error = read_with(&recognizing(), "mine.jsonl", &lines.join("\n")).unwrap_err();
    assert_eq!(error, "line 2: the target `She has seven.` has no answer after `####`");
    let skipping = DatasetFormat { skip_invalid: true, ..recognizing() };
    let read = read_with(&skipping, "mine.jsonl", &lines.join("\n")).unwrap();
    assert_eq!((read.items.len(), read.skipped[0].line), (3, 2));
    let boxed = |line: usize| {
        let solution = if line == 3 { "It is seven." } else { r"So $\boxed{7}$." };
        serde_json::json!({"problem": "How many?", "solution": solution}).to_string()
    };
    let lines: Vec<String> = (1..=4).map(boxed).collect();
    let error = read_with(&recognizing(), "mine.jsonl", &lines.join("\n")).unwrap_err();
    assert_eq!(error, r"line 3: the target `It is seven.` has no `\boxed{…}`");
}

/// Where neither 0 nor the last number is a target, the numbers could begin at 0 or at 1.
#[test]
fn numbers_of_options_begin_where_the_layout_says_or_are_announced() {
    let first = |lines: &str| {
        let read = read("mine.jsonl", lines);
        (read.items[0].test.target.clone(), read.notes.join("\n"))
    };
    let (target, notes) =
        first(r#"{"sentence": "_ is wet.", "option1": "rain", "option2": "sand", "answer": "1"}"#);
    assert_eq!(target, "rain");
    assert!(notes.ends_with("targets are numbers of options, from 1"), "{notes}");
    let (target, notes) = first(r#"{"input": "Which?", "options": ["rain", "sand", "snow"], "target": 1}"#);
    assert_eq!(target, "sand");
    assert!(notes.contains("from 0; none is 0 or the number of the last option"), "{notes}");
    let both = r#"{"input": "Which?", "options": ["rain", "sand", "snow"], "target": 1}
{"input": "Which?", "options": ["rain", "sand", "snow"], "target": 3}"#;
    let (target, notes) = first(both);
    assert_eq!(target, "rain");
    assert!(notes.ends_with("targets are numbers of options, from 1"), "{notes}");
}
