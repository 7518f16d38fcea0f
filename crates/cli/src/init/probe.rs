//! Finds model servers that run on this machine.

use std::time::Duration;

use reasonscape_runner::{ProbeError, list_local_models};
use url::{Host, Url};

/// Longer names are not accepted as model names.
const MAX_NAME_LEN: usize = 200;

/// An address at which a model server may listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProbeTarget {
    pub(super) name: String,
    pub(super) base_url: String,
}

/// The result of a probe.
#[derive(Debug)]
pub(super) enum Finding {
    Models(Vec<String>),
    NeedsKey,
    /// A server responds, but lists no models.
    NoModels,
    Nothing,
}

/// A server that runs models on this machine.
pub(super) struct LocalServer {
    pub(super) name: &'static str,
    /// Its default port.
    port: u16,
    /// A model, spelled as this server lists it.
    pub(super) example: &'static str,
}

pub(super) const OLLAMA: LocalServer = LocalServer { name: "Ollama", port: 11434, example: "llama3.2:3b" };

/// Common servers, in order of preference.
pub(super) const LOCAL_SERVERS: [LocalServer; 4] = [
    OLLAMA,
    LocalServer { name: "LM Studio", port: 1234, example: "llama-3.2-3b-instruct" },
    LocalServer { name: "vLLM", port: 8000, example: "meta-llama/Llama-3.2-3B-Instruct" },
    LocalServer { name: "llama.cpp", port: 8080, example: "llama-3.2-3b-instruct" },
];

impl LocalServer {
    pub(super) fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }
}

/// The default addresses of common servers, in order of preference.
pub(super) fn default_targets() -> Vec<ProbeTarget> {
    let target =
        |server: &LocalServer| ProbeTarget { name: server.name.to_owned(), base_url: server.base_url() };
    LOCAL_SERVERS.iter().map(target).collect()
}

/// Reads `NAME=URL`. Only addresses of this machine are accepted: a probe never sends anything elsewhere.
pub(super) fn parse_target(text: &str) -> Result<ProbeTarget, String> {
    let (name, base_url) = text.split_once('=').ok_or("expected NAME=URL")?;
    let url = Url::parse(base_url).map_err(|error| format!("`{base_url}` is not a URL ({error})"))?;
    let is_loopback = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(domain)) => domain == "localhost",
        None => false,
    };
    if !is_loopback {
        return Err(format!("`{base_url}` is not on this machine; expected a loopback address"));
    }
    Ok(ProbeTarget { name: name.to_owned(), base_url: base_url.trim_end_matches('/').to_owned() })
}

/// Probes all targets at once; the findings are in the order of the targets.
pub(super) fn probe_all(targets: &[ProbeTarget], timeout: Duration) -> Vec<Finding> {
    std::thread::scope(|scope| {
        let probes: Vec<_> =
            targets.iter().map(|target| scope.spawn(move || probe(&target.base_url, timeout))).collect();
        probes.into_iter().map(|probe| probe.join().unwrap_or(Finding::Nothing)).collect()
    })
}

fn probe(base_url: &str, timeout: Duration) -> Finding {
    match list_local_models(base_url, timeout) {
        Ok(mut models) => {
            models.retain(|model| is_model_name(model));
            if models.is_empty() { Finding::NoModels } else { Finding::Models(models) }
        }
        Err(ProbeError::Refused(_)) => Finding::NeedsKey,
        Err(ProbeError::NoList { .. }) => Finding::NoModels,
        Err(_) => Finding::Nothing,
    }
}

/// Whether a name can be shown on a terminal and written to a file as it is: any program may listen on these ports.
fn is_model_name(name: &str) -> bool {
    !name.trim().is_empty() && name.len() <= MAX_NAME_LEN && !name.contains(char::is_control)
}

/// The model to write into a study: the first that isn't an embedding model, which can't answer. LM Studio lists one
/// from the start.
pub(super) fn first_model(models: &[String]) -> Option<&String> {
    let is_embedding = |model: &&String| model.to_ascii_lowercase().contains("embed");
    models.iter().find(|model| !is_embedding(model)).or_else(|| models.first())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_the_default_ports_of_four_servers() {
        let targets = default_targets();
        let found: Vec<(&str, &str)> =
            targets.iter().map(|target| (target.name.as_str(), target.base_url.as_str())).collect();
        assert_eq!(
            found,
            [
                ("Ollama", "http://127.0.0.1:11434/v1"),
                ("LM Studio", "http://127.0.0.1:1234/v1"),
                ("vLLM", "http://127.0.0.1:8000/v1"),
                ("llama.cpp", "http://127.0.0.1:8080/v1"),
            ]
        );
        for target in targets {
            let argument = format!("{}={}", target.name, target.base_url);
            assert_eq!(parse_target(&argument), Ok(target), "it is on this machine");
        }
    }

    #[test]
    fn documentation_has_the_same_addresses() {
        let page = include_str!("../../docs/running.md");
        for server in &LOCAL_SERVERS {
            assert!(
                page.contains(&format!("| {} | `{}` |", server.name, server.base_url())),
                "{}",
                server.name
            );
        }
    }
}
