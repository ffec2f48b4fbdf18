//! The progress of a long call, which other threads can read and cancel.

use simkeep::{Progress, Stage};

use crate::abi;
use crate::call::{assert_thread_safe, done, free, getters, make};
use crate::failure::{Failure, Result};
use crate::structure::code;

/// The progress of a long call. Pass the progress to the call, and read or cancel it from other
/// threads.
#[derive(Debug)]
pub struct ProgressHandle {
    progress: Progress,
}

const _: () = assert_thread_safe::<ProgressHandle>();

/// Returns the progress of a call; for NULL, an unobserved progress.
pub(crate) fn of(progress: *const ProgressHandle) -> Result<Progress> {
    let progress = abi::optional(progress, "progress")?;
    Ok(progress.map_or_else(Progress::default, |handle| handle.progress.clone()))
}

code! {
    /// The stage of a long call.
    pub enum StageCode from Stage {
        Waiting = 0 of Stage::Waiting,
        Gathering = 1 of Stage::Gathering,
        Merging = 2 of Stage::Merging,
        Writing = 3 of Stage::Writing,
        Checking = 4 of Stage::Checking,
        Joining = 5 of Stage::Joining,
        Counting = 6 of Stage::Counting,
        Copying = 7 of Stage::Copying,
        Clustering = 8 of Stage::Clustering,
        Comparing = 9 of Stage::Comparing,
        /// A value that this version of the header does not name.
        Other = 10 of _,
    }
}

/// Creates a progress for one call at a time. Free the progress with `simkeep_progress_free`, even
/// while its call still runs. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_progress_new(error: *mut *mut Failure) -> Option<Box<ProgressHandle>> {
    make("simkeep_progress_new", error, || Ok(ProgressHandle { progress: Progress::default() }))
}

/// Cancels the call, which usually ends within some milliseconds, with `SIMKEEP_CANCELLED`. A
/// progress stays cancelled, and no further call with it begins. Any thread, at any time; costs
/// nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_progress_cancel(
    progress: *const ProgressHandle,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_progress_cancel", error, || {
        abi::handle(progress, "progress")?.progress.cancel();
        Ok(())
    })
}

getters! {
    progress: ProgressHandle;

    /// Returns the stage of the call; `SIMKEEP_STAGE_WAITING` for NULL. Any thread, at any time;
    /// costs nothing.
    fn simkeep_progress_stage -> StageCode =
        StageCode::of(progress.progress.stage()), or StageCode::Waiting;
    /// Returns the amount of work done in this stage: observations of a load, pages and
    /// fingerprints of a merge, bytes of a check, fingerprints of a join. 0 for NULL. Any thread,
    /// at any time; costs nothing.
    fn simkeep_progress_done -> u64 = progress.progress.done();
    /// Returns the approximate total of this stage; 0 if unknown, or for NULL. Any thread, at any
    /// time; costs nothing.
    fn simkeep_progress_total -> u64 = progress.progress.total().unwrap_or(0);
    /// Returns the number of results so far: flaws of a check, pairs of a join. 0 for NULL. Any
    /// thread, at any time; costs nothing.
    fn simkeep_progress_found -> u64 = progress.progress.found();
}

/// Frees a progress. Does nothing for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_progress_free(progress: Option<Box<ProgressHandle>>) {
    free("simkeep_progress_free", progress);
}
