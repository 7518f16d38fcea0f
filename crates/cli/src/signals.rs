//! Being told to end: Ctrl-C, and what a service manager sends in its place.

/// Listens from the moment when it is made, so that nothing that comes later is missed. Where signals cannot be listened
/// to, they end the process as they do by default.
#[derive(Debug)]
pub(crate) struct Interrupts {
    #[cfg(unix)]
    signals: Option<[tokio::signal::unix::Signal; 2]>,
}

impl Interrupts {
    /// Begins to listen. There has to be a runtime.
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

    /// Waits for the next.
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
