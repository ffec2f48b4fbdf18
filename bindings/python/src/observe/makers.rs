//! Fingerprints of texts, by what makes them in a store.

use std::sync::Arc;

use parking_lot::Mutex;
use simkeep::fingerprint::{ContentType, Document, EXTRACTOR, extract};
use simkeep::{Content, Digest, Epoch, EpochInfo, Error, Origin, Seen, Snapshot};

use crate::observe::row::{Ready, Row};
use crate::observe::what::{Html, What};

type Result<T, E = Error> = std::result::Result<T, E>;

/// Fingerprints of one content: that of the epoch that it is compared in, and perhaps another.
type Made = ((Option<u64>, Epoch), Option<(Option<u64>, Epoch)>);

/// What makes the fingerprints of content, as long as the epochs of the store stay the same.
#[derive(Debug)]
pub(crate) struct Makers {
    /// The epochs of which it is.
    epochs: Vec<EpochInfo>,
    /// The epoch that verdicts go by.
    change: Epoch,
    origins: Vec<(Epoch, Origin)>,
    /// Those in which plain text gets fingerprints, and those in which HTML does; or why it gets none.
    of_text: Result<Vec<Epoch>, String>,
    of_html: Result<Vec<Epoch>, String>,
}

/// The makers that were used last. Only used in the process of the store, so whoever holds the lock may
/// be detached.
#[derive(Debug, Default)]
pub(crate) struct Cached(Mutex<Option<Arc<Makers>>>);

impl Cached {
    /// Those of a store as it is now.
    pub(crate) fn of(&self, snapshot: &Snapshot) -> Result<Arc<Makers>> {
        let mut cached = self.0.lock();
        if let Some(makers) = &*cached
            && makers.epochs == snapshot.epochs()
        {
            return Ok(Arc::clone(makers));
        }
        Ok(Arc::clone(cached.insert(Arc::new(Makers::new(snapshot)?))))
    }
}

impl Makers {
    fn new(snapshot: &Snapshot) -> Result<Makers> {
        let change = snapshot.change_epoch();
        let of_html = match Origin::text_epochs(snapshot) {
            Err(Error::InvalidArgument(why)) => Err(why),
            epochs => Ok(epochs?),
        };
        let mut origins = match Origin::in_use(snapshot) {
            // An earlier version made the fingerprints that verdicts go by.
            Err(Error::InvalidArgument(_)) => Vec::new(),
            origins => origins?,
        };
        // A crawler that has its own extractor gives the texts that this makes.
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
        Ok(Makers { epochs: snapshot.epochs().to_vec(), change, origins, of_text, of_html })
    }

    /// Those of a store that is yet to be made: of its first epoch, with the number that it has in a
    /// load.
    pub(crate) fn of_new(name: &str, change: Epoch, origin: Option<Origin>) -> Makers {
        let is_page = |origin: &Origin| origin.extracted_by().is_none_or(|by| by == EXTRACTOR);
        let why =
            || Err(format!("{name}, the epoch of the new store, is of texts by another extractor"));
        let elsewhere = || Err(format!("the fingerprints of {name} are made elsewhere"));
        let (of_text, of_html) = match &origin {
            Some(origin) if is_page(origin) => (Ok(vec![change]), Ok(vec![change])),
            Some(_) => (Ok(vec![change]), why()),
            None => (elsewhere(), elsewhere()),
        };
        let origins = origin.map(|origin| (change, origin)).into_iter().collect();
        Makers { epochs: Vec::new(), change, origins, of_text, of_html }
    }

    /// A row as it is observed, with its fingerprints.
    pub(crate) fn ready(&self, row: Row) -> Result<Ready> {
        let content = |((fingerprint, epoch), also): Made| {
            let digest = row.digest;
            (Seen::Content(Content { fingerprint, digest, epoch }), also)
        };
        let (seen, also) = match &row.what {
            What::Text(text) => content(self.made(&Document::new(text.as_str()), &self.of_text)?),
            What::Html(html, encoding) => {
                let document = match html {
                    Html::Text(text) => extract(text),
                    Html::Bytes(bytes) => {
                        extract(&ContentType::of_page(encoding.as_deref()).decode(bytes))
                    }
                };
                content(self.made(&document, &self.of_html)?)
            }
            What::Content { fingerprint, epoch, also } => {
                content(((*fingerprint, epoch.unwrap_or(self.change)), *also))
            }
            What::Redirect(to) => {
                let digest = Digest::redirect(&row.url, to);
                (Seen::Content(Content::redirect(digest)), None)
            }
            What::NotModified => (Seen::NotModified { digest: row.digest }, None),
            What::Gone => (Seen::Gone, None),
            What::Failed => (Seen::Failed, None),
        };
        Ok(Ready::new(row, seen, also))
    }

    /// The fingerprints of a document in the first two of these epochs.
    fn made(&self, document: &Document, epochs: &Result<Vec<Epoch>, String>) -> Result<Made> {
        let epochs = epochs.as_ref().map_err(|why| Error::InvalidArgument(why.clone()))?;
        let mut made = Vec::with_capacity(epochs.len());
        for epoch in epochs {
            if let Some((_, origin)) = self.origins.iter().find(|(known, _)| known == epoch) {
                made.push((origin.fingerprinter()?.of_page(document)?, *epoch));
            }
        }
        let mut made = made.into_iter();
        let first = made.next().ok_or_else(|| {
            Error::InvalidArgument(
                "no epoch of this store has what makes fingerprints of texts".to_owned(),
            )
        })?;
        Ok((first, made.next()))
    }
}
