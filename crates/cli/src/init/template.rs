//! Fills in the commented study.

use std::fmt::Write;

use reasonscape_study::{KeyAddress, Study};

use super::probe::{LOCAL_SERVERS, LocalServer, OLLAMA};

/// A provider that `--provider` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum KnownProvider {
    #[value(name = "openai")]
    OpenAi,
    Anthropic,
    #[value(name = "openrouter")]
    OpenRouter,
    Ollama,
}

/// The model and endpoint of an eval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EvalTarget {
    pub(super) model: String,
    pub(super) base_url: String,
    /// The API, if it is written to the file.
    pub(super) api: Option<&'static str>,
    pub(super) api_key_env: Option<&'static str>,
}

impl KnownProvider {
    /// The providers with an address of their own.
    const HOSTED: [(&'static str, Self); 3] =
        [("OpenAI", Self::OpenAi), ("Anthropic", Self::Anthropic), ("OpenRouter", Self::OpenRouter)];

    /// Its address, with an example of a model that accepts every built-in sampler.
    pub(super) fn target(self) -> EvalTarget {
        let (model, base_url, api, api_key_env) = match self {
            Self::OpenAi => ("gpt-4.1-mini", KeyAddress::OPENAI.1, "openai-chat", Some(KeyAddress::OPENAI.0)),
            Self::Anthropic => {
                ("claude-haiku-4-5", KeyAddress::ANTHROPIC.1, "anthropic", Some(KeyAddress::ANTHROPIC.0))
            }
            Self::OpenRouter => (
                "meta-llama/llama-3.3-70b-instruct",
                KeyAddress::OPENROUTER.1,
                "openai-chat",
                Some(KeyAddress::OPENROUTER.0),
            ),
            Self::Ollama => return EvalTarget::from(&OLLAMA),
        };
        EvalTarget { model: model.to_owned(), base_url: base_url.to_owned(), api: Some(api), api_key_env }
    }
}

impl From<&LocalServer> for EvalTarget {
    fn from(server: &LocalServer) -> Self {
        Self {
            model: server.example.to_owned(),
            base_url: server.base_url(),
            api: Some("openai-chat"),
            api_key_env: None,
        }
    }
}

impl EvalTarget {
    /// The keys and values of the eval, as TOML.
    fn values(&self) -> Vec<(&'static str, String)> {
        let texts = [
            ("model", Some(self.model.as_str())),
            ("base_url", Some(&self.base_url)),
            ("provider", self.api),
            ("api_key_env", self.api_key_env),
        ];
        texts.into_iter().filter_map(|(key, value)| Some((key, quote(value?)))).collect()
    }
}

/// The commented study with this model, or else with an example for each local server and each provider.
pub(super) fn study_text(target: Option<&EvalTarget>, seed: Option<i64>) -> String {
    let mut text = Study::COMMENTED.to_owned();
    if let Some(seed) = seed {
        text = set_key(&text, "seed", &seed.to_string());
    }
    match target {
        Some(target) => target.values().iter().fold(text, |text, (key, value)| set_key(&text, key, value)),
        None => insert_examples(&text),
    }
}

/// Sets a key on its own line, or else on the first line that has it as a comment.
fn set_key(text: &str, key: &str, value: &str) -> String {
    let position = |start: String| text.lines().position(|line| line.starts_with(&start));
    let at = position(format!("{key} = ")).or_else(|| position(format!("# {key} = ")));
    let at = at.expect("the commented study has every key");
    text.lines()
        .enumerate()
        .map(|(i, line)| if i == at { format!("{key} = {value}\n") } else { format!("{line}\n") })
        .collect()
}

/// Puts an example for each local server and each provider below the address, as comments.
fn insert_examples(text: &str) -> String {
    let mut examples = String::from("\n# For example, instead of the `model` and `base_url` above:\n");
    let local = LOCAL_SERVERS.iter().map(|server| (server.name, EvalTarget::from(server)));
    let hosted = KnownProvider::HOSTED.map(|(title, provider)| (title, provider.target()));
    for (title, target) in local.chain(hosted) {
        let _ = writeln!(examples, "#\n# {title}:");
        for (key, value) in target.values() {
            let _ = writeln!(examples, "# {key} = {value}");
        }
    }
    text.lines()
        .map(|line| {
            if line.starts_with("base_url = ") { format!("{line}\n{examples}") } else { format!("{line}\n") }
        })
        .collect()
}

/// A TOML string. JSON escapes are a subset of TOML's; control characters that only JSON allows bare don't occur in
/// names and addresses.
fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documentation_has_the_example_of_openai() {
        let target = KnownProvider::OpenAi.target();
        for page in [
            include_str!("../../docs/running.md"),
            include_str!("../../docs/for-inspect-and-lm-eval-users.md"),
        ] {
            let named: Vec<&str> = page.match_indices("gpt-").map(|(at, _)| &page[at..]).collect();
            assert!(
                !named.is_empty() && named.iter().all(|text| text.starts_with(&target.model)),
                "{named:?}"
            );
        }
    }
}
