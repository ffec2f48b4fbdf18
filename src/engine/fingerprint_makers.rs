//! The origins of the fingerprints of newly observed content.

use super::epochs::is_of_earlier_version;
use super::origin::{Origin, ParsedEpochName};
use super::snapshot::Snapshot;
use crate::bug::OrBug;
use crate::engine::epochs::{check_live, open_table};
use crate::engine::view::View;
use crate::error::{Error, Result};
use crate::fingerprint::EXTRACTOR;
use crate::page::{Epoch, EpochInfo, Role, find_epoch};

/// The maximum number of fingerprints of an observation.
const MOST: usize = 2;

/// The ways to begin an epoch of another recipe.
const BEGIN_OTHER: &str = "simkeep epoch begin --recipe, or begin_epoch()";

impl Origin {
    /// Returns the origin of an epoch's fingerprints. `None` if the fingerprints are made
    /// elsewhere, under a name without meaning to simkeep. Reads and checks the epoch's table, if
    /// it has a table.
    ///
    /// ```
    /// # use simkeep::{Options, Origin, Role, Store};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let snapshot = store.snapshot();
    /// let origin = Origin::of(&snapshot, snapshot.change_epoch())?.unwrap();
    /// assert_eq!(origin.name(), "html/3 words2-sqrt/2");
    /// // Fingerprints that are made elsewhere have no origin.
    /// let mine = store.register_epoch("my own hashes", Role::Near)?;
    /// assert!(Origin::of(&store.snapshot(), mine)?.is_none());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::UnknownEpoch`], [`Error::EndedEpoch`]; [`Error::InvalidArgument`] if an earlier
    /// version of simkeep made the fingerprints; [`Error::NoTable`] if the table is missing,
    /// [`Error::Corrupt`] if the table is damaged or the file is another table, [`Error::Io`] if
    /// the table cannot be read.
    pub fn of(snapshot: &Snapshot, epoch: Epoch) -> Result<Option<Origin>> {
        snapshot.poison_on_bug(|| origin_of(&snapshot.view, epoch))
    }

    /// Returns the origins of fingerprints for newly observed content, each with its epoch; at most
    /// two.
    ///
    /// The first epoch is the epoch for [verdicts](Snapshot::change_epoch), the second the epoch
    /// for [near-duplicates](Snapshot::near_epoch). If both are the same epoch, the second is the
    /// newest other epoch that has not ended, so that the distance to content from before a change
    /// of epochs is known.
    ///
    /// ```
    /// use simkeep::Origin;
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::fingerprint::Document;
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let origins = Origin::in_use(&store.snapshot())?;
    /// let page = Document::new("The quick brown fox jumps over the lazy dog");
    /// let mut made = Vec::new();
    /// for (epoch, origin) in &origins {
    ///     made.push((*epoch, origin.fingerprinter()?.of_page(&page)?));
    /// }
    /// let (epoch, fingerprint) = made[0];
    /// let mut seen = Observation::content("https://example.com/", Time::now(), fingerprint, epoch);
    /// if let Some(&(epoch, fingerprint)) = made.get(1) {
    ///     seen = seen.also(fingerprint, epoch);
    /// }
    /// store.observe(seen)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Leaves out epochs whose fingerprints are made elsewhere, under names without meaning to
    /// simkeep. Leaves out the second epoch if its table of document frequencies is missing, or if
    /// an earlier version of simkeep made its fingerprints. Reads and checks the tables of the
    /// epochs, so keep the result as long as the [epochs](Snapshot::epochs) stay the same.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] if an earlier version of simkeep made the fingerprints of the
    /// first epoch: begin a new epoch. [`Error::NoTable`] if the first epoch's table is missing,
    /// [`Error::Corrupt`] if a table is damaged or the file is another table, [`Error::Io`] if a
    /// table cannot be read.
    pub fn in_use(snapshot: &Snapshot) -> Result<Vec<(Epoch, Origin)>> {
        let mut origins = Vec::new();
        for info in of_content(snapshot.epochs()).into_iter().take(MOST) {
            match Origin::of(snapshot, info.epoch) {
                Err(Error::NoTable { .. }) if !origins.is_empty() => {}
                Err(_) if !origins.is_empty() && is_of_earlier_version(&info.name) => {}
                origin => origins.extend(origin?.map(|origin| (info.epoch, origin))),
            }
        }
        Ok(origins)
    }

