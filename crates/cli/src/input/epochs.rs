//! The epochs of what comes into a store.

use std::collections::{HashMap, HashSet};

use arrayvec::ArrayVec;
use clap::Args;
use simkeep::fingerprint::{Bands, Recipe};
use simkeep::load::LoadEpochs;
use simkeep::{
    Digest, Epoch, EpochInfo, EpochOptions, Error, HistoryEntry, NotStore, Options, Origin, Seen,
    Snapshot, Store, Time, Visit,
};

use crate::exit::Failure;
use crate::input::clock::ClockCheck;
use crate::input::feed::{Entry, Fed, Found};
use crate::input::origin::{self, Makers};
use crate::output::visit;
use crate::output::words::{self, count};
use simkeep_formats::Broken;
use simkeep_formats::escape;

/// A fingerprint, or `None` if the content has none, and its epoch.
pub(crate) type Made = (Option<u64>, Epoch);

/// What the user says of epochs that an input names.
#[derive(Args)]
pub(crate) struct FromInput {
    /// Let the input begin epochs in an existing store
    #[arg(long)]
    begin_epoch: bool,
    /// Epochs that the input may begin
    #[arg(long, value_name = "COUNT", default_value_t = 1000)]
    max_epochs: usize,
}

impl FromInput {
    /// What makes the fingerprints of texts for a store, or a new one; or why nothing does.
    pub(crate) fn makers(&self, store: Option<&Snapshot>) -> Result<Makers, Failure> {
        let makers = origin::live(store, self.begin_epoch)?;
        let what = "; to begin it with this input, say --begin-epoch";
        Ok(makers.map_err(|why| why + what))
    }
}

/// Which epochs an input may name.
pub(crate) struct Admission {
    /// Whether the input may begin epochs in a store that is there.
    begins: bool,
    max: usize,
    /// Those of the store, and those that were named since.
    known: HashSet<String>,
    /// How many of them are of the input.
    begun: usize,
    /// Whether the store is a new one, or has no pages yet.
    new: bool,
    /// Whether nothing has come but names of epochs.
    at_head: bool,
    /// The epoch that verdicts go by, or will in a new store.
    change: String,
    /// Why fingerprints that name no epoch are refused.
    refused: Option<String>,
    /// What the clock says about visits.
    pub(crate) clock: ClockCheck,
}

impl Admission {
    /// Of a store, or a new one; `ready_made` was named by the user.
    pub(crate) fn new(
        from_input: &FromInput,
        store: Option<&Snapshot>,
        ready_made: &str,
        clock: ClockCheck,
    ) -> Result<Admission, Failure> {
        let FromInput { begin_epoch, max_epochs } = *from_input;
        let first = || vec![Options::default().epoch];
        let names = |store: &Snapshot| store.epochs().iter().map(|i| i.name.clone()).collect();
        let known: Vec<String> = store.map_or_else(first, names);
        let change = match store {
            Some(store) => visit::epoch(store.epochs(), store.change_epoch())?.to_owned(),
            None => Options::default().epoch,
        };
        let first_page = store.and_then(|store| store.scan(None).next()).transpose()?;
        let mut admission = Admission {
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
            let what = "; or name one of the store's by --epoch (see simkeep epoch list)";
            admission.refused = Some(admission.not_there(ready_made) + what);
        }
        Ok(admission)
    }

