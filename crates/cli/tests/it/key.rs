use crate::test_env::{assert_rejected, reasonscape, reasonscape_with};

#[test]
fn matches_the_example_of_the_specification() {
    let run = reasonscape_with(&["key", "-"], "{\"length\": 16, \"depth\": 3}");
    assert_eq!(run.stdout, "814011ef82bb8d115e434842ce081f9a513b8fcc96c3e35d6f6e2db37cdbdb0e\n");
    assert_eq!((run.code, run.stderr.as_str()), (0, "note: SHA-256 of `{\"depth\": 3, \"length\": 16}`\n"));
}

#[test]
fn keeps_digits_of_numbers() {
    // python3 -c 'import hashlib, json; print(hashlib.sha256(json.dumps(json.loads(TEXT)).encode()).hexdigest())'
    let run = reasonscape_with(&["key", "-"], "[123456789012345678901234567890, 1.0, 1E400, 5e-324]");
    assert_eq!(run.stdout, "c0af9d1344ca9a65fce70319d5a836b955bc1551603773dd9aa078782c175d84\n");
}

#[test]
fn reads_a_file_and_prints_the_seed_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("point.json");
    std::fs::write(&file, "{\"length\": 16, \"depth\": 3, \"count\": 8}").unwrap();
    let run = reasonscape(&["key", file.to_str().unwrap(), "--format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(value["base_seed"], 0x7cdb_db0e_u32);
}

#[test]
fn rejects_invalid_json_with_its_position() {
    assert_rejected(
        &reasonscape_with(&["key", "-"], "{\"a\": 1,}"),
        &["invalid JSON in standard input: line 1, column 9", "remove it"],
    );
    assert_rejected(&reasonscape_with(&["key", "-"], ""), &["the document ends"]);
    assert_rejected(&reasonscape_with(&["key", "-"], "\"\\ud800\""), &["surrogate pair"]);
    assert_rejected(
        &reasonscape_with(&["key", "-"], vec![b'{', b'\n', 0xff]),
        &["invalid UTF-8 in standard input, line 2"],
    );
    assert_rejected(&reasonscape(&["key", "no-such-file.json"]), &["failed to read `no-such-file.json`"]);
    assert_rejected(&reasonscape_with(&["key", "-"], "[".repeat(1_000_000)), &["nested more than 500 deep"]);
}
