//! How far a call that takes long has come, for other threads, and their way to stop it.

use simkeep::Progress;

use crate::abi;
use crate::call::{any_thread, done, free, getters, make};
use crate::failure::{Failure, Result};

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

/// What a call that takes long is doing.
#[derive(Clone, Copy, Debug)]
#[repr(i32)]
pub enum StageCode {
    /// Nothing yet.
    Waiting = 0,
    /// A load takes observations, sorts them and writes them to a scratch file.
    Gathering = 1,
    /// Sorted runs or segments are merged.
    Merging = 2,
    /// A load writes its segments. Whoever observes or forgets waits.
    Writing = 3,
    /// Files are read and checked.
    Checking = 4,
    /// Fingerprints are joined with each other.
    Joining = 5,
    /// Pages are counted.
    Counting = 6,
    /// Files are linked or copied.
    Copying = 7,
    /// Fingerprints are put into clusters.
    Clustering = 8,
    /// Sites are compared with each other.
    Comparing = 9,
    /// Something that this version of the header does not name.
    Other = 10,
}

fn stage(stage: simkeep::Stage) -> StageCode {
    use simkeep::Stage;
    match stage {
        Stage::Waiting => StageCode::Waiting,
        Stage::Gathering => StageCode::Gathering,
        Stage::Merging => StageCode::Merging,
        Stage::Writing => StageCode::Writing,
        Stage::Checking => StageCode::Checking,
        Stage::Joining => StageCode::Joining,
        Stage::Counting => StageCode::Counting,
        Stage::Copying => StageCode::Copying,
        Stage::Clustering => StageCode::Clustering,
        Stage::Comparing => StageCode::Comparing,
        _ => StageCode::Other,
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
        stage(progress.progress.stage()), or StageCode::Waiting;
    /// How much of this stage is done: observations of a load, pages and fingerprints of a merge, bytes that
    /// are checked, fingerprints that are joined. 0 for NULL. Any thread, at any time; costs nothing.
    fn simkeep_progress_done -> u64 = progress.progress.done();
    /// Of how much, about; 0 if nobody knows, or for NULL. Any thread, at any time; costs nothing.
    fn simkeep_progress_of -> u64 = progress.progress.of().unwrap_or(0);
    /// What was found on the way: flaws of a check, pairs of a join. 0 for NULL. Any thread, at any time;
    /// costs nothing.
    fn simkeep_progress_found -> u64 = progress.progress.found();
}

/// Frees a progress. Does nothing for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_progress_free(progress: Option<Box<ProgressHandle>>) {
    free("simkeep_progress_free", progress);
}
