//! The epochs of an input.

use std::collections::{HashMap, HashSet};

use arrayvec::ArrayVec;
use clap::Args;
use simkeep::fingerprint::{Bands, Recipe};
use simkeep::load::LoadEpochs;
use simkeep::{
    Digest, Epoch, EpochInfo, EpochOptions, Error, NotStore, Options, Origin, Seen, Snapshot,
    Store, Time, Visit,
};

use crate::common::write;
use crate::exit::VerbError;
use crate::input::clock::ClockCheck;
use crate::input::feed::{EntryPayload, InputEntry, InputItem};
use crate::input::origin::{self, TextOrigins};
use crate::output::visit;
use crate::output::words::{self, count};
use simkeep_formats::BrokenRecord;
use simkeep_formats::escape;

/// A fingerprint, or `None` if the content has none, and its epoch.
pub(crate) type EpochFingerprint = (Option<u64>, Epoch);

/// Options about epochs that an input names.
#[derive(Args)]
pub(crate) struct InputEpochArgs {
    /// Let the input begin epochs in an existing store
    #[arg(long)]
    begin_epoch: bool,
    /// Maximum number of new epochs
    #[arg(long, value_name = "COUNT", default_value_t = 1000)]
    max_epochs: usize,
}

impl InputEpochArgs {
    /// The origins of fingerprints of texts for a store or a new store, or the reason why there is
    /// none.
    pub(crate) fn makers(&self, store: Option<&Snapshot>) -> Result<TextOrigins, VerbError> {
        let makers = origin::live(store, self.begin_epoch)?;
        Ok(makers.map_err(|why| why + &origin::begin_advice(store)))
    }
}

/// Decides which epochs an input may name.
pub(crate) struct EpochAdmission {
    /// Whether the input may begin epochs in an existing store.
    begins: bool,
    max: usize,
    /// The epochs of the store, and those that the input has named since.
    known: HashSet<String>,
    /// The number of epochs that the input began.
    begun: usize,
    /// Whether the store is new, or has no pages yet.
    new: bool,
    /// Whether the input so far consists of names of epochs.
    at_head: bool,
    /// The epoch that verdicts use, or will use in a new store.
    change: String,
    /// The reason why fingerprints that name no epoch are refused, if they are.
    refused: Option<String>,
    /// The check for visits in the future.
    pub(crate) clock: ClockCheck,
}

impl EpochAdmission {
    /// Creates the admission for a store or a new store. `ready_made` is the epoch that the user
    /// named.
    pub(crate) fn new(
        from_input: &InputEpochArgs,
        store: Option<&Snapshot>,
        ready_made: &str,
        clock: ClockCheck,
    ) -> Result<EpochAdmission, VerbError> {
        let InputEpochArgs { begin_epoch, max_epochs } = *from_input;
        let first = || vec![Options::default().epoch];
        let names = |store: &Snapshot| store.epochs().iter().map(|i| i.name.clone()).collect();
        let known: Vec<String> = store.map_or_else(first, names);
        let change = match store {
            Some(store) => visit::epoch(store.epochs(), store.change_epoch())?.to_owned(),
            None => Options::default().epoch,
        };
        let first_page = store.and_then(|store| store.scan(None).next()).transpose()?;
        let mut admission = EpochAdmission {
            begins: begin_epoch,
            max: max_epochs,
            known: HashSet::from_iter(known),
            begun: 0,
            new: first_page.is_none(),
            at_head: true,
            change,
            refused: None,
            clock,
        };
        if admission.new || begin_epoch {
            admission.known.insert(ready_made.to_owned());
        } else if !admission.known.contains(ready_made) {
            let what = "; or name an epoch of the store with --epoch (see simkeep epoch list)";
            admission.refused = Some(admission.missing_epoch_message(ready_made) + what);
        }
        Ok(admission)
    }

    /// Returns the item, or a broken record if its epoch is not admitted.
    ///
    /// # Errors
    ///
    /// For fingerprints that name no epoch, if the store lacks the epoch that the user named.
    pub(crate) fn admit(&mut self, fed: InputItem) -> Result<InputItem, VerbError> {
        let (at, name) = match &fed {
            InputItem::Epoch(name, _) => ("a line that only names an epoch", name),
            InputItem::Entry(InputEntry { url, found, .. }) => {
                self.at_head = false;
                match found {
                    EntryPayload::Ready(_, Some(name)) | EntryPayload::Restated(_, name) => {
                        (url.as_str(), name)
                    }
                    EntryPayload::Ready(_, None) => {
                        let refused = self.refused.clone();
                        return refused.map_or(Ok(fed), |why| Err(VerbError::Usage(why)));
                    }
                    _ => return Ok(fed),
                }
            }
            InputItem::Question(_) | InputItem::Broken(_) | InputItem::Passed(_) => {
                self.at_head = false;
                return Ok(fed);
            }
            InputItem::Export(_) | InputItem::Refused(_) => return Ok(fed),
        };
        Ok(match self.name(name, self.new && self.at_head) {
            Ok(()) => fed,
            Err(why) => InputItem::Broken(BrokenRecord { at: escape::escape_untruncated(at), why }),
        })
    }

