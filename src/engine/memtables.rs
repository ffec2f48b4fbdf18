//! The memtables of a store: the active memtable, and the previous memtable while it is sealed.

use std::iter::{Chain, Once, once};
use std::option;
use std::sync::Arc;

use super::component::ComponentId;
use super::memtable::Memtable;
use crate::catalog::Journal;

/// The memtables of a view.
#[derive(Clone, Debug)]
pub(crate) struct Memtables {
    /// The memtable that waits to be sealed, or is being sealed. It is full, and no longer written.
    pub(crate) sealing: Option<Arc<Memtable>>,
    /// The active memtable. Without a writer it is empty.
    pub(crate) active: Arc<Memtable>,
}

impl Memtables {
    /// Creates empty memtables, for a view with all data in segments. New operations are written to
    /// the journal `journal`.
    pub(crate) fn empty(journal: Journal) -> Memtables {
        Memtables { sealing: None, active: Arc::new(Memtable::new(journal)) }
    }

    /// All memtables, the oldest first.
    #[inline]
    pub(crate) fn iter(&self) -> MemtableIter<'_> {
        self.sealing.iter().chain(once(&self.active))
    }

    /// All memtables with their component identities, the oldest first.
    #[inline]
    pub(crate) fn with_ids(
        &self,
    ) -> impl DoubleEndedIterator<Item = (ComponentId, &Arc<Memtable>)> {
        let sealing = self.sealing.iter().map(|sealing| (ComponentId::Sealing, sealing));
        sealing.chain(once((ComponentId::Active, &self.active)))
    }
}

type MemtableIter<'a> = Chain<option::Iter<'a, Arc<Memtable>>, Once<&'a Arc<Memtable>>>;

impl<'a> IntoIterator for &'a Memtables {
    type Item = &'a Arc<Memtable>;
    type IntoIter = MemtableIter<'a>;

    #[inline]
    fn into_iter(self) -> MemtableIter<'a> {
        self.iter()
    }
}
