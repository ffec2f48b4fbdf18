//! The epochs of what comes into a store.

use std::collections::{HashMap, HashSet};

use clap::Args;
use simkeep::load::LoadEpochs;
use simkeep::{Epoch, EpochInfo, Error, Origin, Role, Snapshot, Store};

use super::exit::Failure;
use super::feed::{Entry, Fed, Found};
use super::origin;
use super::words::count;
use simkeep_archive::Broken;
use simkeep_archive::escape;

/// A fingerprint, or that there is none, and of which epoch.
pub(super) type Made = (Option<u64>, Epoch);

/// What the user says of epochs that an input names.
#[derive(Args)]
pub(super) struct FromInput {
    /// Begin epochs of simkeep's own recipes too, if the input names some that the store has not:
    /// texts get fingerprints of the newest from then on. A new store takes those at the head of an
    /// export in any case
    #[arg(long)]
    epochs_from_input: bool,
    /// How many epochs may begin because the input names them
    #[arg(long, value_name = "COUNT", default_value_t = 1000)]
    max_epochs: usize,
}

/// Which epochs an input may name.
pub(super) struct Admission {
    from_input: bool,
    max: usize,
    /// Those of the store, and those that were named since.
    known: HashSet<String>,
    /// How many of them are of the input.
    begun: usize,
    /// Whether the store is a new one.
    new: bool,
    /// Whether nothing has come but names of epochs.
    at_head: bool,
}

impl Admission {
    /// Of a store with these epochs, or a new one; `ready_made` was named by the user.
    pub(super) fn new(
        from_input: &FromInput,
        store: Option<&[EpochInfo]>,
        ready_made: &str,
    ) -> Result<Admission, Failure> {
        let mut known = match store {
            Some(epochs) => epochs.iter().map(|info| info.name.clone()).collect(),
            None => HashSet::from([origin::options()?.epoch]),
        };
        known.insert(ready_made.to_owned());
        let FromInput { epochs_from_input, max_epochs } = *from_input;
        let new = store.is_none();
        Ok(Admission {
            from_input: epochs_from_input,
            max: max_epochs,
            known,
            begun: 0,
            new,
            at_head: true,
        })
    }

    /// What came, or why it is broken: for the epoch that it names.
    pub(super) fn admit(&mut self, fed: Fed) -> Fed {
        let (at, name) = match &fed {
            Fed::Epoch(name, _) => ("a line with an epoch alone", name),
            Fed::Entry(Entry { url, found, .. }) => {
                self.at_head = false;
                match found {
                    Found::Ready(_, Some(name)) | Found::Restated(_, name) => (url.as_str(), name),
                    _ => return fed,
                }
            }
            Fed::Broken(_) | Fed::Passed(_) | Fed::Binary(_) => {
                self.at_head = false;
                return fed;
            }
        };
        match self.name(name, self.new && self.at_head) {
            Ok(()) => fed,
            Err(why) => Fed::Broken(Broken { at: escape::whole(at), why }),
        }
    }

    /// Whether all that a store has may come, which the user named.
    pub(super) fn admit_store(&mut self, store: &Snapshot) -> Result<(), Failure> {
        self.at_head = false;
        for info in store.epochs() {
            // One that has ended makes no fingerprints.
            self.name(&info.name, self.new || info.ended).map_err(Failure::Usage)?;
        }
        Ok(())
    }

    fn name(&mut self, name: &str, ours: bool) -> Result<(), String> {
        if self.known.contains(name) {
            return Ok(());
        }
        let name_it = || escape::whole(name);
        if Origin::is_name(name) && !(self.from_input || ours) {
            return Err(format!(
                "the epoch {} is of a recipe of simkeep's, and the store has none of this name; to \
                 begin it say --epochs-from-input",
                name_it()
            ));
        }
        if self.begun >= self.max {
            return Err(format!(
                "the epoch {} would be more than the {} that an input may begin; see --max-epochs",
                name_it(),
                count(self.max as u64)
            ));
        }
        self.begun += 1;
        self.known.insert(name.to_owned());
        Ok(())
    }
}

