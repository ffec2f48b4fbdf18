//! Makes the fingerprints of texts for the epochs of a store.

use std::sync::Arc;

use parking_lot::Mutex;
use simkeep::fingerprint::{ContentType, Document, EXTRACTOR, extract};
use simkeep::{Content, Digest, Epoch, EpochInfo, Error, Origin, Seen, Snapshot, Target};

use crate::observe::row::{CheckedVisit, PreparedVisit};
use crate::observe::visit_result::{HtmlSource, VisitResult};

type Result<T, E = Error> = std::result::Result<T, E>;

/// The fingerprints of a content: in the epoch of verdicts, and optionally in another epoch.
type ContentFingerprints = ((Option<u64>, Epoch), Option<(Option<u64>, Epoch)>);

/// The makers of fingerprints of content, valid while the epochs of the store stay the same.
#[derive(Debug)]
pub(crate) struct ContentFingerprinters {
    /// The epochs for which the makers are valid.
    epochs: Vec<EpochInfo>,
    /// The epoch of verdicts.
    change: Epoch,
    origins: Vec<(Epoch, Origin)>,
    /// The epochs for plain text and for HTML, or the reason why there are no epochs.
    of_text: Result<Vec<Epoch>, String>,
    of_html: Result<Vec<Epoch>, String>,
}

/// The makers used last. The cache is used only in the process of the store, so a thread may hold
/// the lock while detached.
#[derive(Debug, Default)]
pub(crate) struct FingerprinterCache(Mutex<Option<Arc<ContentFingerprinters>>>);

impl FingerprinterCache {
    /// Returns the makers for the current epochs of a store.
    pub(crate) fn of(&self, snapshot: &Snapshot) -> Result<Arc<ContentFingerprinters>> {
        let mut cached = self.0.lock();
        if let Some(makers) = &*cached
            && makers.epochs == snapshot.epochs()
        {
            return Ok(Arc::clone(makers));
        }
        Ok(Arc::clone(cached.insert(Arc::new(ContentFingerprinters::new(snapshot)?))))
    }
}

impl ContentFingerprinters {
    fn new(snapshot: &Snapshot) -> Result<ContentFingerprinters> {
        let change = snapshot.change_epoch();
        let of_html = match Origin::text_epochs(snapshot) {
            Err(Error::InvalidArgument(why)) => Err(why),
            epochs => Ok(epochs?),
        };
        let mut origins = match Origin::in_use(snapshot) {
            // An earlier version made the fingerprints of the epoch of verdicts.
            Err(Error::InvalidArgument(_)) => Vec::new(),
            origins => origins?,
        };
        // A crawler with its own extractor passes texts of that extractor.
        let is_own = origins.first().is_some_and(|(epoch, _)| *epoch == change);
        let of_text = match is_own {
            true => Ok(origins.iter().map(|(epoch, _)| *epoch).collect()),
            false => of_html.clone(),
        };
        for &epoch in of_html.iter().flatten() {
            if origins.iter().all(|(known, _)| *known != epoch) {
                match Origin::of(snapshot, epoch) {
                    Err(Error::NoTable { .. }) if !origins.is_empty() => {}
                    origin => origins.extend(origin?.map(|origin| (epoch, origin))),
                }
            }
        }
        Ok(ContentFingerprinters {
            epochs: snapshot.epochs().to_vec(),
            change,
            origins,
            of_text,
            of_html,
        })
    }

    /// Returns the makers for a store to be created. `change` is the number of its first epoch in a
    /// load.
    pub(crate) fn of_new(
        name: &str,
        change: Epoch,
        origin: Option<Origin>,
    ) -> ContentFingerprinters {
        let is_page = |origin: &Origin| origin.extracted_by().is_none_or(|by| by == EXTRACTOR);
        let why = || {
            Err(format!(
                "{name}, the epoch of the new store, is for texts of another extractor: give text, not html"
            ))
        };
        let elsewhere = || {
            Err(format!(
                "another program makes the fingerprints of the epoch {name}: give a fingerprint"
            ))
        };
        let (of_text, of_html) = match &origin {
            Some(origin) if is_page(origin) => (Ok(vec![change]), Ok(vec![change])),
            Some(_) => (Ok(vec![change]), why()),
            None => (elsewhere(), elsewhere()),
        };
        let origins = origin.map(|origin| (change, origin)).into_iter().collect();
        ContentFingerprinters { epochs: Vec::new(), change, origins, of_text, of_html }
    }

    /// Prepares a row with its fingerprints.
    pub(crate) fn ready(&self, row: CheckedVisit) -> Result<PreparedVisit> {
        let digest = match &row.what {
            // The digest that the tool gives to a text, so that exact copies are found in stores
            // that both write.
            VisitResult::Text(text) => {
                row.digest.or_else(|| Some(simkeep_formats::digest(text.as_bytes())))
            }
            _ => row.digest,
        };
        let content = |((fingerprint, epoch), also): ContentFingerprints| {
            (Seen::Content(Content { fingerprint, digest, epoch }), also)
        };
        let mut declared = None;
        let (seen, also) = match &row.what {
            VisitResult::Text(text) => {
                content(self.made(&Document::new(text.as_str()), &self.of_text)?)
            }
            VisitResult::Html(html, encoding) => {
                let document = match html {
                    HtmlSource::Text(text) => extract(text),
                    HtmlSource::Bytes(bytes) => {
                        extract(&ContentType::of_page(encoding.as_deref()).decode(bytes))
                    }
                };
                declared = Target::first_url(&row.url, document.base(), document.canonicals());
                content(self.made(&document, &self.of_html)?)
            }
            VisitResult::Content { fingerprint, epoch, also } => {
                content(((*fingerprint, epoch.unwrap_or(self.change)), *also))
            }
            VisitResult::Redirect(to) => {
                let digest = Digest::redirect(&row.url, to);
                (Seen::Content(Content::redirect(digest)), None)
            }
            VisitResult::NotModified => (Seen::NotModified { digest: row.digest }, None),
            VisitResult::Gone => (Seen::Gone, None),
            VisitResult::Failed => (Seen::Failed, None),
        };
        Ok(PreparedVisit::new(row, (seen, also), declared))
    }

    /// Computes the fingerprints of a document in the first two of these epochs.
    fn made(
        &self,
        document: &Document,
        epochs: &Result<Vec<Epoch>, String>,
    ) -> Result<ContentFingerprints> {
        let epochs = epochs.as_ref().map_err(|why| Error::InvalidArgument(why.clone()))?;
        let mut made = Vec::with_capacity(epochs.len());
        for epoch in epochs {
            if let Some((_, origin)) = self.origins.iter().find(|(known, _)| known == epoch) {
                made.push((origin.fingerprinter()?.of_page(document)?, *epoch));
            }
        }
        let mut made = made.into_iter();
        let first = made.next().ok_or_else(|| {
            let what =
                "simkeep makes the fingerprints of no epoch of this store: give a fingerprint";
            Error::InvalidArgument(what.to_owned())
        })?;
        Ok((first, made.next()))
    }
}
