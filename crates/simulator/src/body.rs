//! The body of a response: complete, or deliberately truncated.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::Sleep;

use crate::service::ConnectionReset;

#[derive(Debug)]
pub(crate) struct SimulatedBody {
    data: Option<Bytes>,
    /// For a truncated body: how long the connection stays open after the data is sent.
    close_after: Option<Pin<Box<Sleep>>>,
}

impl SimulatedBody {
    pub(crate) fn complete(data: Bytes) -> Self {
        Self { data: Some(data), close_after: None }
    }

    /// A body that ends with a connection error. The pause gives the partial data time to reach the client.
    pub(crate) fn truncated(data: Bytes, pause: Duration) -> Self {
        Self { data: Some(data), close_after: Some(Box::pin(tokio::time::sleep(pause))) }
    }
}

impl Body for SimulatedBody {
    type Data = Bytes;
    type Error = ConnectionReset;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ConnectionReset>>> {
        if let Some(data) = self.data.take() {
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
        match &mut self.close_after {
            None => Poll::Ready(None),
            Some(pause) => pause.as_mut().poll(context).map(|()| Some(Err(ConnectionReset))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.data.is_none() && self.close_after.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match (&self.data, &self.close_after) {
            (_, Some(_)) => SizeHint::default(),
            (data, None) => SizeHint::with_exact(data.as_ref().map_or(0, |data| data.len() as u64)),
        }
    }
}
