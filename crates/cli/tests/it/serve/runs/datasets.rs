//! Uploading datasets and running them.

use std::fs;
use std::io::Write;
use std::net::TcpStream;

use serde_json::{Value, json};

use super::{QUESTIONS, RunsEnv, sum};

#[test]
fn uploads_and_runs_a_dataset() {
    let env = RunsEnv::new();
    let upload = |name: &str, text: &str| {
        env.server.request("POST", &format!("/api/v1/datasets?name={name}"), &[], text)
    };
    let taken = upload("..%2F..%2FMy%20Questions.jsonl", QUESTIONS);
    assert_eq!(taken.status, 201, "{taken:?}");
    let told = taken.json();
    assert_eq!((&told["name"], &told["rows"]), (&json!("my-questions.jsonl"), &json!(2)), "{told}");
    assert_eq!(told["columns"], json!(["input", "target"]));
    assert_eq!(told["problems"], json!([]));
    let again = upload("my-questions.jsonl", QUESTIONS).json();
    assert_eq!(again["name"], "my-questions-2.jsonl");
    let listed = env.server.get("/api/v1/datasets").json();
    assert_eq!(listed["datasets"].as_array().unwrap().len(), 2, "{listed}");

    // Every invalid line is reported, and nothing is stored.
    let broken = upload("broken.jsonl", "{\"input\": 1\n{\"input\": \"a\", \"target\": \"b\"}\n[1]\n");
    let said = broken.json()["error"].as_str().unwrap().to_owned();
    assert!(broken.status == 400 && said.contains("2 lines are wrong"), "{said}");
    assert!(said.contains("\nline 1: ") && said.contains("\nline 3: "), "{said}");
    // Missing columns may have another name.
    let foreign = upload("foreign.csv", "frage,antwort\nWhat is 6 * 7?,#### 42\n").json();
    assert_eq!(foreign["columns"], json!(["antwort", "frage"]), "{foreign}");
    assert!(foreign["problems"][0].as_str().unwrap().starts_with("line "), "{foreign}");
    let request = |more: &Value| {
        let mut request =
            json!({ "source": "dataset", "models": ["sim-p0.9"], "base_url": env.models.base_url() });
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        request
    };
    let refused = env.post("/runs", &request(&json!({ "dataset": "foreign.csv" })));
    assert!(refused.status == 400 && refused.body.contains("line "), "{refused:?}");
    assert_eq!(fs::read_dir(env.folder().join("runs")).map_or(0, Iterator::count), 0);
    let absent = env.post("/runs", &request(&json!({ "dataset": "foreign.csv", "map": "input=text" })));
    assert!(absent.status == 400 && absent.body.contains("no line has `text`"), "{absent:?}");
    let mapped =
        json!({ "dataset": "foreign.csv", "map": "input=frage,target=antwort", "target_regex": "#### (.*)" });
    let run = env.run_to_end(&env.create(&request(&mapped)));
    assert_eq!((&run["state"], sum(&run, "answered")), (&json!("complete"), 1), "{run}");
    assert_eq!(run["source"], "dataset foreign, 1 questions");

    let name = env.create(&request(&json!({ "dataset": "my-questions.jsonl", "repeats": 3 })));
    let run = env.run_to_end(&name);
    assert_eq!((&run["state"], sum(&run, "answered")), (&json!("complete"), 6), "{run}");
    let folder = env.folder().join("runs").join(&name);
    assert!(folder.join("results/metrics.json").exists());
    let gone = env.server.request("DELETE", "/api/v1/datasets/my-questions.jsonl", &[], "");
    assert_eq!(gone.status, 204, "{gone:?}");
    assert!(folder.join("my-questions.jsonl").exists(), "a run has its own copy");

    let pasted = env.server.request(
        "POST",
        "/datasets",
        &[],
        "name=p.jsonl&text=%7B%22input%22%3A1%2C%22target%22%3A2%7D",
    );
    assert_eq!(pasted.header("location"), Some("/runs/new?source=dataset&dataset=p.jsonl"), "{pasted:?}");
    let wrong = env.server.request("POST", "/datasets", &[], "name=p.jsonl&text=%3Cscript%3E");
    assert!(wrong.status == 400 && wrong.body.contains("a line is wrong"), "{wrong:?}");
    assert!(!wrong.body.contains("<script>") && wrong.body.contains("&lt;script&gt;"), "{wrong:?}");
}