    /// What came, or why it is broken: for the epoch that it names.
    ///
    /// # Errors
    ///
    /// For fingerprints that name none, if the store has not the one that they are to be of.
    pub(crate) fn admit(&mut self, fed: Fed) -> Result<Fed, Failure> {
        let (at, name) = match &fed {
            Fed::Epoch(name, _) => ("a line with an epoch alone", name),
            Fed::Entry(Entry { url, found, .. }) => {
                self.at_head = false;
                match found {
                    Found::Ready(_, Some(name)) | Found::Restated(_, name) => (url.as_str(), name),
                    Found::Ready(_, None) => {
                        let refused = self.refused.clone();
                        return refused.map_or(Ok(fed), |why| Err(Failure::Usage(why)));
                    }
                    _ => return Ok(fed),
                }
            }
            Fed::Question(_) | Fed::Broken(_) | Fed::Passed(_) => {
                self.at_head = false;
                return Ok(fed);
            }
            Fed::Export(_) | Fed::Refused(_) => return Ok(fed),
        };
        Ok(match self.name(name, self.new && self.at_head) {
            Ok(()) => fed,
            Err(why) => Fed::Broken(Broken { at: escape::whole(at), why }),
        })
    }

    /// Whether all that a store has may come, which the user named.
    pub(crate) fn admit_store(&mut self, store: &Snapshot) -> Result<(), Failure> {
        self.at_head = false;
        for info in store.epochs() {
            self.admit_exported(&info.name, info.ended).map_err(Failure::Usage)?;
        }
        Ok(())
    }

    /// Whether an epoch of a whole store may come.
    pub(crate) fn admit_exported(&mut self, name: &str, ended: bool) -> Result<(), String> {
        // Nothing goes by one that has ended.
        self.name(name, self.new || ended)
    }

    /// Whether an epoch may be named; one that is not known may begin if it `is_wanted`.
    fn name(&mut self, name: &str, is_wanted: bool) -> Result<(), String> {
        if self.known.contains(name) {
            return Ok(());
        }
        let is_wanted = is_wanted || self.begins;
        if !is_wanted && !self.new {
            return Err(self.not_there(name));
        }
        if !is_wanted && Origin::is_name(name) {
            return Err(format!(
                "the epoch {} is of a recipe of simkeep's, and the store has none of this name; to \
                 begin it say --begin-epoch",
                escape::whole(name)
            ));
        }
        if self.begun >= self.max {
            return Err(format!(
                "the epoch {} would be more than the {} that an input may begin; see --max-epochs",
                escape::whole(name),
                count(self.max as u64)
            ));
        }
        self.begun += 1;
        self.known.insert(name.to_owned());
        Ok(())
    }

    /// Why no epoch of this name begins in a store that is there.
    fn not_there(&self, name: &str) -> String {
        format!(
            "the store has no epoch {}; verdicts about its pages go by {}. --begin-epoch begins the new \
             one",
            escape::whole(name),
            escape::whole(&self.change)
        )
    }
}

