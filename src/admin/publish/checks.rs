//! The schedule for checking published files again.
//!
//! Each file is due for a check once in every 30 days, at a moment derived from its checksum, so
//! files that were published together are not all due together. The first run after that moment
//! reads the file. No check is skipped if no run happens for a long time: the directory records
//! when each file was last found undamaged.

use std::sync::Arc;

use crate::catalog::CheckTimes;
use crate::disk::{Disk, FileName};
use crate::error::Result;

/// The period in which a file is due once, in milliseconds.
const PERIOD: u64 = 30 * DAY;
/// The tolerance for a clock that is set back.
const DAY: u64 = 24 * 60 * 60 * 1000;

/// The times of the last checks of the files in a directory.
#[derive(Debug)]
pub(super) struct CheckSchedule {
    disk: Arc<dyn Disk>,
    /// The start of the run.
    now: u64,
    checked: CheckTimes,
    /// The checks as recorded on the disk.
    noted: CheckTimes,
}

impl CheckSchedule {
    /// Reads the record for a store's files. Costs a small read.
    pub(super) fn read(disk: &Arc<dyn Disk>, store: u64) -> Result<CheckSchedule> {
        let checked = CheckTimes::read(&**disk, store)?;
        // A clock that was never set may be before 1970.
        let now = u64::try_from(disk.clock()).unwrap_or_default();
        Ok(CheckSchedule { disk: Arc::clone(disk), now, noted: checked.clone(), checked })
    }

    /// Whether a file must be read again.
    pub(super) fn is_due(&self, name: FileName) -> bool {
        self.checked.get(name).is_none_or(|checked| is_due(name, checked, self.now))
    }

    /// Records that the files in `read` were checked without damage, and removes the records of
    /// files that no longer exist. Costs two syncs if anything changed.
    pub(super) fn note(
        &mut self,
        read: &[FileName],
        is_there: impl Fn(FileName) -> bool,
    ) -> Result<()> {
        read.iter().for_each(|name| self.checked.put(*name, self.now));
        self.checked.retain(is_there);
        if self.checked == self.noted {
            return Ok(());
        }
        self.checked.write(&self.disk)
    }
}

/// Whether a file became due since it was checked.
fn is_due(name: FileName, checked: u64, now: u64) -> bool {
    let (FileName::PublishedSegment(file) | FileName::PublishedDf(file)) = name else {
        return true;
    };
    // A check recorded by a clock that was far ahead must not prevent checks for years.
    if checked > now.saturating_add(DAY) {
        return true;
    }
    let first = file.checksum % PERIOD;
    let moments = |until: u64| until.saturating_add(PERIOD - first) / PERIOD;
    moments(now) > moments(checked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::PublishedFileId;

    fn name(checksum: u64) -> FileName {
        FileName::PublishedSegment(PublishedFileId { store: 3, number: 1, checksum })
    }

    /// A run each hour for 90 days.
    #[test]
    fn each_file_is_read_once_in_thirty_days_evenly() {
        const HOUR: u64 = DAY / 24;
        let names: Vec<FileName> =
            (0..3_000u64).map(|n| name(n * 2_654_435_761 % (1 << 32))).collect();
        let begin = 600 * DAY + 12_345;
        let mut checked = vec![begin; names.len()];
        let mut longest = 0;
        for run in 1..90 * 24 {
            let now = begin + run * HOUR;
            let mut read = 0;
            for (name, at) in names.iter().zip(&mut checked) {
                if is_due(*name, *at, now) {
                    longest = longest.max(now - *at);
                    (*at, read) = (now, read + 1);
                }
            }
            assert!(read < names.len() / 100, "{run}: {read}");
        }
        assert!(longest <= PERIOD + HOUR, "{longest}");
        assert!(checked.iter().all(|at| *at > begin + 60 * DAY - HOUR));
    }

    #[test]
    fn all_files_are_read_after_thirty_days_without_a_run() {
        for checksum in [0, 1, PERIOD - 1, PERIOD, u64::MAX] {
            for checked in [0, 1, 7 * DAY, 1_700_000_000_000] {
                assert!(!is_due(name(checksum), checked, checked), "{checksum} {checked}");
                assert!(is_due(name(checksum), checked, checked + PERIOD), "{checksum} {checked}");
            }
        }
    }

    #[test]
    fn clock_set_back_does_not_postpone_reading() {
        let now = 1_700_000_000_000;
        assert!(!is_due(name(7), now + DAY, now));
        assert!(is_due(name(7), now + DAY + 1, now));
        assert!(is_due(name(7), u64::MAX, now));
    }
}
