//! The pages that a crawl finds and revisits.

use simkeep::{Content, Digest, Epoch, Seen, Visit};
use simkeep_testing::ms;

use crate::data::{self, DataRandom};

/// The percentage of visits that find a new page.
const NEW_PERCENT: usize = 30;
/// The percentage of new pages that are near another page.
const NEAR_PERCENT: usize = 5;
/// The percentage of visits to known pages that find another fingerprint.
const MOVED_PERCENT: usize = 50;
/// The maximum number of bits that change.
const MOVED_BITS_MAX: usize = 8;

/// The current state of all pages: page number `i` has fingerprint number `i`.
pub(super) struct CrawlPages {
    random: DataRandom,
    time: i64,
    fingerprints: Vec<u64>,
}

impl CrawlPages {
    /// Creates a crawl without pages.
    pub(super) fn new() -> CrawlPages {
        CrawlPages {
            random: DataRandom(0xc7a31),
            time: 1_700_000_000_000,
            fingerprints: Vec::new(),
        }
    }

    /// The current fingerprint of each page.
    pub(super) fn fingerprints(&self) -> &[u64] {
        &self.fingerprints
    }

    /// Returns the next visits.
    pub(super) fn visits(&mut self, count: usize) -> Vec<(String, Visit)> {
        (0..count).map(|_| self.visit()).collect()
    }

    fn visit(&mut self) -> (String, Visit) {
        let random = &mut self.random;
        let known = self.fingerprints.len();
        let page = if known == 0 || random.below(100) < NEW_PERCENT {
            let near = known > 0 && random.below(100) < NEAR_PERCENT;
            self.fingerprints.push(match near {
                true => {
                    let other = self.fingerprints[random.below(known)];
                    let bits = random.below(4) as u32;
                    random.flipped(other, bits)
                }
                false => random.next(),
            });
            known
        } else {
            let page = random.below(known);
            if random.below(100) < MOVED_PERCENT {
                let bits = 1 + random.below(MOVED_BITS_MAX) as u32;
                self.fingerprints[page] = random.flipped(self.fingerprints[page], bits);
            }
            page
        };
        self.time += 1 + random.below(199) as i64;
        let fingerprint = self.fingerprints[page];
        // The digest changes when the fingerprint does.
        let mut bytes = DataRandom(fingerprint ^ (page as u64) << 20);
        let digest = Digest(std::array::from_fn(|_| bytes.next() as u8));
        let fingerprint = Some(fingerprint);
        let content = Content { fingerprint, epoch: Epoch::from_number(0), digest: Some(digest) };
        let mut url = String::new();
        data::url(page, &mut url);
        (
            url,
            Visit {
                time: ms(self.time),
                status: Some(200),
                modified: None,
                seen: Seen::Content(content),
                bytes: None,
                conditional: false,
            },
        )
    }
}
