//! `reasonscape serve`: the web server of a study.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use crate::signals::Interrupts;
use reasonscape_pipeline::Shutdown;
use reasonscape_study::KeyAddress;
use tokio::sync::watch;

use super::Global;
use super::study::study_folder;
use crate::error::{CliError, note};
use crate::output::print_text;
use reasonscape_web::{self as web, Access, Notice, ServeOptions, Token};

/// Shorter tokens can be guessed.
const MIN_TOKEN_LEN: usize = 16;
/// Environment variable for the token, since command lines are visible to other users.
const TOKEN_VARIABLE: &str = "REASONSCAPE_TOKEN";

/// Browse a study in the web browser, and start and watch runs
///
/// Prints the URL to standard output once the server is ready, and serves until Ctrl-C (exit code 0). Active runs finish
/// their requests in flight first; a second Ctrl-C exits at once. Results that are replaced meanwhile, by `evaluate` or
/// `import`, are reloaded.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape serve my-study\n  \
    reasonscape serve my-study --host 0.0.0.0 --port 80\n  \
    reasonscape serve my-study --read-only --base-path /scores --allow-host example.org")]
pub(super) struct Serve {
    /// Study directory, or its study.toml.
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// Port to listen on; 0 for a free port.
    #[arg(long, default_value_t = 8050, value_name = "N")]
    port: u16,
    /// Address to listen on. Access from other machines needs another address here, and a token.
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), value_name = "ADDRESS")]
    host: IpAddr,
    /// Access token. Prefer the environment variable `REASONSCAPE_TOKEN`, since other users of this machine can see command
    /// lines. Without either, a token for other machines is generated and printed once.
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// Additional host name to accept, e.g. that of a proxy (repeatable).
    #[arg(long = "allow-host", value_name = "NAME")]
    hosts: Vec<String>,
    /// Allow runs to send the API key in an environment variable to an address (repeatable).
    ///
    /// Runs may use keys only with the addresses in study.toml, and those of OpenAI, Anthropic and OpenRouter for their own
    /// variables. Paths below the URL are included.
    #[arg(long = "allow-key", value_name = "NAME=URL")]
    keys: Vec<String>,
    /// Disable changes and new runs; the server then writes nothing to the study directory.
    #[arg(long)]
    read_only: bool,
    /// Path prefix of all URLs, e.g. `/scores` behind a proxy.
    #[arg(long, value_name = "PATH", default_value = "")]
    base_path: String,
}

impl Serve {
    /// Serves a study to this machine only.
    pub(super) fn on_localhost(study: PathBuf, port: u16) -> Self {
        let host = IpAddr::V4(Ipv4Addr::LOCALHOST);
        Self {
            study,
            port,
            host,
            token: None,
            hosts: Vec::new(),
            keys: Vec::new(),
            read_only: false,
            base_path: String::new(),
        }
    }

    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let folder = study_folder(&self.study)?;
        let base = web::normalize_base_path(&self.base_path).ok_or_else(|| {
            CliError::input(format_args!(
                "invalid path `--base-path {}`; expected letters, digits and `-._~`, e.g. `/scores`",
                self.base_path
            ))
        })?;
        let parse_key = |text: &String| {
            KeyAddress::parse(text)
                .map_err(|problem| CliError::input(format_args!("invalid `--allow-key {text}`: {problem}")))
        };
        let allowed_keys = self.keys.iter().map(parse_key).collect::<Result<Vec<_>, _>>()?;
        let title = title(&folder);
        let (token, secret) = self.token()?;
        super::wait_for(async {
            let address = SocketAddr::new(self.host, self.port);
            let listener = web::listen(address).await.map_err(|error| {
                CliError::input(format_args!(
                    "cannot listen on {address} ({error}); choose another port with `--port`"
                ))
            })?;
            let address = listener.local_addr()?;
            let access = Access { address, hosts: self.hosts, token, read_only: self.read_only };
            let url = format!("http://{address}{base}/");
            let options = ServeOptions { folder, title, base, access, allowed_keys };
            let (stopper, shutdown) = watch::channel(Shutdown::None);
            let mut ready = Some((stopper, secret));
            web::serve(listener, options, shutdown, |notice| match notice {
                Notice::Ready { remarks } => {
                    let (stopper, secret) = ready.take().expect("a server is ready once");
                    stop_on_interrupts(stopper);
                    for remark in remarks {
                        global.note(remark);
                    }
                    if let Some(secret) = secret {
                        // Printed even with `--quiet`: the server is unusable without it.
                        note(format_args!("access token (shown only once): {secret}"));
                    }
                    global.note("serving; press Ctrl-C to stop");
                    print_text(&format!("{url}\n"))
                }
                Notice::Draining => {
                    note("stopping: waiting for requests in flight; press Ctrl-C again to exit at once");
                    Ok(())
                }
            })
            .await
        })
    }

    /// The access token, and its text if it was generated.
    fn token(&self) -> Result<(Option<Token>, Option<String>), CliError> {
        let broken = |error: getrandom::Error| {
            CliError::Internal(anyhow::anyhow!("no random numbers from the operating system: {error}"))
        };
        let given = self.token.clone().or_else(|| std::env::var(TOKEN_VARIABLE).ok());
        match given {
            Some(secret) => {
                let secret = secret.trim().to_owned();
                if secret.chars().count() < MIN_TOKEN_LEN || !secret.chars().all(|c| c.is_ascii_graphic()) {
                    return Err(CliError::input(format_args!(
                        "invalid token; expected at least {MIN_TOKEN_LEN} printable ASCII characters without spaces"
                    )));
                }
                Ok((Some(Token::new(secret).map_err(broken)?), None))
            }
            None if self.host.is_loopback() => Ok((None, None)),
            None => {
                let (token, secret) = Token::generate().map_err(broken)?;
                Ok((Some(token), Some(secret)))
            }
        }
    }
}

/// The first Ctrl-C drains, the second exits at once.
fn stop_on_interrupts(stopper: watch::Sender<Shutdown>) {
    let mut interrupts = Interrupts::listen();
    tokio::spawn(async move {
        for stop in [Shutdown::Drain, Shutdown::Immediate] {
            interrupts.next().await;
            stopper.send_replace(stop);
        }
        // Further interrupts are ignored.
        std::future::pending::<()>().await;
    });
}

/// The title of the study: the name of its directory.
fn title(folder: &std::path::Path) -> String {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    absolute.file_name().map_or_else(|| "study".to_owned(), |name| name.to_string_lossy().into_owned())
}
