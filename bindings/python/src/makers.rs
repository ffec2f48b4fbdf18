//! Fingerprints of texts, by what makes them in a store.

use std::sync::Arc;

use parking_lot::Mutex;
use simkeep::fingerprint::{ContentType, Document, EXTRACTOR, extract};
use simkeep::{Content, Digest, Epoch, EpochInfo, Error, Origin, Result, Seen, Snapshot};

use crate::row::{Ready, Row};
use crate::what::{Html, What};

/// Fingerprints of one content: that of the epoch that verdicts go by, and perhaps another.
type Made = ((Option<u64>, Epoch), Option<(Option<u64>, Epoch)>);

/// What makes the fingerprints of content, as long as the epochs of the store stay the same.
#[derive(Debug)]
pub(crate) struct Makers {
    /// The epochs of which it is.
    epochs: Vec<EpochInfo>,
    /// The epoch that verdicts go by, and its name.
    change: Epoch,
    name: String,
    origins: Vec<(Epoch, Origin)>,
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
        let (epochs, change) = (snapshot.epochs().to_vec(), snapshot.change_epoch());
        let name = epochs.iter().find(|info| info.epoch == change);
        let name = name.map_or_else(|| "?".to_owned(), |info| info.name.clone());
        let makers = Makers { epochs, change, name, origins: snapshot.origins()? };
        Ok(Arc::clone(cached.insert(Arc::new(makers))))
    }
}

impl Makers {
    /// Those of a store that is yet to be made: of its first epoch, with the number that it has in a
    /// load.
    pub(crate) fn of_new(name: &str, change: Epoch, origin: Option<Origin>) -> Makers {
        let origins = origin.map(|origin| (change, origin)).into_iter().collect();
        Makers { epochs: Vec::new(), change, name: name.to_owned(), origins }
    }

    /// A row as it is observed, with its fingerprints.
    pub(crate) fn ready(&self, row: Row) -> Result<Ready> {
        let content = |((fingerprint, epoch), also): Made| {
            let digest = row.digest;
            (Seen::Content(Content { fingerprint, digest, epoch }), also)
        };
        let (seen, also) = match &row.what {
            What::Text(text) => content(self.made(&Document::new(text.as_str()), None)?),
            What::Html(html, encoding) => {
                let document = match html {
                    Html::Text(text) => extract(text),
                    Html::Bytes(bytes) => {
                        extract(&ContentType::of_page(encoding.as_deref()).decode(bytes))
                    }
                };
                content(self.made(&document, Some(EXTRACTOR))?)
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

    /// The fingerprints of a document. What was extracted is only for epochs of that extractor.
    fn made(&self, document: &Document, extractor: Option<&str>) -> Result<Made> {
        let mut made = Vec::with_capacity(self.origins.len());
        for (epoch, origin) in &self.origins {
            if extractor.is_some() && origin.extracted_by() != extractor {
                if *epoch == self.change {
                    return Err(self.other_extractor(origin));
                }
                continue;
            }
            made.push((origin.fingerprinter()?.of_page(document)?, *epoch));
        }
        let mut made = made.into_iter();
        match made.next() {
            Some(first) if first.1 == self.change => Ok((first, made.next())),
            _ => Err(self.made_elsewhere()),
        }
    }

    fn other_extractor(&self, origin: &Origin) -> Error {
        let name = origin.name();
        Error::Misuse(format!(
            "html is for epochs of texts that {EXTRACTOR} extracts, and verdicts go by the epoch {name}; \
             give the text, or begin an epoch of the extractor {EXTRACTOR}"
        ))
    }

    fn made_elsewhere(&self) -> Error {
        let name = &self.name;
        Error::Misuse(format!(
            "the fingerprints of {name}, the epoch that verdicts go by, are made elsewhere; give the \
             fingerprint instead of a text"
        ))
    }
}