    /// Returns the epochs in which the text of a page gets a fingerprint, at most two.
    ///
    /// The returned epochs are epochs of simkeep's own recipes and [extractor](EXTRACTOR), or of no
    /// extractor, for pages that come as HTML or as visible text. Other epochs contain fingerprints
    /// of other texts, which must not be compared with fingerprints of these epochs. The
    /// command-line tool and the packages for other languages use this function.
    ///
    /// The first epoch is the newest of the above epochs that detects changes, the second the
    /// newest that finds near-duplicates. If both are the same, the second is the newest other
    /// epoch that has not ended. Reads no file. Leaves out an epoch that is not in use and has no
    /// fingerprints, because searches in the epoch of the other pages would not find its pages.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Options, Origin, Role, Store, fingerprint::Recipe};
    /// # let dir = tempfile::tempdir().unwrap();
    /// let store = Store::create(dir.path().join("store"), Options::default().epoch("mine/1".into()))?;
    /// assert!(Origin::text_epochs(&store.snapshot()).is_err());
    /// let epoch = store.begin_epoch(&Origin::new(Recipe::DEFAULT), Role::Both)?;
    /// assert_eq!(Origin::text_epochs(&store.snapshot())?, [epoch]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] if there is no such epoch, or if simkeep no longer makes its
    /// fingerprints. The message names the epoch of the store and the epoch to begin.
    pub fn text_epochs(snapshot: &Snapshot) -> Result<Vec<Epoch>> {
        let epochs = snapshot.epochs();
        let mut chosen: Vec<&EpochInfo> = Vec::new();
        let rest = of_texts(epochs).filter(|info| is_made(info));
        for info in in_use(epochs).chain(rest) {
            if !is_made(info) {
                return Err(Error::InvalidArgument(made_otherwise(info)));
            }
            if !chosen.contains(&info) && chosen.len() < MOST {
                chosen.push(info);
            }
        }
        let in_use = [snapshot.change_epoch(), snapshot.near_epoch()];
        let has_pages = |epoch| in_use.contains(&epoch) || snapshot.fingerprints(epoch) > 0;
        if !chosen.iter().any(|info| has_pages(info.epoch)) {
            return Err(Error::InvalidArgument(made_elsewhere(epochs, snapshot.change_epoch())));
        }
        Ok(chosen.iter().map(|info| info.epoch).collect())
    }
}

/// Returns the origin of an epoch's fingerprints, with its table.
fn origin_of(view: &View, epoch: Epoch) -> Result<Option<Origin>> {
    view.poison.check_read()?;
    check_live(&view.epochs, epoch)?;
    let info =
        find_epoch(&view.epochs, epoch).or_bug("each living epoch is in the list of epochs")?;
    let Some(named) = ParsedEpochName::parse(&info.name) else { return Ok(None) };
    if !named.is_current_version() {
        return Err(Error::InvalidArgument(format!(
            "an earlier version of simkeep made the fingerprints of {}; this version makes \
             fingerprints of {}, which cannot be compared with them; begin a new epoch",
            info.name,
            named.recipe.name()
        )));
    }
    if named.table.is_none() {
        return Ok((!named.recipe.needs_frequencies()).then(|| named.with(None)));
    }
    let table = open_table(&*view.disk, view.files, info)?;
    Ok(Some(named.with(Some(table))))
}