/// As on the command line: the layout is announced, a scorer is suggested, and another can be chosen.
#[test]
fn recognizes_layouts_and_takes_a_scorer() {
    let env = RunsEnv::new();
    let lines = "{\"question\": \"What is 6 * 7?\", \"answer\": \"6 * 7 = 42.\\n#### 42\"}\n";
    let uploaded = env.server.request("POST", "/api/v1/datasets?name=words.jsonl", &[], lines).json();
    assert_eq!(uploaded["problems"], json!([]), "{uploaded}");
    let notes = uploaded["notes"].to_string();
    assert!(notes.contains("looks like GSM8K: input=question, target=answer"), "{notes}");
    assert!(notes.contains("answers are scored by `numeric`, because all targets are numbers"), "{notes}");
    let markup = "{\"input\": \"?\", \"target\": \"$$\"}\n{\"input\": \"?\", \"target\": \"7\"}\n";
    let warned = env.server.request("POST", "/api/v1/datasets?name=markup.jsonl", &[], markup).json();
    assert!(warned["notes"].to_string().contains("line 1: target `$$` is only markup"), "{warned}");
    let study_of = |scorer: Option<&str>| {
        let mut request = json!({
            "source": "dataset", "dataset": "words.jsonl", "models": ["sim-p0.9"], "base_url": env.models.base_url(),
        });
        if let Some(scorer) = scorer {
            request["scorer"] = json!(scorer);
        }
        let name = env.create(&request);
        env.run_to_end(&name);
        fs::read_to_string(env.folder().join("runs").join(name).join("study.toml")).unwrap()
    };
    assert!(study_of(None).contains("scorer = \"numeric\""));
    assert!(study_of(Some("numeric:0.5")).contains("scorer = \"numeric:1/2\""));
    let wrong = json!({
        "source": "dataset", "dataset": "words.jsonl", "models": ["m"], "base_url": env.models.base_url(), "scorer": "nummeric",
    });
    let refused = env.post("/runs", &wrong);
    assert!(refused.status == 400 && refused.body.contains("did you mean `numeric`?"), "{refused:?}");
    let form = env.server.get("/runs/new?source=dataset&scorer=math").body;
    assert!(form.contains("<option value=\"math\" selected>math</option>"), "{form}");
}

#[test]
fn rejects_oversized_and_invalid_datasets() {
    let env = RunsEnv::new();
    let upload = |name: &str, headers: &[(&str, &str)], body: &str| {
        env.server.request("PUT", &format!("/api/v1/datasets?name={name}"), headers, body)
    };
    let long = upload("x.jsonl", &[("Content-Length", "67108865")], "");
    assert!(long.status == 413 && long.body.contains("64 MiB"), "{long:?}");
    for wrong in ["", "x", "x.exe", "study.toml", "x.jsonl%00", "%2e%2e%2f.jsonl%2f"] {
        assert_eq!(upload(wrong, &[], "{}").status, 400, "{wrong}");
    }
    assert_eq!(upload("x.parquet", &[], "no parquet").status, 400);
    assert_eq!(upload("x.jsonl", &[], "\n\n").status, 400);
    assert_eq!(fs::read_dir(env.folder().join("datasets")).map_or(0, Iterator::count), 0);
    // Other routes keep their limit.
    assert_eq!(env.server.request("POST", "/api/v1/runs", &[("Content-Length", "70000")], "").status, 413);

    // A chunked body has no length, so it is measured while streaming.
    let mut stream = TcpStream::connect(&env.server.address).unwrap();
    let head = format!(
        "POST /api/v1/datasets?name=x.jsonl HTTP/1.1\r\nHost: {}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
        env.server.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    let piece = [b"100000\r\n".as_slice(), &vec![b'x'; 0x10_0000], b"\r\n"].concat();
    let sent = (0..80).take_while(|_| stream.write_all(&piece).is_ok()).count();
    assert!(sent < 80, "all of it was taken");
    assert_eq!(fs::read_dir(env.folder().join("datasets")).map_or(0, Iterator::count), 0);
}
