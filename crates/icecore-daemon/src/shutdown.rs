//! Signal for the end of the daemon.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use tokio::sync::watch;

/// Signal that the daemon is to end. All clones share one state.
#[derive(Clone)]
pub struct Shutdown(Arc<watch::Sender<bool>>);

impl Shutdown {
    pub fn new() -> Shutdown {
        Shutdown(Arc::new(watch::Sender::new(false)))
    }

    /// Sets the signal.
    pub fn begin(&self) {
        self.0.send_replace(true);
    }

    /// Returns whether the signal is set.
    pub fn has_begun(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until the signal is set.
    pub async fn wait_until_begun(&self) {
        let mut receiver = self.0.subscribe();
        let _ = receiver.wait_for(|has_begun| *has_begun).await;
    }
}

/// Result of the first of two futures.
pub enum Either<A, B> {
    Left(A),
    Right(B),
}

/// Waits for the first of two futures.
pub async fn select_first<A: Future, B: Future>(left: A, right: B) -> Either<A::Output, B::Output> {
    let (mut left, mut right) = (pin!(left), pin!(right));
    poll_fn(|context| {
        if let Poll::Ready(value) = left.as_mut().poll(context) {
            return Poll::Ready(Either::Left(value));
        }
        right.as_mut().poll(context).map(Either::Right)
    })
    .await
}
