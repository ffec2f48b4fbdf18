//! Writer sessions: the times that a store was open for writing and changed.
//!
//! Two copies of a store diverge when both are written to. From then on, equal sequence numbers
//! name different operations, so the numbers alone do not show whether one copy is an earlier state
//! of the other copy. Each session has a random number. A copy is an earlier state if the store has
//! the last session of the copy, and wrote in that session at least as much as the copy.
//!
//! The row of a session is written in the first transaction of the session. So a crash leaves both
//! the row and the operations of that transaction, or neither.

use redb::{ReadableTable, ReadableTableMetadata, WriteTransaction};

use super::mark::CommitMark;
use super::rows::SEQUENCES_END;
use super::tables::SESSIONS;

/// The maximum number of rows. A store that is opened and written to every minute keeps the rows of
/// almost three days, in about 35 redb pages.
pub(super) const SESSIONS_MAX: u64 = 4096;

/// A time during which one process had the store open and changed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WriterSession {
    /// The number of the session, from 1. Only sessions that changed the store are numbered.
    pub(crate) number: u64,
    /// The commits before the session: the session's operations and changes follow them.
    pub(crate) before: CommitMark,
    /// A random number that identifies the session. Diverged copies of a store have different
    /// sessions of equal number.
    pub(crate) nonce: u64,
}

impl WriterSession {
    /// The value of the session's row. The key is the number.
    fn value(&self) -> (u64, u64, u64) {
        (self.before.sequence, self.before.changes, self.nonce)
    }

    pub(super) fn of_row(
        number: u64,
        (sequence, changes, nonce): (u64, u64, u64),
    ) -> WriterSession {
        WriterSession { number, before: CommitMark { sequence, changes }, nonce }
    }
}

/// Checks that the sessions are numbered consecutively, and that all numbers are possible. The error
/// describes the problem.
pub(super) fn check_sessions(sessions: &[WriterSession]) -> Result<(), String> {
    let is_possible = |WriterSession { number, before, .. }: &WriterSession| {
        let counts = [*number, before.sequence, before.changes];
        *number > 0 && counts.iter().all(|count| *count < SEQUENCES_END)
    };
    if sessions.len() as u64 > SESSIONS_MAX {
        return Err(format!("it has more than {SESSIONS_MAX} writer sessions"));
    }
    let mut pairs = sessions.array_windows();
    if sessions.iter().all(is_possible) && pairs.all(|[one, next]| next.number == one.number + 1) {
        return Ok(());
    }
    Err("its writer sessions are not numbered consecutively, or have impossible numbers".to_owned())
}

/// Adds rows to an empty table.
pub(super) fn write(
    transaction: &WriteTransaction,
    sessions: &[WriterSession],
) -> Result<(), redb::Error> {
    let mut table = transaction.open_table(SESSIONS)?;
    for session in sessions {
        table.insert(session.number, session.value())?;
    }
    Ok(())
}

/// Adds the row of a session that begins after the commits `before`, and removes the oldest rows if
/// there are too many.
pub(super) fn begin(
    transaction: &WriteTransaction,
    before: CommitMark,
    nonce: u64,
) -> Result<(), redb::Error> {
    let mut table = transaction.open_table(SESSIONS)?;
    let last = table.last()?.map_or(0, |(number, _)| number.value());
    let session = WriterSession { number: last + 1, before, nonce };
    table.insert(session.number, session.value())?;
    while table.len()? > SESSIONS_MAX {
        table.pop_first()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_sessions_are_detected() {
        let session =
            |number, sequence, changes| WriterSession::of_row(number, (sequence, changes, 9));
        for sound in [&[][..], &[session(4, 0, 0)], &[session(4, 3, 1), session(5, 3, 2)]] {
            check_sessions(sound).unwrap();
        }
        for damaged in [
            [session(0, 0, 0), session(1, 0, 0)],
            [session(4, 3, 1), session(6, 3, 1)],
            [session(SEQUENCES_END - 1, 3, 1), session(SEQUENCES_END, 3, 1)],
            [session(4, 3, 1), session(5, SEQUENCES_END, 1)],
            [session(4, 3, 1), session(5, 3, SEQUENCES_END)],
        ] {
            check_sessions(&damaged).unwrap_err();
        }
    }
}