/// Where epochs are registered.
pub(crate) enum Register<'s> {
    /// In a store, when they first come up.
    Store(&'s Store),
    /// With a load of a store with these epochs. A new one that has options here begins on those.
    Load { with: &'s LoadEpochs, known: Vec<EpochInfo>, options: HashMap<String, EpochOptions> },
}

impl<'s> Register<'s> {
    /// With a load of a store with these epochs, or of a new one.
    pub(crate) fn with(with: &'s LoadEpochs, known: Option<Vec<EpochInfo>>) -> Register<'s> {
        // The first epoch of a store has both roles.
        let first = (Options::default().epoch, EpochOptions::default());
        let options = if known.is_none() { HashMap::from([first]) } else { HashMap::new() };
        Register::Load { with, known: known.unwrap_or_default(), options }
    }

    /// The epoch of this name. If it is new, it begins with these options; else it keeps its own,
    /// whatever an input says of it.
    fn named(&mut self, name: &str, described: EpochOptions) -> simkeep::Result<Epoch> {
        match (self.known(name), self) {
            (Some(known), _) => live_number(&known),
            (None, Register::Store(store)) => store.register_epoch(name, described),
            (None, Register::Load { with, options, .. }) => {
                with.named(name, describe(options, name, described))
            }
        }
    }

    /// The epoch of this origin.
    fn origin(&mut self, origin: &Origin) -> simkeep::Result<Epoch> {
        let name = origin.name();
        match (self.known(&name), self) {
            (Some(known), _) => live_number(&known),
            (None, Register::Store(store)) => store.begin_epoch(origin, EpochOptions::default()),
            (None, Register::Load { with, options, .. }) => {
                with.origin(origin, *options.entry(name).or_default())
            }
        }
    }

    /// The epoch that verdicts go by.
    fn change_epoch(&self) -> simkeep::Result<Epoch> {
        let epochs = self.epochs();
        let tells = |info: &&EpochInfo| !info.ended && info.role.tells_change();
        let newest = epochs.iter().rfind(tells).map(|info| info.epoch);
        newest.ok_or_else(|| {
            Error::InvalidArgument("the store has no epoch that verdicts go by".to_owned())
        })
    }

    /// The epochs that were there, and of a store those that began since.
    fn epochs(&self) -> Vec<EpochInfo> {
        match self {
            Register::Store(store) => store.snapshot().epochs().to_vec(),
            Register::Load { known, .. } => known.clone(),
        }
    }

    /// The epoch of this name, if there is one.
    fn known(&self, name: &str) -> Option<EpochInfo> {
        self.epochs().into_iter().find(|info| info.name == name)
    }
}

/// The options of a new epoch: what was said of it first counts.
fn describe(
    all: &mut HashMap<String, EpochOptions>,
    name: &str,
    described: EpochOptions,
) -> EpochOptions {
    let options = all.entry(name.to_owned()).or_insert(described);
    options.bands = options.bands.or(described.bands);
    *options
}

/// The number of an epoch that something may be observed in.
fn live_number(info: &EpochInfo) -> simkeep::Result<Epoch> {
    if info.ended { Err(Error::EndedEpoch(info.name.clone())) } else { Ok(info.epoch) }
}

/// The epochs of what comes in, each registered when it first comes up.
pub(crate) struct Epochs<'s> {
    register: Register<'s>,
    /// What makes the fingerprints of texts, and their epochs once there is a text.
    makers: Makers,
    of_texts: Vec<Epoch>,
    by_name: HashMap<String, Epoch>,
}

impl<'s> Epochs<'s> {
    pub(crate) fn new(register: Register<'s>, makers: Makers) -> Epochs<'s> {
        Epochs { register, makers, of_texts: Vec::new(), by_name: HashMap::new() }
    }

    /// Why texts get no fingerprints, if they get none.
    pub(crate) fn why_no_texts(&self) -> Option<&str> {
        self.makers.as_ref().err().map(String::as_str)
    }

    /// Those of fingerprints that were made of a text, each with its own: the first, and another.
    ///
    /// # Errors
    ///
    /// If there is nothing to make fingerprints of texts by.
    pub(crate) fn of_texts(
        &mut self,
        fingerprints: &[Option<u64>],
    ) -> simkeep::Result<(Made, Option<Made>)> {
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

    /// Those of content that is no text, which has no fingerprint in any of them: the epochs that texts
    /// have, or where texts have none the epoch that verdicts go by.
    pub(crate) fn of_binary(&mut self) -> simkeep::Result<(Made, Option<Made>)> {
        match &self.makers {
            Ok(makers) => {
                let none: ArrayVec<Option<u64>, 2> = makers.iter().map(|_| None).collect();
                self.of_texts(&none)
            }
            Err(_) => Ok(((None, self.register.change_epoch()?), None)),
        }
    }

    /// Epochs of a store that is loaded: each begins with its options there, if it is new.
    pub(crate) fn come(&mut self, epochs: &[EpochInfo]) {
        epochs.iter().for_each(|info| self.comes(&info.name, info.options()));
    }

    /// An epoch of a whole store, which begins with these options if it is new.
    pub(crate) fn comes(&mut self, name: &str, has: EpochOptions) {
        if let Register::Load { options, .. } = &mut self.register {
            describe(options, name, has);
        }
    }

    /// The bands of the epoch that a new store begins with, as what came so far says. What comes later
    /// changes them no more.
    pub(crate) fn first_bands(&mut self, name: &str) -> Option<Bands> {
        match &mut self.register {
            Register::Load { options, .. } => {
                let first = options.entry(name.to_owned()).or_default();
                Some(*first.bands.get_or_insert(Recipe::DEFAULT.bands()))
            }
            Register::Store(_) => None,
        }
    }

    /// The one of this name; a new one begins with these options.
    pub(crate) fn named(&mut self, name: &str, options: EpochOptions) -> simkeep::Result<Epoch> {
        if let Some(&epoch) = self.by_name.get(name) {
            return Ok(epoch);
        }
        let epoch = self.register.named(name, options)?;
        self.by_name.insert(name.to_owned(), epoch);
        Ok(epoch)
    }
}

/// Whether an error is that of one record, which names an epoch that takes nothing.
pub(crate) fn is_of_record(error: &Error) -> bool {
    matches!(error, Error::EndedEpoch(_) | Error::UnknownEpoch(_) | Error::Limit { .. })
}

/// Those of the epochs that began with what came by which verdicts go now, or searches and pairs.
pub(crate) fn in_use_now(begun: &[EpochInfo], now: &Snapshot) -> Vec<EpochInfo> {
    let in_use = [now.change_epoch(), now.near_epoch()];
    begun.iter().filter(|info| in_use.contains(&info.epoch)).cloned().collect()
}

/// Some epochs by their names and roles, for people.
pub(crate) fn with_roles(epochs: &[EpochInfo]) -> String {
    let named = epochs.iter().map(|info| format!("{} ({})", info.name, info.role));
    let named: Vec<String> = named.collect();
    words::some_names(named.iter().map(String::as_str))
}

/// What a store knows of the content that was seen of a page at a time.
pub(crate) struct KnownContent {
    /// The visits that saw the content; several have different statuses.
    visits: Vec<Visit>,
    /// The epochs in which the content has a fingerprint, or is known to have none.
    epochs: Vec<Epoch>,
}

impl KnownContent {
    /// Reads what the store knows of the content with this digest. Nearly always the time comes after
    /// all visits of the page: then this costs a look at its head, else reading its history.
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
        let of = |entry: &simkeep::Entry| {
            (entry.time(), entry.digest()) == (Time::from_ms_unchecked(time), digest)
        };
        let there: Vec<_> = history.iter().map(HistoryEntry::entry).filter(of).collect();
        let contents = there.iter().filter_map(simkeep::Entry::content);
        let seen = |visit: &&Visit| matches!(visit.seen, Seen::Content(_));
        Ok(KnownContent {
            epochs: contents.map(|content| content.epoch).collect(),
            visits: there.iter().filter_map(|e| e.visit()).filter(seen).copied().collect(),
        })
    }

    /// The visit with this status, if a digest names its content: then the visit is known, in whatever
    /// epochs the content has fingerprints.
    pub(crate) fn visit(&self, status: Option<u16>) -> Option<&Visit> {
        let is_it = |visit: &&Visit| visit.status == status && visit.seen.digest().is_some();
        self.visits.iter().find(is_it)
    }

    /// Whether the content was seen at all.
    pub(crate) fn is_known(&self) -> bool {
        !self.epochs.is_empty()
    }

    /// The fingerprints among these whose epochs have none of the content.
    pub(crate) fn missing(
        &self,
        made: impl IntoIterator<Item = Made>,
    ) -> impl Iterator<Item = Made> {
        made.into_iter().filter(|(_, epoch)| !self.epochs.contains(epoch))
    }
}

/// The store at a place, if there is one.
pub(crate) fn existing(
    place: &std::path::Path,
    options: Options,
) -> Result<Option<Store>, Failure> {
    match Store::open(place, options) {
        Ok(store) => Ok(Some(store)),
        Err(Error::NotAStore { found: NotStore::Nothing, .. } | Error::Unfinished { .. }) => {
            Ok(None)
        }
        Err(e) => Err(e.into()),
    }
}
