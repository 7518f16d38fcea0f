//! Passes lines from the thread that writes them to the thread that computes their metrics.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Maximum queued blocks of lines.
const BLOCKS_IN_FLIGHT: usize = 16;

/// Creates both ends of a channel of lines. Dropping the sender ends the reader's input.
pub(crate) fn line_channel() -> (LineSender, LineReader) {
    let (sender, receiver) = sync_channel(BLOCKS_IN_FLIGHT);
    (LineSender { sender, is_unread: false }, LineReader { receiver, lines: Vec::new(), position: 0 })
}

/// Sends written bytes to a [`LineReader`], each write as one block. Writing fails with [`io::ErrorKind::BrokenPipe`] once
/// the reader is dropped.
pub(crate) struct LineSender {
    sender: SyncSender<Vec<u8>>,
    is_unread: bool,
}

impl LineSender {
    /// Whether a write failed because the reader was dropped.
    pub(crate) fn is_unread(&self) -> bool {
        self.is_unread
    }
}

impl io::Write for LineSender {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        if self.sender.send(lines.to_vec()).is_err() {
            self.is_unread = true;
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads what a [`LineSender`] sends.
pub(crate) struct LineReader {
    receiver: Receiver<Vec<u8>>,
    lines: Vec<u8>,
    position: usize,
}

impl io::Read for LineReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.position == self.lines.len() {
            let Ok(lines) = self.receiver.recv() else { return Ok(0) };
            (self.lines, self.position) = (lines, 0);
        }
        let taken = (&self.lines[self.position..]).read(buffer)?;
        self.position += taken;
        Ok(taken)
    }
}
