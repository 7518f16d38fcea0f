//! `reasonscape serve`: a study to look at in a browser.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use crate::signals::Interrupts;
use reasonscape_pipeline::Shutdown;
use tokio::sync::watch;

use super::Global;
use super::study::study_folder;
use crate::error::{CliError, note};
use crate::output::print_text;
use reasonscape_web::{self as web, Access, Notice, ServeOptions, Token};

/// A token that is shorter can be tried out.
const MIN_TOKEN_LEN: usize = 8;
/// Where a token may stand that nobody else on the machine should see.
const TOKEN_VARIABLE: &str = "REASONSCAPE_TOKEN";

/// Show a study in the browser: leaderboard, landscapes, trials, runs to start and watch
///
/// Prints the address on standard output once it answers there, and serves until Ctrl-C, which is no failure: exit code
/// 0; runs that go on are waited for, as far as something is in flight, and a second Ctrl-C leaves at once. Files that
/// `evaluate` or `import` replace meanwhile are read again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape serve my-study\n  \
    reasonscape serve my-study --host 0.0.0.0 --port 80\n  \
    reasonscape serve my-study --read-only --base-path /scores --allow-host example.org")]
pub(super) struct Serve {
    /// Folder of the study, or its study.toml.
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// Port to listen on; 0 takes a free one.
    #[arg(long, default_value_t = 8050, value_name = "N")]
    port: u16,
    /// Address to listen on. Other machines get in only when this is changed, and then only with a token.
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), value_name = "ADDRESS")]
    host: IpAddr,
    /// Token that readers have to know; better kept in the environment variable `REASONSCAPE_TOKEN`, since arguments
    /// are seen by everybody on this machine. Without either, other machines need one that is made and printed once.
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// Another name that this server goes by, as behind a proxy; may be repeated.
    #[arg(long = "allow-host", value_name = "NAME")]
    hosts: Vec<String>,
    /// Let nobody change anything or start a run.
    #[arg(long)]
    read_only: bool,
    /// What stands before every path, as `/scores` where a proxy hands on only that part.
    #[arg(long, value_name = "PATH", default_value = "")]
    base_path: String,
}

impl Serve {
    /// Serves a study to this machine only.
    pub(super) fn on_localhost(study: PathBuf, port: u16) -> Self {
        let host = IpAddr::V4(Ipv4Addr::LOCALHOST);
        Self { study, port, host, token: None, hosts: Vec::new(), read_only: false, base_path: String::new() }
    }

    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let folder = study_folder(&self.study)?;
        let base = web::normalize_base_path(&self.base_path).ok_or_else(|| {
            CliError::input(format_args!(
                "`--base-path {}` is no plain path; expected letters, digits and `-._~`, as `/scores`",
                self.base_path
            ))
        })?;
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
            let options = ServeOptions { folder, title, base, access };
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
                        // Printed even with `--quiet`: nobody could get in without it.
                        note(format_args!("readers need this token, which is not shown again: {secret}"));
                    }
                    global.note("serving; Ctrl-C stops");
                    print_text(&format!("{url}\n"))
                }
                Notice::Draining => {
                    note(
                        "stopping: waiting for what runs have in flight; press Ctrl-C again to leave at once",
                    );
                    Ok(())
                }
            })
            .await
        })
    }

    /// What readers have to know, and the text of it if it was made here.
    fn token(&self) -> Result<(Option<Token>, Option<String>), CliError> {
        let broken = |error: getrandom::Error| {
            CliError::Internal(anyhow::anyhow!("the operating system has no random numbers: {error}"))
        };
        let given = self.token.clone().or_else(|| std::env::var(TOKEN_VARIABLE).ok());
        match given {
            Some(secret) => {
                let secret = secret.trim().to_owned();
                if secret.chars().count() < MIN_TOKEN_LEN || !secret.chars().all(|c| c.is_ascii_graphic()) {
                    return Err(CliError::input(format_args!(
                        "the token is too short or has blanks in it; give at least {MIN_TOKEN_LEN} letters, digits or signs"
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

/// The first Ctrl-C drains, the second leaves at once.
fn stop_on_interrupts(stopper: watch::Sender<Shutdown>) {
    let mut interrupts = Interrupts::listen();
    tokio::spawn(async move {
        for stop in [Shutdown::Drain, Shutdown::Immediate] {
            interrupts.next().await;
            stopper.send_replace(stop);
        }
        // The server ends; whoever is impatient beyond this is not heard.
        std::future::pending::<()>().await;
    });
}

/// What the study is called: as its folder.
fn title(folder: &std::path::Path) -> String {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    absolute.file_name().map_or_else(|| "study".to_owned(), |name| name.to_string_lossy().into_owned())
}
