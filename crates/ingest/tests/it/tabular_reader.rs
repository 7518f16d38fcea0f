//! Rows of other people's files: the same, whatever they are kept in.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, ListBuilder, RecordBatch, StringArray, StringBuilder, StructArray};
use arrow::datatypes::{DataType, Field};
use parquet::arrow::ArrowWriter;
use reasonscape_ingest::read_rows;
use serde_json::{Value, json};
use tempfile::TempDir;

struct TestDir(TempDir);

impl TestDir {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn rows(&self, name: &str, content: impl AsRef<[u8]>) -> Vec<(usize, Result<Value, String>)> {
        fs::write(self.path(name), content).unwrap();
        self.read(name)
    }

    fn read(&self, name: &str) -> Vec<(usize, Result<Value, String>)> {
        let mut rows = Vec::new();
        read_rows(&self.path(name), &mut |line, row| rows.push((line, row.map(Value::Object)))).unwrap();
        rows
    }
}

#[test]
fn reads_lines_with_bom_carriage_returns_and_blanks() {
    let dir = TestDir::new();
    let text = "\u{feff}{\"a\": 1}\r\n\r\n  {\"a\": \"ä\"}\n[1]\nnot JSON\n{\"a\": 2}";
    let rows = dir.rows("x.jsonl", text);
    let lines: Vec<usize> = rows.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [1, 3, 4, 5, 6]);
    assert_eq!(rows[0].1, Ok(json!({ "a": 1 })));
    assert_eq!(rows[1].1, Ok(json!({ "a": "ä" })));
    assert!(rows[2].1.as_ref().unwrap_err().contains("expected an object"));
    assert!(rows[3].1.as_ref().unwrap_err().starts_with("not JSON: expected ident at character 2"));
    assert_eq!(rows[4].1, Ok(json!({ "a": 2 })));
    assert_eq!(dir.rows("empty.jsonl", ""), []);
}

#[test]
fn reads_json_lists_and_lines() {
    let dir = TestDir::new();
    let expected = [(1, Ok(json!({ "a": 1 }))), (2, Ok(json!({ "a": 2 })))];
    assert_eq!(dir.rows("list.json", "[{\"a\": 1},\n {\"a\": 2}]"), expected);
    assert_eq!(dir.rows("lines.json", "{\"a\": 1}\n{\"a\": 2}\n"), expected);
    assert!(dir.rows("cut.json", "[{\"a\": 1},")[0].1.as_ref().unwrap_err().starts_with("not JSON"));
}

#[test]
fn names_csv_columns_by_the_first_row() {
    let dir = TestDir::new();
    let table = "\u{feff}question,answer\n\"How many, say?\",7\n\"two\nlines\",\nshort\n";
    let rows = dir.rows("x.csv", table);
    assert_eq!(rows[0], (2, Ok(json!({ "question": "How many, say?", "answer": "7" }))));
    assert_eq!(rows[1], (3, Ok(json!({ "question": "two\nlines" }))));
    assert_eq!(rows[2].0, 5);
    assert!(rows[2].1.as_ref().unwrap_err().starts_with("1 cells, but the first row has 2"));
    let rows = dir.rows("x.tsv", "a\tb\n1,5\t2\n");
    assert_eq!(rows, [(2, Ok(json!({ "a": "1,5", "b": "2" })))]);
    let twice = dir.rows("twice.csv", "a,b,a\n1,2,3\n");
    assert_eq!(twice, [(1, Err("duplicate column name `a`".to_owned()))]);
    let latin = dir.rows("latin.csv", b"a\n\xe4\n");
    assert!(latin[0].1.as_ref().unwrap_err().contains("`a` is not UTF-8"));
}

#[test]
fn reads_lists_and_structs_from_parquet() {
    let dir = TestDir::new();
    let question: ArrayRef = Arc::new(StringArray::from(vec![Some("Which?"), None]));
    let answer: ArrayRef = Arc::new(Int64Array::from(vec![1, 0]));
    let mut texts = ListBuilder::new(StringBuilder::new());
    for texts_of_row in [["wood", "iron"], ["a", "b"]] {
        for text in texts_of_row {
            texts.values().append_value(text);
        }
        texts.append(true);
    }
    let texts: ArrayRef = Arc::new(texts.finish());
    let field = Arc::new(Field::new("text", texts.data_type().clone(), true));
    assert!(matches!(field.data_type(), DataType::List(_)));
    let choices: ArrayRef = Arc::new(StructArray::from(vec![(field, texts)]));
    let batch =
        RecordBatch::try_from_iter([("question", question), ("answer", answer), ("choices", choices)])
            .unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let rows = dir.rows("x.parquet", &bytes);
    let first = json!({ "question": "Which?", "answer": 1, "choices": { "text": ["wood", "iron"] } });
    assert_eq!(rows[0], (1, Ok(first)));
    assert_eq!(rows[1].1.as_ref().unwrap()["question"], Value::Null);

    let cut = &bytes[..bytes.len() / 2];
    fs::write(dir.path("cut.parquet"), cut).unwrap();
    let error = read_rows(&dir.path("cut.parquet"), &mut |_, _| {}).unwrap_err();
    assert!(error.to_string().contains("not a valid Parquet file"), "{error}");
}

#[test]
fn rejects_other_files() {
    let dir = TestDir::new();
    fs::write(dir.path("x.txt"), "?").unwrap();
    let error = read_rows(&dir.path("x.txt"), &mut |_, _| {}).unwrap_err();
    assert!(error.to_string().contains("jsonl, ndjson, json, csv, tsv, parquet"), "{error}");
    let error = read_rows(&dir.path("none.jsonl"), &mut |_, _| {}).unwrap_err();
    assert!(error.to_string().contains("failed to read"), "{error}");
}