/// The living epochs of simkeep's own recipes and extractor in any version, the newest first.
fn of_texts(epochs: &[EpochInfo]) -> impl Iterator<Item = &EpochInfo> {
    let kind = |extractor: &str| extractor.split('/').next() == EXTRACTOR.split('/').next();
    let ours = move |info: &&EpochInfo| {
        let named = ParsedEpochName::parse(&info.name).filter(|_| !info.ended);
        named.is_some_and(|named| named.extractor.is_none_or(kind))
    };
    epochs.iter().rev().filter(ours)
}

/// The newest epoch of [`of_texts`] that detects changes, and the newest that finds
/// near-duplicates.
fn in_use(epochs: &[EpochInfo]) -> impl Iterator<Item = &EpochInfo> {
    let newest = |is_for: fn(Role) -> bool| of_texts(epochs).find(|info| is_for(info.role));
    Role::USES.into_iter().filter_map(newest)
}

/// Whether this version of simkeep makes the fingerprints of an epoch of [`of_texts`].
fn is_made(info: &EpochInfo) -> bool {
    ParsedEpochName::parse(&info.name).is_some_and(|named| {
        named.is_current_version()
            && named.extractor.is_none_or(|extractor| extractor == EXTRACTOR)
            && named.table.is_some() == named.recipe.needs_frequencies()
    })
}

/// The reason why simkeep makes no fingerprints for an epoch of [`of_texts`].
fn made_otherwise(info: &EpochInfo) -> String {
    let (name, new) = (&info.name, Origin::default().name());
    let lacks_table = |named: ParsedEpochName<'_>| {
        named.is_current_version() && named.table.is_none() && named.recipe.needs_frequencies()
    };
    if ParsedEpochName::parse(name).is_some_and(lacks_table) {
        return format!(
            "no text gets a fingerprint of {name}: the recipe needs a table of document \
             frequencies, but the epoch has no table; begin an epoch with a table (simkeep epoch \
             begin --df), or begin the epoch {new}"
        );
    }
    format!(
        "no text gets a fingerprint of {name}: another version of simkeep made these fingerprints; \
         this version makes fingerprints of {new}, which cannot be compared with them; begin a \
         new epoch (simkeep epoch begin, or begin_epoch()), then add fingerprints of the pages \
         crawled before with simkeep ingest --restate"
    )
}

/// The reason why there is no epoch of texts, in a store whose verdicts use the epoch `change`.
fn made_elsewhere(epochs: &[EpochInfo], change: Epoch) -> String {
    let name = find_epoch(epochs, change).map_or("an epoch that is damaged", |info| &info.name);
    let new = Origin::default().name();
    // An epoch begins only once, so an epoch of the store cannot become the newest again.
    let advice = match epochs.iter().find(|info| info.name == new) {
        None => "begin an epoch for texts (simkeep epoch begin, or begin_epoch())".to_owned(),
        Some(EpochInfo { ended: true, .. }) => {
            format!("begin an epoch of another recipe, because {new} has ended ({BEGIN_OTHER})")
        }
        Some(_) => format!(
            "end {name}, because the store has the older epoch {new} (simkeep epoch end, or \
             end_epoch()), or begin an epoch of another recipe ({BEGIN_OTHER})"
        ),
    };
    format!(
        "simkeep cannot make fingerprints of {name}, the epoch of this store: another program makes \
         these fingerprints, and the fingerprints that simkeep makes ({new}) cannot be compared \
         with them; pass fingerprints instead of texts, or {advice}"
    )
}

/// The living epochs, without duplicates: first the epochs in use for each role, then the other
/// epochs, the newest first.
fn of_content(epochs: &[EpochInfo]) -> Vec<&EpochInfo> {
    let live = || epochs.iter().rev().filter(|info| !info.ended);
    let in_use = Role::USES.into_iter().filter_map(|is_for| live().find(|info| is_for(info.role)));
    let mut each: Vec<&EpochInfo> = Vec::new();
    for info in in_use.chain(live()) {
        if !each.contains(&info) {
            each.push(info);
        }
    }
    each
}
