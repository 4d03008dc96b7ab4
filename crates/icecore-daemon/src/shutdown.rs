//! The end of the daemon, seen by all that wait.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use tokio::sync::watch;

/// Says that the daemon is to end; clones say the same.
#[derive(Clone)]
pub struct Shutdown(Arc<watch::Sender<bool>>);

impl Shutdown {
    pub fn new() -> Shutdown {
        Shutdown(Arc::new(watch::Sender::new(false)))
    }

    /// It is to end.
    pub fn begin(&self) {
        self.0.send_replace(true);
    }

    /// Whether it is to end.
    pub fn has_begun(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it is to end.
    pub async fn begun(&self) {
        let mut receiver = self.0.subscribe();
        let _ = receiver.wait_for(|has_begun| *has_begun).await;
    }
}

/// Which of two came first.
pub enum First<A, B> {
    Left(A),
    Right(B),
}

/// Waits for the first of two.
pub async fn first<A: Future, B: Future>(left: A, right: B) -> First<A::Output, B::Output> {
    let (mut left, mut right) = (pin!(left), pin!(right));
    poll_fn(|context| {
        if let Poll::Ready(value) = left.as_mut().poll(context) {
            return Poll::Ready(First::Left(value));
        }
        right.as_mut().poll(context).map(First::Right)
    })
    .await
}
