//! Operations on whole stores: loading, forgetting, compacting, checking, copying, publishing and
//! repairing.

pub(crate) mod backup;
pub(crate) mod compact;
pub(crate) mod copy;
pub(crate) mod forget;
pub(crate) mod load;
pub(crate) mod publish;
pub(crate) mod repair;
pub(crate) mod verify;
