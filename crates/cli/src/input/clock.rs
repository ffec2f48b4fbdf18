//! The clock of this machine, and the check for visits in the future.

use std::time::Duration;

use clap::Args;
use simkeep::{Snapshot, Time};
use simkeep_formats::{BrokenRecord, escape};

use crate::exit::print_message;
use crate::input::feed::{EntryPayload, InputItem};
use crate::time;

/// Options about the clock.
#[derive(Args, Clone, Copy)]
pub(crate) struct ClockOptions {
    /// Refuse visits later than now by more than this; none accepts all
    #[arg(long, value_name = "DURATION", default_value = "1d", value_parser = tolerance)]
    clock_tolerance: Tolerance,
    /// Time to use instead of the clock of this machine
    #[arg(long, value_name = "TIME", value_parser = time::parse, allow_hyphen_values = true)]
    now: Option<Time>,
}

impl ClockOptions {
    /// The current time, if the user set it.
    pub(crate) fn now(self) -> Option<Time> {
        self.now
    }
}

/// The maximum time by which a visit may be later than now; `None` allows any time.
#[derive(Clone, Copy)]
struct Tolerance(Option<Duration>);

fn tolerance(text: &str) -> Result<Tolerance, String> {
    if text == "none" { Ok(Tolerance(None)) } else { time::duration(text).map(Some).map(Tolerance) }
}

/// Refuses visits that are later than the clock allows.
///
/// A visit in 2099 would be the last visit of its page until then. The page would never be due, and
/// every later visit would be out of order.
pub(crate) struct ClockCheck {
    options: ClockOptions,
    /// The last visit in the store before the input. If the clock does not allow that visit either,
    /// the clock is wrong, and no visit is refused.
    last: Option<Time>,
    refused: u64,
}

impl ClockCheck {
    /// Creates a check for a store, if there is one. Prints a warning if the last visit is after
    /// the limit.
    pub(crate) fn new(options: ClockOptions, store: Option<&Snapshot>) -> ClockCheck {
        let last = store.and_then(Snapshot::last_visit);
        let check = ClockCheck { options, last, refused: 0 };
        if let (Some(limit), Some(last)) = (check.limit(), last)
            && last > limit
        {
            let [now, last] = [check.now(), last].map(time::to_second);
            print_message(&format!(
                "the clock of this machine shows {now}, but the last visit in the store was at \
                 {last}; check the clock; this run accepts visits in the future"
            ));
        }
        check
    }

    /// Returns the time of the clock, or the time that the user set.
    pub(crate) fn now(&self) -> Time {
        self.options.now.unwrap_or_else(Time::now)
    }

    /// The number of refused visits.
    pub(crate) fn refused(&self) -> u64 {
        self.refused
    }

    /// The latest time that a visit may have; `None` if it may have any time.
    pub(crate) fn limit(&self) -> Option<Time> {
        let Tolerance(tolerance) = self.options.clock_tolerance;
        Some(self.now() + tolerance?)
    }

    /// Returns the item; a visit that is too late becomes a broken record.
    pub(crate) fn check(&mut self, fed: InputItem) -> InputItem {
        let InputItem::Entry(entry) = &fed else { return fed };
        let is_visit =
            !matches!(entry.found, EntryPayload::Properties | EntryPayload::Restated(..));
        let time = Time::from_ms_unchecked(entry.time);
        let Some(limit) = self.limit().filter(|limit| is_visit && time > *limit) else {
            return fed;
        };
        if self.last.is_some_and(|last| last > limit) {
            return fed;
        }
        self.refused += 1;
        let [time, limit] = [time, limit].map(time::to_second);
        let why = format!(
            "the time of the visit, {time}, is after {limit}, the latest time that \
             --clock-tolerance allows"
        );
        let url = escape::escape_untruncated(&entry.url);
        InputItem::Broken(match &entry.at {
            Some(at) => BrokenRecord { at: at.to_string(), why: format!("{url}: {why}") },
            None => BrokenRecord { at: url, why },
        })
    }
}
