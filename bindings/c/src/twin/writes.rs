//! Writes to both stores beyond single batches of visits.

use std::ptr;

use simkeep::load::LoadOptions;
use simkeep::{
    Observation, Operation, OperationResult, Prefix, Progress, PropertyOutcome,
    PropertyUpdate as CrateUpdate, Scope, Time,
};

use super::{TwinRandom, TwinStores, c_text, done, made};
use crate::code::{SIMKEEP_NONE, SIMKEEP_OK};
use crate::maintain::forget::{
    simkeep_forget, simkeep_forget_under, simkeep_purge, simkeep_purge_under,
};
use crate::write::load::LoadedNumbers;
use crate::write::loading::{
    simkeep_loading_begin, simkeep_loading_finish, simkeep_loading_free, simkeep_loading_push,
};
use crate::write::properties::{
    PropertyUpdate, simkeep_set_class, simkeep_set_property_batch, simkeep_set_weight,
};
use crate::write::visit::{SIMKEEP_HAS_CLASS, SIMKEEP_HAS_FINGERPRINT, SIMKEEP_HAS_WEIGHT, Visit};

impl TwinStores {
    /// Sets weights and classes of pages.
    pub(super) fn set_properties(&self, dice: &mut TwinRandom) {
        let (url, time) = (dice.url(), dice.time());
        let (weight, class) = (dice.roll(9) as f64 / 4.0 + 0.1, dice.roll(3) as u32);
        let (text, len) = c_text(&url);
        let (code, outcome) = match dice.roll(3) {
            0 => (
                done(|error| simkeep_set_weight(self.c(), text, len, time, weight, error)),
                self.rust
                    .set_property(CrateUpdate::weight(&url, Time::from_ms_unchecked(time), weight))
                    .unwrap(),
            ),
            1 => (
                done(|error| simkeep_set_class(self.c(), text, len, time, class, error)),
                self.rust
                    .set_property(CrateUpdate::class(&url, Time::from_ms_unchecked(time), class))
                    .unwrap(),
            ),
            _ => return self.set_property_batch(dice),
        };
        let is_missing = outcome == PropertyOutcome::Missing;
        assert_eq!(code, if is_missing { SIMKEEP_NONE } else { SIMKEEP_OK });
    }

    fn set_property_batch(&self, dice: &mut TwinRandom) {
        let urls: Vec<String> = (0..=dice.roll(6)).map(|_| dice.url()).collect();
        let (mut updates, mut requests) = (Vec::new(), Vec::new());
        for url in &urls {
            let (time, weight, page_class) = (dice.time(), 2.5, dice.roll(3) as u32);
            let (text, url_len) = c_text(url);
            let has = SIMKEEP_HAS_WEIGHT | SIMKEEP_HAS_CLASS;
            updates.push(PropertyUpdate {
                url: text,
                url_len,
                time_ms: time,
                weight,
                has,
                page_class,
            });
            requests.push(Operation::SetProperty(CrateUpdate::weight(
                url,
                Time::from_ms_unchecked(time),
                weight,
            )));
            requests.push(Operation::SetProperty(CrateUpdate::class(
                url,
                Time::from_ms_unchecked(time),
                page_class,
            )));
        }
        let (count, size, mut missing) = (updates.len(), size_of::<PropertyUpdate>(), 0);
        done(|error| {
            simkeep_set_property_batch(
                self.c(),
                updates.as_ptr(),
                count,
                size,
                &raw mut missing,
                error,
            )
        });
        let answers = self.rust.write_batch(&requests).unwrap();
        let is_missing = |answer: &&OperationResult| {
            **answer == OperationResult::PropertySet(PropertyOutcome::Missing)
        };
        assert_eq!(missing * 2, answers.iter().filter(is_missing).count() as u64);
    }

    /// Loads in some batches, or frees the load before the end.
    pub(super) fn load(&self, dice: &mut TwinRandom) {
        let loading = made(|error| simkeep_loading_begin(self.c(), 0, ptr::null(), error));
        let at = ptr::from_ref(&*loading).cast_mut();
        let batches: Vec<Vec<(String, i64, u64)>> = (0..dice.roll(4))
            .map(|_| {
                (0..dice.roll(20)).map(|_| (dice.url(), dice.time(), dice.fingerprint())).collect()
            })
            .collect();
        for batch in &batches {
            let visit = |(url, time, print): &(String, i64, u64)| {
                let mut visit = Visit::at_epoch(self.epoch.number());
                (visit.url, visit.url_len) = c_text(url);
                (visit.time_ms, visit.fingerprint) = (*time, *print);
                visit.has = SIMKEEP_HAS_FINGERPRINT;
                visit
            };
            let visits: Vec<Visit> = batch.iter().map(visit).collect();
            let (count, size) = (visits.len(), size_of::<Visit>());
            done(|error| simkeep_loading_push(at, visits.as_ptr(), count, size, error));
        }
        if dice.roll(3) == 0 {
            return simkeep_loading_free(Some(loading));
        }
        let mut numbers: LoadedNumbers = crate::abi::zeroed();
        let size = size_of::<LoadedNumbers>();
        done(|error| simkeep_loading_finish(at, &raw mut numbers, size, error));
        simkeep_loading_free(Some(loading));
        let seen = batches.iter().flatten().map(|(url, time, print)| {
            Ok(Observation::content(url, Time::from_ms_unchecked(*time), *print, self.epoch))
        });
        let loaded = self.rust.load(seen, LoadOptions::default()).unwrap();
        let of_c = (numbers.observations, numbers.visits, numbers.pages, numbers.new_pages);
        assert_eq!(of_c, (loaded.observations, loaded.visits, loaded.pages, loaded.new_pages));
    }

    /// Forgets pages, seldom; and purges files, even more seldom.
    pub(super) fn forget(&self, dice: &mut TwinRandom) {
        let (url, prefix, mut count) = (dice.url(), "www.example.com/", 0);
        let (is_purge, is_prefix) = (dice.roll(5) == 0, dice.roll(10) == 0);
        let scope = match is_prefix {
            true => Scope::Prefix(Prefix::parse(prefix).unwrap()),
            false => Scope::Url(&url),
        };
        let (text, len) = c_text(if is_prefix { prefix } else { &url });
        let pages = &raw mut count;
        done(|error| match (is_purge, is_prefix) {
            (false, false) => simkeep_forget(self.c(), text, len, pages, error),
            (false, true) => simkeep_forget_under(self.c(), text, len, pages, error),
            (true, false) => simkeep_purge(self.c(), text, len, ptr::null(), pages, error),
            (true, true) => simkeep_purge_under(self.c(), text, len, ptr::null(), pages, error),
        });
        let forgotten = match is_purge {
            true => self.rust.purge(scope, &Progress::default()).unwrap(),
            false => self.rust.forget(scope).unwrap(),
        };
        assert_eq!(count, forgotten.pages);
    }
}
