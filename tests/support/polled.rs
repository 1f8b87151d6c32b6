//! Futures that are dropped before their end.

use std::future::poll_fn;
use std::task::Poll;

/// What a future ends with if it has so many polls. One that has not ended by then is dropped when it is woken next.
pub(crate) async fn polled<F: Future>(future: F, times: usize) -> Option<F::Output> {
    let (mut future, mut left) = (Box::pin(future), times);
    poll_fn(|cx| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        future.as_mut().poll(cx).map(Some)
    })
    .await
}