    /// Checks that all epochs of a store may come. The user named the store as input.
    pub(crate) fn admit_store(&mut self, store: &Snapshot) -> Result<(), VerbError> {
        self.at_head = false;
        for info in store.epochs() {
            self.admit_exported(&info.name, info.ended).map_err(VerbError::Usage)?;
        }
        Ok(())
    }

    /// Checks that an epoch of a whole store may come.
    pub(crate) fn admit_exported(&mut self, name: &str, ended: bool) -> Result<(), String> {
        // An ended epoch is not used for anything, so it may always begin.
        self.name(name, self.new || ended)
    }

    /// Checks that an epoch may be named. An unknown epoch may begin if it `is_wanted`.
    fn name(&mut self, name: &str, is_wanted: bool) -> Result<(), String> {
        if self.known.contains(name) {
            return Ok(());
        }
        let is_wanted = is_wanted || self.begins;
        if !is_wanted && !self.new {
            return Err(self.missing_epoch_message(name));
        }
        if !is_wanted && Origin::is_name(name) {
            return Err(format!(
                "the store has no epoch {}; an epoch with the name of a simkeep recipe begins \
                 only with --begin-epoch",
                escape::escape_untruncated(name)
            ));
        }
        if self.begun >= self.max {
            return Err(format!(
                "the epoch {} exceeds the limit of {} new epochs; --max-epochs sets the limit",
                escape::escape_untruncated(name),
                count(self.max as u64)
            ));
        }
        self.begun += 1;
        self.known.insert(name.to_owned());
        Ok(())
    }

    /// The reason why no epoch of this name begins in an existing store.
    fn missing_epoch_message(&self, name: &str) -> String {
        format!(
            "the store has no epoch {}; its verdicts use the epoch {}; --begin-epoch begins the \
             new epoch",
            escape::escape_untruncated(name),
            escape::escape_untruncated(&self.change)
        )
    }
}

