//! The epochs of a store whose fingerprints this tool makes.

use simkeep::fingerprint::EXTRACTOR;
use simkeep::{Epoch, EpochInfo, Error, Origin, Snapshot};
use simkeep_formats::escape;

use crate::advice::message;
use crate::exit::{VerbError, print_message};

/// The origins of fingerprints of texts, or the reason why there is none.
pub(crate) type TextOrigins = Result<Vec<Origin>, String>;

/// The origins of fingerprints of texts for a store, one for each of its
/// [`Origin::text_epochs`](simkeep::Origin::text_epochs). The epoch that verdicts use comes first.
/// If there is no store, or if the store has no such epoch and `may_begin` is set, returns the
/// default origin.
pub(crate) fn live(snapshot: Option<&Snapshot>, may_begin: bool) -> Result<TextOrigins, VerbError> {
    let Some(snapshot) = snapshot else { return Ok(Ok(vec![Origin::default()])) };
    let epochs = match Origin::text_epochs(snapshot) {
        Err(Error::InvalidArgument(_)) if may_begin => return Ok(Ok(vec![Origin::default()])),
        Err(Error::InvalidArgument(why)) => return Ok(Err(why)),
        epochs => epochs?,
    };
    let mut origins = Vec::new();
    for epoch in epochs {
        match Origin::of(snapshot, epoch) {
            // Without the second origin, texts have no distance to content that only its epoch
            // knows.
            Err(e @ Error::NoTable { .. }) if !origins.is_empty() => print_message(&message(&e)),
            origin => origins.extend(origin?),
        }
    }
    Ok(Ok(origins))
}

/// What `--begin-epoch` does in a store without an epoch in use for texts, for the end of a message.
/// An epoch that the store has does not begin again.
pub(crate) fn begin_advice(snapshot: Option<&Snapshot>) -> String {
    let name = Origin::default().name();
    let epochs = snapshot.map_or(&[][..], Snapshot::epochs);
    match epochs.iter().find(|info| info.name == name) {
        None => "; --begin-epoch begins such an epoch with this input".to_owned(),
        Some(EpochInfo { ended: true, .. }) => String::new(),
        Some(_) => format!(
            "; with --begin-epoch, texts get fingerprints of {name}, but verdicts and searches do \
             not use this epoch"
        ),
    }
}

/// The epoch for near-duplicates of texts, or the named epoch, and the origin of its fingerprints.
pub(crate) fn of_texts(
    snapshot: &Snapshot,
    named: Option<Epoch>,
) -> Result<(Epoch, Origin), VerbError> {
    let epochs = snapshot.epochs();
    let epoch = match named {
        Some(named) => named,
        None => {
            let of_texts = Origin::text_epochs(snapshot).map_err(|e| match e {
                Error::InvalidArgument(why) => {
                    VerbError::Usage(format!("{why}; or name an epoch with --epoch"))
                }
                other => VerbError::Store(other),
            })?;
            let finds_near =
                |info: &&EpochInfo| of_texts.contains(&info.epoch) && info.role.finds_near();
            let newest = epochs.iter().rfind(finds_near).ok_or_else(|| {
                let what = "the store has no epoch that finds near-duplicates of texts; name an epoch \
                            with --epoch";
                VerbError::Usage(what.to_owned())
            })?;
            newest.epoch
        }
    };
    epochs.iter().find(|info| info.epoch == epoch).map_or(Ok(()), check_version)?;
    let origin = Origin::of(snapshot, epoch)?.ok_or_else(|| {
        let what =
            "other software makes the fingerprints of this epoch; name a fingerprint instead";
        VerbError::Usage(what.to_owned())
    })?;
    Ok((epoch, origin))
}

/// Refuses an epoch of texts that another version of simkeep's extractor made.
fn check_version(info: &EpochInfo) -> Result<(), VerbError> {
    let kind = |name: &str| name.split('/').next().map(str::to_owned);
    let extractor = info.name.split(' ').next().unwrap_or_default();
    if !Origin::is_name(&info.name) || extractor == EXTRACTOR || kind(extractor) != kind(EXTRACTOR)
    {
        return Ok(());
    }
    Err(VerbError::Usage(format!(
        "another version of simkeep extracted the texts of the epoch {}, and this version uses \
         {EXTRACTOR}; their fingerprints cannot be compared; begin a new epoch with simkeep epoch \
         begin",
        escape::escape_untruncated(&info.name)
    )))
}

/// The epoch with this name.
pub(crate) fn named(epochs: &[EpochInfo], name: &str) -> Result<Epoch, VerbError> {
    let found = epochs.iter().find(|info| info.name == name);
    found.map(|info| info.epoch).ok_or_else(|| {
        let known: Vec<&str> = epochs.iter().map(|info| info.name.as_str()).collect();
        let known = known.join(", ");
        VerbError::Usage(format!("the store has no epoch {name}; its epochs are: {known}"))
    })
}
