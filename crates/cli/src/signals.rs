//! Termination signals: Ctrl-C, and SIGTERM of service managers.

use crate::error::CliError;

/// A stream of interrupts. It listens from its creation, so no later signal is missed. If signals can't be handled, they
/// end the process as by default.
#[derive(Debug)]
pub(crate) struct Interrupts {
    #[cfg(unix)]
    signals: Option<[tokio::signal::unix::Signal; 2]>,
}

impl Interrupts {
    /// Starts listening. Must be called within a Tokio runtime.
    #[must_use]
    pub(crate) fn listen() -> Self {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};

            let signals = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
            let (Ok(interrupt), Ok(terminate)) = signals else { return Self { signals: None } };
            Self { signals: Some([interrupt, terminate]) }
        }
        #[cfg(not(unix))]
        Self {}
    }

    /// Waits for the next interrupt.
    pub(crate) async fn next(&mut self) {
        #[cfg(unix)]
        match &mut self.signals {
            Some([interrupt, terminate]) => tokio::select! {
                _ = interrupt.recv() => (),
                _ = terminate.recv() => (),
            },
            None => std::future::pending().await,
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Calls `handler` on its own thread at each Ctrl-C, SIGTERM or SIGHUP, until the process ends.
///
/// # Errors
/// When signal handlers cannot be installed.
pub(crate) fn on_interrupt(mut handler: impl FnMut() + Send + 'static) -> Result<(), CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let mut signals = {
        let _context = runtime.enter();
        TerminationSignals::listen()?
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        runtime.block_on(async {
            loop {
                signals.next().await;
                handler();
            }
        });
    })?;
    Ok(())
}

/// The signals that terminate a process.
#[cfg(unix)]
struct TerminationSignals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl TerminationSignals {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => (),
            _ = self.terminate.recv() => (),
            _ = self.hangup.recv() => (),
        }
    }
}

/// The console events that terminate a process.
#[cfg(windows)]
struct TerminationSignals {
    ctrl_c: tokio::signal::windows::CtrlC,
    ctrl_break: tokio::signal::windows::CtrlBreak,
    ctrl_close: tokio::signal::windows::CtrlClose,
    ctrl_shutdown: tokio::signal::windows::CtrlShutdown,
}

#[cfg(windows)]
impl TerminationSignals {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};

        Ok(Self {
            ctrl_c: ctrl_c()?,
            ctrl_break: ctrl_break()?,
            ctrl_close: ctrl_close()?,
            ctrl_shutdown: ctrl_shutdown()?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.ctrl_c.recv() => (),
            _ = self.ctrl_break.recv() => (),
            _ = self.ctrl_close.recv() => (),
            _ = self.ctrl_shutdown.recv() => (),
        }
    }
}
