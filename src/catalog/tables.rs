//! The tables of the catalog's database: their names, and the types of their keys and values. All
//! reads and writes of rows use these definitions.

use redb::TableDefinition;

pub(super) const SETTINGS: TableDefinition<'_, &str, u64> = TableDefinition::new("settings");
pub(super) const SEGMENTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("segments");
pub(super) const EPOCHS: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("epochs");
/// Writer sessions by number: the last operation and the last change before the session, and the
/// session's random number.
pub(super) const SESSIONS: TableDefinition<'_, u64, (u64, u64, u64)> =
    TableDefinition::new("sessions");
pub(super) type JournalDefinition = TableDefinition<'static, (u64, u32), &'static [u8]>;
pub(super) const JOURNALS: [JournalDefinition; 2] =
    [TableDefinition::new("journal_a"), TableDefinition::new("journal_b")];

/// One of the two journal tables: one is written, the other is being sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Journal {
    A,
    B,
}

impl Journal {
    pub(crate) fn other(self) -> Journal {
        match self {
            Journal::A => Journal::B,
            Journal::B => Journal::A,
        }
    }

    pub(super) fn table(self) -> JournalDefinition {
        let [a, b] = JOURNALS;
        match self {
            Journal::A => a,
            Journal::B => b,
        }
    }
}
