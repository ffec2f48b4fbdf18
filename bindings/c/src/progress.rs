//! How far a call that takes long has come, for other threads, and their way to stop it.

use simkeep::{Progress, Stage};

use crate::abi;
use crate::call::{any_thread, done, free, getters, make};
use crate::failure::{Failure, Result};
use crate::structure::code;

/// The progress of a long call. Give it to the call, and look at it or cancel it from other threads.
#[derive(Debug)]
pub struct ProgressHandle {
    progress: Progress,
}

const _: () = any_thread::<ProgressHandle>();

/// The progress that a call is given, or one at which nobody looks.
pub(crate) fn of(progress: *const ProgressHandle) -> Result<Progress> {
    let progress = abi::optional(progress, "progress")?;
    Ok(progress.map_or_else(Progress::default, |handle| handle.progress.clone()))
}

code! {
    /// What a call that takes long is doing.
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
        /// Something that this version of the header does not name.
        Other = 10 of _,
    }
}

/// Makes a progress, for one call at a time. The caller frees it with `simkeep_progress_free`, also
/// while the call that it was given to still runs. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_progress_new(error: *mut *mut Failure) -> Option<Box<ProgressHandle>> {
    make("simkeep_progress_new", error, || Ok(ProgressHandle { progress: Progress::default() }))
}

/// Has the call stop, as a rule within some milliseconds; it ends with `SIMKEEP_CANCELLED`. A progress
/// that was cancelled stays so, and nothing that it is given to begins. Any thread, at any time; costs
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

    /// What the call is doing; `SIMKEEP_STAGE_WAITING` for NULL. Any thread, at any time; costs nothing.
    fn simkeep_progress_stage -> StageCode =
        StageCode::of(progress.progress.stage()), or StageCode::Waiting;
    /// How much of this stage is done: observations of a load, pages and fingerprints of a merge, bytes
    /// that are checked, fingerprints that are joined. 0 for NULL. Any thread, at any time; costs
    /// nothing.
    fn simkeep_progress_done -> u64 = progress.progress.done();
    /// Of how much, about; 0 if nobody knows, or for NULL. Any thread, at any time; costs nothing.
    fn simkeep_progress_of -> u64 = progress.progress.of().unwrap_or(0);
    /// What was found on the way: flaws of a check, pairs of a join. 0 for NULL. Any thread, at any
    /// time; costs nothing.
    fn simkeep_progress_found -> u64 = progress.progress.found();
}

/// Frees a progress. Does nothing for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_progress_free(progress: Option<Box<ProgressHandle>>) {
    free("simkeep_progress_free", progress);
}