/// Where epochs are registered.
pub(super) enum Register<'s> {
    /// In a store, when they first come up.
    Store(&'s Store),
    /// With a load, of a store with these epochs.
    Load(&'s LoadEpochs, Vec<EpochInfo>),
}

impl Register<'_> {
    /// The epoch of this name; if it is new, it begins with this role.
    fn named(&self, name: &str, role: Role) -> simkeep::Result<Epoch> {
        match self {
            Register::Store(store) => {
                let role = role_in(store.snapshot().epochs(), name).unwrap_or(role);
                store.register_epoch(name, role)
            }
            Register::Load(epochs, known) => {
                // The load would say so when all has been read.
                match known.iter().find(|info| info.name == name && info.ended) {
                    Some(ended) => Err(Error::EndedEpoch(ended.name.clone())),
                    None => epochs.named(name, role),
                }
            }
        }
    }

    /// The epochs that were there, and of a store those that began since.
    fn epochs(&self) -> Vec<EpochInfo> {
        match self {
            Register::Store(store) => store.snapshot().epochs().to_vec(),
            Register::Load(_, known) => known.clone(),
        }
    }

    fn origin(&self, origin: &Origin) -> simkeep::Result<Epoch> {
        match self {
            Register::Store(store) => {
                let role = role_in(store.snapshot().epochs(), &origin.name());
                store.begin_epoch(origin, role.unwrap_or_default())
            }
            Register::Load(epochs, _) => epochs.origin(origin, Role::Both),
        }
    }
}

/// The role of the epoch of this name, if there is one.
fn role_in(epochs: &[EpochInfo], name: &str) -> Option<Role> {
    epochs.iter().find(|info| info.name == name).map(|info| info.role)
}

/// The epochs of what comes in, each registered when it first comes up.
pub(super) struct Epochs<'s> {
    register: Register<'s>,
    /// What makes the fingerprints of texts, and their epochs once there is a text.
    origins: Vec<Origin>,
    of_texts: Vec<Epoch>,
    by_name: HashMap<String, Epoch>,
}

impl<'s> Epochs<'s> {
    pub(super) fn new(register: Register<'s>, origins: Vec<Origin>) -> Epochs<'s> {
        Epochs { register, origins, of_texts: Vec::new(), by_name: HashMap::new() }
    }

    /// Those of fingerprints that were made of a text, each with its own: the first, and another.
    ///
    /// # Errors
    ///
    /// If there is nothing to make fingerprints of texts by.
    pub(super) fn of_texts(
        &mut self,
        fingerprints: &[Option<u64>],
    ) -> simkeep::Result<(Made, Option<Made>)> {
        if self.of_texts.is_empty() {
            let epochs = self.origins.iter().map(|origin| self.register.origin(origin));
            self.of_texts = epochs.collect::<simkeep::Result<_>>()?;
        }
        let mut each = fingerprints.iter().copied().zip(self.of_texts.iter().copied());
        match each.next() {
            Some(first) => Ok((first, each.next())),
            None => Err(Error::Misuse(origin::why_none(&self.register.epochs()))),
        }
    }

    /// The one of this name; a new one begins with this role.
    pub(super) fn named(&mut self, name: &str, role: Role) -> simkeep::Result<Epoch> {
        if let Some(&epoch) = self.by_name.get(name) {
            return Ok(epoch);
        }
        let epoch = self.register.named(name, role)?;
        self.by_name.insert(name.to_owned(), epoch);
        Ok(epoch)
    }
}

/// The store at a place, if there is one.
pub(super) fn existing(place: &std::path::Path) -> Result<Option<Store>, Failure> {
    match Store::open(place, origin::options()?) {
        Ok(store) => Ok(Some(store)),
        Err(Error::NotAStore { .. } | Error::Unfinished { .. }) => Ok(None),
        Err(e) => Err(e.into()),
    }
}
