//! API keys are used and never shown or stored.

use serde_json::{Value, json};

use super::{RunsEnv, bytes_of_all_files, contains_bytes, events};
use crate::serve::server::Reply;

#[test]
fn never_stores_or_shows_a_typed_key() {
    const SECRET: &str = "sk-Qm3Yd8Ls6Bf1-typed";
    let env = RunsEnv::with("rate=0.2,kinds=500+429,retry-after=0.01", Some(SECRET), &[]);
    let mut said = Vec::new();
    let mut keep = |reply: Reply| {
        said.extend(reply.body.clone().into_bytes());
        reply
    };
    // A start without the variable is refused with a reason.
    let name = env.create_study_run(&json!({}));
    let plan = keep(env.server.get(&format!("/api/v1/runs/{name}/plan"))).json();
    assert_eq!(
        plan["keys"],
        json!([{ "id": "PEOPLES_KEY", "variable": "PEOPLES_KEY", "is_set": false,
                                      "evals": ["sim-p0.9", "sim-cheap"] }])
    );
    let refused = keep(env.start(&name, &json!({})));
    assert!(refused.status == 400 && refused.body.contains("PEOPLES_KEY"), "{refused:?}");
    assert_eq!(env.get_run(&name)["state"], "planned");
    // A wrong key ends the run with a reason.
    let wrong = keep(env.start(&name, &json!({ "PEOPLES_KEY": format!("{SECRET}-wrong") })));
    assert_eq!(wrong.status, 202, "{wrong:?}");
    let run = env.wait_for_end(&name);
    assert_eq!(run["state"], "failed", "{run}");
    assert!(run["reason"].as_str().unwrap().contains("401"), "{run}");
    said.extend(run.to_string().into_bytes());
    // Typed into the form, it works.
    let form = format!("key%3APEOPLES_KEY={SECRET}");
    let started = env.server.request("POST", &format!("/runs/{name}/start"), &[], &form);
    assert_eq!((started.status, started.header("location")), (303, Some(format!("/runs/{name}").as_str())));
    said.extend(started.body.into_bytes());
    let told = events(&env.server, &name);
    assert_eq!(told.last().unwrap().1["state"], "complete", "{told:?}");
    said.extend(json!(told).to_string().into_bytes());
    // An endpoint without a variable accepts a typed key too.
    let own = env.create(&env.own_run_request(&json!({})));
    let need = env.server.get(&format!("/api/v1/runs/{own}/plan")).json()["keys"][0].clone();
    assert_eq!((&need["id"], &need["variable"]), (&json!(env.models.base_url()), &Value::Null));
    let keys = json!({ need["id"].as_str().unwrap(): SECRET });
    assert_eq!(env.start(&own, &keys).status, 202);
    assert_eq!(env.wait_for_end(&own)["state"], "complete");
    for keys in [json!({ "PATH": SECRET }), json!({ "PEOPLES_KEY": format!("{SECRET}\n") }), json!([SECRET])]
    {
        let reply = env.start(&name, &keys);
        said.extend(reply.body.into_bytes());
    }
    crate::test_env::wait_until("all is over", || env.get_run(&name)["state"] != "running");
    for path in
        ["/runs", &format!("/runs/{name}"), &format!("/runs/{own}"), "/runs/new", "/api/v1/runs", "/metrics"]
    {
        said.extend(env.server.get(path).body.into_bytes());
    }
    assert!(!contains_bytes(&said, SECRET), "{}", String::from_utf8_lossy(&said));
    assert!(!contains_bytes(&bytes_of_all_files(&env.folder()), SECRET));
    let RunsEnv { server, .. } = env;
    assert!(!server.end().contains(SECRET));
}

#[test]
fn names_environment_keys_without_their_value() {
    const SECRET: &str = "sk-7hJ2kQ9vXw4ZpL0aTn5R";
    let variables = [("PEOPLES_KEY", SECRET), ("OTHER_API_KEY", "x"), ("OPENAI_API_KEY", "x")];
    let env = RunsEnv::with("", Some(SECRET), &[]);
    let env = env.restart(&["--allow-key", "OTHER_API_KEY=https://llm.example/v1"], &variables);
    let name = env.create_study_run(&json!({}));
    let page = env.server.get(&format!("/runs/{name}")).body;
    assert!(page.contains("PEOPLES_KEY (set)"), "{page}");
    let form = env.server.get("/runs/new").body;
    for variable in ["PEOPLES_KEY", "OTHER_API_KEY", "OPENAI_API_KEY"] {
        assert!(form.contains(&format!("{variable} (set)")), "{variable}: {form}");
    }
    let run = env.run_to_end(&name);
    assert_eq!(run["state"], "complete", "{run}");
    assert!(!contains_bytes(&bytes_of_all_files(&env.folder()), SECRET));
    assert!(!(page + &form + &run.to_string()).contains(SECRET));
}

#[test]
fn sends_keys_only_to_addresses_that_are_named_for_them() {
    const SECRET: &str = "sk-7hJ2kQ9vXw4ZpL0aTn5R";
    let names = ["PEOPLES_KEY", "OPENAI_API_KEY", "GATEWAY_API_KEY", "HOME_API_KEY"];
    let variables = names.map(|name| (name, SECRET));
    let env = RunsEnv::with("", Some(SECRET), &variables);
    // Any address but those of the study: here, another name of the same server.
    let foreign = env.models.base_url().replace("127.0.0.1", "localhost");
    let request = |variable: &str, base_url: &str| {
        env.own_run_request(&json!({ "api_key_env": variable, "base_url": base_url }))
    };
    for variable in names {
        let refused = env.post("/runs", &request(variable, &foreign));
        let hint = format!("start the server with `--allow-key {variable}={foreign}`");
        assert!(refused.status == 400 && refused.body.contains(&hint), "{refused:?}");
    }
    let own = env.models.base_url();
    assert_eq!(env.post("/runs", &request("GATEWAY_API_KEY", &own)).status, 400);
    assert_eq!(env.post("/runs", &request("OPENAI_API_KEY", "http://api.openai.com/v1")).status, 400);
    let runs = || std::fs::read_dir(env.folder().join("runs")).map_or(0, Iterator::count);
    assert_eq!(runs(), 0, "a refused run leaves no directory");
    assert_eq!(env.post("/runs", &request("OPENAI_API_KEY", "https://api.openai.com/v1")).status, 201);
    let name = env.create(&request("PEOPLES_KEY", &own));
    assert_eq!(env.run_to_end(&name)["state"], "complete");
    // A run that an earlier version created.
    let name = env.create(&env.own_run_request(&json!({ "base_url": foreign })));
    let file = env.folder().join("runs").join(&name).join("study.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let text = text.replace("base_url =", "api_key_env = \"GATEWAY_API_KEY\"\nbase_url =");
    std::fs::write(&file, text).unwrap();
    let refused = env.start(&name, &json!({}));
    assert!(refused.status == 400 && refused.body.contains("--allow-key GATEWAY_API_KEY="), "{refused:?}");
    // The operator allows it.
    let env = env.restart(&["--allow-key", &format!("GATEWAY_API_KEY={foreign}")], &variables);
    assert_eq!(env.run_to_end(&name)["state"], "complete");
}
