//! The epochs of a store, and the epochs in use.

use std::ops::Deref;
use std::sync::OnceLock;

use super::files::{FileNaming, table_of};
use super::options::Options;
use super::origin::ParsedEpochName;
use crate::bug::OrBug;
use crate::catalog::{EPOCHS_MAX, is_epoch_name};
use crate::df::FrequencyTable;
use crate::disk::Disk;
use crate::error::{Error, Result};
use crate::fingerprint::{Bands, Meaning, Recipe};
use crate::page::{Content, Distance, Epoch, EpochInfo, EpochOptions, Role, find_epoch, in_use};

/// All epochs of a store, by number, and the epochs in use.
#[derive(Debug)]
pub(crate) struct Epochs {
    all: Vec<EpochInfo>,
    /// The newest living epochs: the epoch that detects changes, and the epoch that finds
    /// near-duplicates.
    change: Epoch,
    near: Epoch,
    /// The meaning of distances in each epoch.
    meanings: Vec<DistanceMeanings>,
}

impl Default for Epochs {
    fn default() -> Self {
        Epochs::new(Vec::new())
    }
}

impl Deref for Epochs {
    type Target = [EpochInfo];

    fn deref(&self) -> &[EpochInfo] {
        &self.all
    }
}

impl Epochs {
    /// Creates a list of epochs. Every store has epochs in use. If the list is empty, because a
    /// check found the catalog damaged, the epochs in use get a number that every store rejects.
    pub(crate) fn new(all: Vec<EpochInfo>) -> Epochs {
        let number = |info: Option<&EpochInfo>| info.map_or(Epoch(u32::MAX), |info| info.epoch);
        let change = number(in_use(&all, Role::detects_changes));
        let near = number(in_use(&all, Role::finds_near));
        let sayings = all.iter().map(DistanceMeanings::of).collect();
        Epochs { all, change, near, meanings: sayings }
    }

    /// The epoch that verdicts use.
    pub(crate) fn change(&self) -> Epoch {
        self.change
    }

    /// The epoch in which near-duplicates are searched.
    pub(crate) fn near(&self) -> Epoch {
        self.near
    }

    /// Whether near-duplicates are searched by fingerprints of an epoch.
    pub(crate) fn finds_near(&self, epoch: Epoch) -> bool {
        find_epoch(self, epoch).is_some_and(|info| info.role.finds_near())
    }

    /// Returns the newest content whose epoch detects changes; if there is none, the newest content.
    pub(crate) fn newest_for_changes<'c>(&self, contents: &'c [Content]) -> Option<&'c Content> {
        let tells =
            |c: &Content| find_epoch(self, c.epoch).is_some_and(|i| i.role.detects_changes());
        contents.iter().max_by_key(|content| (tells(content), content.epoch.count()))
    }

    /// The meaning of distances in an epoch; `None` if the epoch does not exist.
    fn meanings_of(&self, epoch: Epoch) -> Option<&DistanceMeanings> {
        find_epoch(self, epoch).and(self.meanings.get(epoch.count() as usize))
    }

    /// The near distance of an epoch: the distance that its recipe advises, or the default recipe's
    /// distance.
    pub(crate) fn advised_distance(&self, epoch: Epoch) -> u32 {
        let usual = || Recipe::DEFAULT.near_distance();
        self.meanings_of(epoch).map_or_else(usual, |sayings| sayings.near_distance)
    }

    /// The meaning of a distance: its band in the epoch, and the share of changed words by the
    /// recipe.
    pub(crate) fn meaning(&self, distance: Distance) -> Meaning {
        let Distance { bits, epoch } = distance;
        let meaning = self.meanings_of(epoch).and_then(|sayings| sayings.meaning(bits));
        meaning.unwrap_or_else(|| Meaning::ready_made(bits))
    }

    /// The near distance of an epoch, unless `given` overrides it.
    pub(crate) fn near_distance(&self, epoch: Epoch, given: Option<u32>) -> u32 {
        given.unwrap_or_else(|| self.advised_distance(epoch))
    }
}

/// The meaning of distances in an epoch, computed once, because every page needs it.
#[derive(Debug)]
struct DistanceMeanings {
    /// The recipe of the epoch; `None` if fingerprints are made elsewhere.
    recipe: Option<Recipe>,
    bands: Bands,
    near_distance: u32,
    /// The meaning of each distance, computed when first needed.
    meanings: OnceLock<Vec<Meaning>>,
}

impl DistanceMeanings {
    fn of(info: &EpochInfo) -> DistanceMeanings {
        let recipe = recipe(&info.name);
        let near_distance = recipe.unwrap_or(Recipe::DEFAULT).near_distance();
        DistanceMeanings { recipe, bands: info.bands, near_distance, meanings: OnceLock::new() }
    }

    /// The meaning of a distance; `None` above 64 bits.
    fn meaning(&self, bits: u32) -> Option<Meaning> {
        let meaning = |bits| match self.recipe {
            Some(recipe) => recipe.meaning(bits).by(self.bands),
            None => Meaning::ready_made(bits).by(self.bands),
        };
        let meanings = self.meanings.get_or_init(|| (0..=u64::BITS).map(meaning).collect());
        meanings.get(bits as usize).copied()
    }
}

/// Whether an epoch may end: each of its roles has another living epoch.
pub(crate) fn may_end(epochs: &[EpochInfo], info: &EpochInfo) -> bool {
    let live = |is_for: fn(Role) -> bool| {
        let others = epochs.iter().filter(|other| other.epoch != info.epoch && !other.ended);
        !is_for(info.role) || others.into_iter().any(|other| is_for(other.role))
    };
    Role::USES.into_iter().all(live)
}

