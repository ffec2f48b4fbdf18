//! URLs that wait for their first visit.

use crate::convert::time::PyTime;
use crate::convert::value::value;
use crate::streams::stream::StreamItem;

value! {
    /// A URL that was found, and that nobody has visited yet.
    WaitingUrl from waiting: simkeep::query::WaitingUrl {
        url: String,
        /// The earliest time at which the URL was found, in whole seconds.
        time: PyTime,
        /// The largest weight of the URL, rounded.
        weight: f64,
    }
}

impl StreamItem for simkeep::query::WaitingUrl {
    type Object = WaitingUrl;
}
