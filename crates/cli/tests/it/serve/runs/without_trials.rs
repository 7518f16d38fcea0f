//! Responses for a study without trials.

use super::RunsEnv;

#[test]
fn unknown_paths_of_runs_datasets_and_assets_are_not_found() {
    let env = RunsEnv::new();
    for path in ["/runs/a/b", "/runs-of-others", "/datasets/x/y", "/assets/x/y", "/assets/"] {
        let reply = env.server.get(path);
        assert_eq!((reply.status, reply.header("location")), (404, None), "{path}: {reply:?}");
        assert!(reply.body.contains("no page or API route at this URL"), "{path}: {reply:?}");
    }
    for path in ["/api/v1/runs/a/b", "/api/v1/datasets/x/y"] {
        let reply = env.server.get(path);
        assert_eq!(reply.status, 404, "{path}: {reply:?}");
        assert_eq!(reply.json()["error"], "no page or API route at this URL", "{path}");
    }
}

#[test]
fn other_paths_lead_to_the_runs() {
    let env = RunsEnv::new();
    for path in ["/", "/trials", "/no-such-page"] {
        let reply = env.server.get(path);
        assert_eq!((reply.status, reply.header("location")), (303, Some("/runs")), "{path}: {reply:?}");
    }
    let reply = env.server.get("/api/v1/no-such");
    assert_eq!(reply.status, 404, "{reply:?}");
    assert_eq!(reply.json()["error"], "the study has no trials yet; start a run first");
}