/// Checks whether an epoch may have the given name.
pub(crate) fn check_name(name: &str) -> Result<()> {
    if !is_epoch_name(name) {
        return Err(Error::invalid_argument(
            "the name of an epoch must have 1 to 256 bytes and no control characters",
        ));
    }
    Ok(())
}

/// The first epoch of a store.
pub(crate) fn first(options: &Options) -> Result<EpochInfo> {
    let name = &options.epoch;
    check_name(name)?;
    let epoch = Epoch::new(0, reserved(name)).or_bug("a recipe reserves at most 64 bits")?;
    let options = EpochOptions { role: Role::Both, bands: options.epoch_bands };
    new_epoch(epoch, name, 0, options)
}

/// Describes a new epoch with the given options, after `visits` known visits.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for bands that no fingerprint can have.
pub(crate) fn new_epoch(
    epoch: Epoch,
    name: &str,
    visits: u64,
    options: EpochOptions,
) -> Result<EpochInfo> {
    let EpochOptions { role, bands } = options;
    let bands = bands.unwrap_or_else(|| calibrated(name));
    if !bands.are_possible() {
        let Bands { minor, moderate } = bands;
        let what = format!(
            "the minor band of an epoch must not exceed the moderate band, and the moderate band \
             must not exceed 64 bits, but the bands are {minor} and {moderate} bits"
        );
        return Err(Error::InvalidArgument(what));
    }
    Ok(EpochInfo { epoch, name: name.to_owned(), begun: visits, role, bands, ended: false })
}

/// The calibrated bands of the recipe with this name; for any other name, the bands of ready-made
/// fingerprints.
fn calibrated(name: &str) -> Bands {
    recipe(name).map_or(Bands::EXTERNAL, |recipe| recipe.bands())
}

/// The recipe in the name of an epoch.
fn recipe(name: &str) -> Option<Recipe> {
    ParsedEpochName::parse(name).map(|named| named.recipe)
}

/// Whether an earlier version of simkeep made the fingerprints of an epoch with this name, and this
/// version does not make them.
pub(crate) fn is_of_earlier_version(name: &str) -> bool {
    ParsedEpochName::parse(name).is_some_and(|named| !named.is_current_version())
}

/// The number of leading bits that are reserved for metadata, according to the epoch's name.
pub(crate) fn reserved(name: &str) -> u32 {
    recipe(name).map_or(0, |recipe| recipe.mask().leading_zeros())
}

/// Opens and checks the table of an epoch.
pub(crate) fn open_table(
    disk: &dyn Disk,
    names: FileNaming,
    info: &EpochInfo,
) -> Result<FrequencyTable> {
    let name = names.table(info);
    let table = FrequencyTable::open_as(disk, name).map_err(|e| match e {
        Error::NotATable { why, .. } => Error::corrupt(name, 0, why),
        e if e.is_not_found() => {
            Error::NoTable { epoch: info.name.clone(), file: name.to_string() }
        }
        other => other,
    })?;
    let expected = table_of(&info.name)
        .or_bug("the name of an epoch with a table contains the id of the table")?;
    if expected == table.id() {
        return Ok(table);
    }
    let what = format!("expected the table {expected:016x}, found {:016x}", table.id());
    Err(Error::corrupt(name, 0, what))
}

/// Checks that the epoch exists and has not ended.
pub(crate) fn check_live(epochs: &[EpochInfo], epoch: Epoch) -> Result<()> {
    match find_epoch(epochs, epoch) {
        Some(info) if info.ended => Err(Error::EndedEpoch(info.name.clone())),
        Some(_) => Ok(()),
        None => Err(Error::UnknownEpoch(epoch.0)),
    }
}

/// Checks that the requested options equal the options with which the epoch began.
pub(crate) fn check_options(name: &str, has: EpochOptions, asked: EpochOptions) -> Result<()> {
    let (role, wanted) = (has.role, asked.role);
    if role != wanted {
        let what = format!("the epoch {name} has the role {role}, which cannot change to {wanted}");
        return Err(Error::InvalidArgument(what));
    }
    let own = has.bands.unwrap_or_else(|| calibrated(name));
    match asked.bands {
        Some(bands) if bands != own => {
            let Bands { minor, moderate } = own;
            let what = format!(
                "in the epoch {name} a change is minor up to {minor} bits, and moderate up to \
                 {moderate}; these bands cannot change"
            );
            Err(Error::InvalidArgument(what))
        }
        _ => Ok(()),
    }
}

/// The epoch with a name.
pub(crate) fn of_name<'e>(epochs: &'e [EpochInfo], name: &str) -> Option<&'e EpochInfo> {
    epochs.iter().find(|info| info.name == name)
}

/// The number of an epoch; an error if the epoch has ended.
pub(crate) fn live_number(info: &EpochInfo) -> Result<Epoch> {
    if info.ended { Err(Error::EndedEpoch(info.name.clone())) } else { Ok(info.epoch) }
}

/// The number of the next epoch after `registered` epochs.
pub(crate) fn next_epoch(registered: usize, reserved: u32) -> Result<Epoch> {
    let next = Epoch::new(registered, reserved).filter(|_| registered < EPOCHS_MAX);
    let (what, instead) = ("epochs in a store", "make another store");
    next.ok_or(Error::Limit { what, max: EPOCHS_MAX as u64, instead })
}