/// The register of epochs.
pub(crate) enum EpochTarget<'s> {
    /// A store, where an epoch is registered when it first occurs.
    Store(&'s Store),
    /// A load into a store with these epochs. A new epoch begins with its `options`, if it has any.
    Load { with: &'s LoadEpochs, known: Vec<EpochInfo>, options: HashMap<String, EpochOptions> },
}

impl<'s> EpochTarget<'s> {
    /// The register of a load into a store with these epochs, or into a new store.
    pub(crate) fn with(with: &'s LoadEpochs, known: Option<Vec<EpochInfo>>) -> EpochTarget<'s> {
        // The first epoch of a store has both roles.
        let first = (Options::default().epoch, EpochOptions::default());
        let options = if known.is_none() { HashMap::from([first]) } else { HashMap::new() };
        EpochTarget::Load { with, known: known.unwrap_or_default(), options }
    }

    /// The epoch with this name. If it is new, it begins with these options. Otherwise it keeps its
    /// own, whatever the input says.
    fn find_or_begin(&mut self, name: &str, described: EpochOptions) -> simkeep::Result<Epoch> {
        match (self.known(name), self) {
            (Some(known), _) => live_number(&known),
            (None, EpochTarget::Store(store)) => store.register_epoch(name, described),
            (None, EpochTarget::Load { with, options, .. }) => {
                with.named(name, describe(options, name, described))
            }
        }
    }

    /// The epoch of this origin.
    fn origin(&mut self, origin: &Origin) -> simkeep::Result<Epoch> {
        let name = origin.name();
        match (self.known(&name), self) {
            (Some(known), _) => live_number(&known),
            (None, EpochTarget::Store(store)) => store.begin_epoch(origin, EpochOptions::default()),
            (None, EpochTarget::Load { with, options, .. }) => {
                with.origin(origin, *options.entry(name).or_default())
            }
        }
    }

    /// The epoch that verdicts use.
    fn change_epoch(&self) -> simkeep::Result<Epoch> {
        let epochs = self.epochs();
        let tells = |info: &&EpochInfo| !info.ended && info.role.detects_changes();
        let newest = epochs.iter().rfind(tells).map(|info| info.epoch);
        newest
            .ok_or_else(|| Error::InvalidArgument("the store has no epoch for verdicts".to_owned()))
    }

    /// The known epochs; for a store, including those that began since.
    fn epochs(&self) -> Vec<EpochInfo> {
        match self {
            EpochTarget::Store(store) => store.snapshot().epochs().to_vec(),
            EpochTarget::Load { known, .. } => known.clone(),
        }
    }

    /// The epoch with this name, if there is one.
    fn known(&self, name: &str) -> Option<EpochInfo> {
        self.epochs().into_iter().find(|info| info.name == name)
    }
}

/// The options of a new epoch. The first description of each option counts.
fn describe(
    all: &mut HashMap<String, EpochOptions>,
    name: &str,
    described: EpochOptions,
) -> EpochOptions {
    let options = all.entry(name.to_owned()).or_insert(described);
    options.bands = options.bands.or(described.bands);
    *options
}

/// The number of an epoch; an error if the epoch has ended.
fn live_number(info: &EpochInfo) -> simkeep::Result<Epoch> {
    if info.ended { Err(Error::EndedEpoch(info.name.clone())) } else { Ok(info.epoch) }
}

/// The epochs of an input, each registered when it first occurs.
pub(crate) struct InputEpochs<'s> {
    register: EpochTarget<'s>,
    /// The origins of fingerprints of texts, and their epochs once there is a text.
    makers: TextOrigins,
    of_texts: Vec<Epoch>,
    by_name: HashMap<String, Epoch>,
}

impl<'s> InputEpochs<'s> {
    pub(crate) fn new(register: EpochTarget<'s>, makers: TextOrigins) -> InputEpochs<'s> {
        InputEpochs { register, makers, of_texts: Vec::new(), by_name: HashMap::new() }
    }

    /// The reason why texts get no fingerprints, if they get none.
    pub(crate) fn why_no_texts(&self) -> Option<&str> {
        self.makers.as_ref().err().map(String::as_str)
    }

    /// Pairs the fingerprints of a text with their epochs: the first, and another one if there is
    /// one.
    ///
    /// # Errors
    ///
    /// If texts get no fingerprints.
    pub(crate) fn of_texts(
        &mut self,
        fingerprints: &[Option<u64>],
    ) -> simkeep::Result<(EpochFingerprint, Option<EpochFingerprint>)> {
        if self.of_texts.is_empty() {
            let (register, makers) = (&mut self.register, self.makers.iter().flatten());
            let epochs = makers.map(|origin| register.origin(origin));
            self.of_texts = epochs.collect::<simkeep::Result<_>>()?;
        }
        let mut each = fingerprints.iter().copied().zip(self.of_texts.iter().copied());
        match each.next() {
            Some(first) => Ok((first, each.next())),
            None => {
                let why = self.why_no_texts().unwrap_or("texts have no fingerprints here");
                Err(Error::InvalidArgument(why.to_owned()))
            }
        }
    }

    /// The epochs of binary content, which has no fingerprint in any of them: the epochs of texts,
    /// or the epoch that verdicts use if texts get no fingerprints.
    pub(crate) fn of_binary(
        &mut self,
    ) -> simkeep::Result<(EpochFingerprint, Option<EpochFingerprint>)> {
        match &self.makers {
            Ok(makers) => {
                let none: ArrayVec<Option<u64>, 2> = makers.iter().map(|_| None).collect();
                self.of_texts(&none)
            }
            Err(_) => Ok(((None, self.register.change_epoch()?), None)),
        }
    }

    /// Adds the epochs of a store that is loaded. New epochs begin with their options in that
    /// store.
    pub(crate) fn add_store_epochs(&mut self, epochs: &[EpochInfo]) {
        epochs.iter().for_each(|info| self.add_exported_epoch(&info.name, info.options()));
    }

    /// Adds an epoch of a whole store. If it is new, it begins with these options.
    pub(crate) fn add_exported_epoch(&mut self, name: &str, has: EpochOptions) {
        if let EpochTarget::Load { options, .. } = &mut self.register {
            describe(options, name, has);
        }
    }

    /// The bands of a new store's first epoch, from the input so far. Later input does not change
    /// them.
    pub(crate) fn first_bands(&mut self, name: &str) -> Option<Bands> {
        match &mut self.register {
            EpochTarget::Load { options, .. } => {
                let first = options.entry(name.to_owned()).or_default();
                Some(*first.bands.get_or_insert(Recipe::DEFAULT.bands()))
            }
            EpochTarget::Store(_) => None,
        }
    }

    /// The epoch with this name. A new epoch begins with these options.
    pub(crate) fn find_or_begin(
        &mut self,
        name: &str,
        options: EpochOptions,
    ) -> simkeep::Result<Epoch> {
        if let Some(&epoch) = self.by_name.get(name) {
            return Ok(epoch);
        }
        let epoch = self.register.find_or_begin(name, options)?;
        self.by_name.insert(name.to_owned(), epoch);
        Ok(epoch)
    }
}

/// Whether an error concerns only one record, which names an epoch that accepts nothing.
pub(crate) fn is_of_record(error: &Error) -> bool {
    matches!(error, Error::EndedEpoch(_) | Error::UnknownEpoch(_) | Error::Limit { .. })
}

/// The epochs among `begun` that verdicts or searches use now.
pub(crate) fn in_use_now(begun: &[EpochInfo], now: &Snapshot) -> Vec<EpochInfo> {
    let in_use = [now.change_epoch(), now.near_epoch()];
    begun.iter().filter(|info| in_use.contains(&info.epoch)).cloned().collect()
}

/// Some epochs by their names and roles, for people.
pub(crate) fn with_roles(epochs: &[EpochInfo]) -> String {
    let named = epochs.iter().map(|info| format!("{} ({})", info.name, info.role));
    let named: Vec<String> = named.collect();
    words::abbreviated_names(named.iter().map(String::as_str))
}

/// The data of a store about the content of a page at a time.
pub(crate) struct KnownContent {
    /// The visits that saw the content. If there are several, their statuses differ.
    visits: Vec<Visit>,
    /// The epochs in which the content has a fingerprint, or is known to have none.
    epochs: Vec<Epoch>,
}

impl KnownContent {
    /// Reads what the store knows about the content with this digest. Usually the time is after all
    /// visits of the page, and the call costs reading its head; otherwise it costs reading its
    /// history.
    pub(crate) fn read(
        store: &Snapshot,
        url: &str,
        time: i64,
        digest: Option<Digest>,
    ) -> simkeep::Result<KnownContent> {
        let history = match store
            .latest(url)?
            .is_some_and(|page| page.last.time >= Time::from_ms_unchecked(time))
        {
            true => store.history(url)?,
            false => Vec::new(),
        };
        let mut known = KnownContent { visits: Vec::new(), epochs: Vec::new() };
        history.iter().for_each(|entry| known.add(&entry.entry(), time, digest));
        Ok(known)
    }

    /// Adds an entry of the page, if it is about the content with this digest at this time.
    pub(crate) fn add(&mut self, entry: &simkeep::Entry, time: i64, digest: Option<Digest>) {
        if (entry.time(), entry.digest()) != (Time::from_ms_unchecked(time), digest) {
            return;
        }
        self.epochs.extend(entry.content().map(|content| content.epoch));
        self.visits.extend(entry.visit().filter(|visit| matches!(visit.seen, Seen::Content(_))));
    }

    /// The visit with this status, if the content has a digest. Then the visit is known, whatever
    /// the epochs of its fingerprints.
    pub(crate) fn visit(&self, status: Option<u16>) -> Option<&Visit> {
        let is_it = |visit: &&Visit| visit.status == status && visit.seen.digest().is_some();
        self.visits.iter().find(is_it)
    }

    /// Whether the content was seen at all.
    pub(crate) fn is_known(&self) -> bool {
        !self.epochs.is_empty()
    }

    /// The fingerprints among these that the store does not have: their epochs have none of the
    /// content.
    pub(crate) fn missing(
        &self,
        made: impl IntoIterator<Item = EpochFingerprint>,
    ) -> impl Iterator<Item = EpochFingerprint> {
        made.into_iter().filter(|(_, epoch)| !self.epochs.contains(epoch))
    }
}

/// Opens the store at a path, if there is one.
pub(crate) fn existing(
    place: &std::path::Path,
    options: Options,
) -> Result<Option<Store>, VerbError> {
    match write(place, options) {
        Ok(store) => Ok(Some(store)),
        Err(Error::NotAStore { found: NotStore::Nothing, .. } | Error::Unfinished { .. }) => {
            Ok(None)
        }
        Err(e) => Err(e.into()),
    }
}
