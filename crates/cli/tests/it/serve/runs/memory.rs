//! Deleted dataset runs leave no memory behind.

use serde_json::json;

use super::RunsEnv;

const STUDIES: usize = 1_000;
/// Number of studies until the memory of the server is stable.
const WARM: usize = 300;
/// Maximum growth over the remaining studies; their questions alone are eight times as large.
const MAX_GROWTH: u64 = 16 << 20;

#[test]
fn a_thousand_dataset_studies_leave_memory_flat() {
    let env = RunsEnv::new();
    let filler = "x".repeat(700);
    let line = |number: usize| format!("{{\"input\": \"{number} {filler}\", \"target\": \"{number}\"}}\n");
    let questions: String = (0..256).map(line).collect();
    let uploaded = env.server.request("POST", "/api/v1/datasets?name=many.jsonl", &[], &questions);
    assert_eq!(uploaded.status, 201, "{uploaded:?}");
    let request = json!({ "source": "dataset", "dataset": "many.jsonl", "models": ["sim-p0.9"],
                          "base_url": env.models.base_url() });
    let mut warm = 0;
    for number in 0..STUDIES {
        if number == WARM {
            warm = env.server.resident_bytes();
        }
        let name = env.create(&request);
        assert_eq!(env.get_run(&name)["state"], "planned");
        let gone = env.server.request("DELETE", &format!("/api/v1/runs/{name}"), &[], "");
        assert_eq!(gone.status, 204, "{gone:?}");
    }
    let growth = env.server.resident_bytes().saturating_sub(warm);
    assert!(growth < MAX_GROWTH, "{} MB more after {} studies", growth >> 20, STUDIES - WARM);
}
