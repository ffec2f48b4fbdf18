//! The name of an epoch and its options in JSON.

use simkeep::fingerprint::Bands;
use simkeep::{EpochOptions, Role};

/// The maximum length of the name of an epoch in a store, in bytes.
const EPOCH_BYTES_MAX: usize = 256;

/// Returns the options of an epoch with a role and bands in bits. The default role is both; the
/// default bands are the bands of the epoch's recipe.
pub(super) fn options(
    role: Option<&str>,
    bands: Option<(u64, u64)>,
) -> Result<EpochOptions, String> {
    let role = role.map_or(Ok(Role::Both), str::parse);
    let options =
        EpochOptions::from(role.map_err(|_| "\"role\" must be \"change\", \"near\" or \"both\"")?);
    let Some((minor, moderate)) = bands else { return Ok(options) };
    let bands = u32::try_from(minor).ok().zip(u32::try_from(moderate).ok());
    let bands = bands.map(|(minor, moderate)| Bands { minor, moderate });
    let bands = bands.filter(|bands| bands.are_possible());
    let why = "\"minor\" and \"moderate\" must be numbers of bits from 0 to 64, and \"moderate\" must not be smaller";
    Ok(options.bands(bands.ok_or(why)?))
}

/// Checks the name of an epoch.
pub(super) fn epoch_name(name: &str) -> Result<String, String> {
    if name.is_empty() || name.len() > EPOCH_BYTES_MAX || name.chars().any(char::is_control) {
        return Err(format!(
            "\"epoch\" must have 1 to {EPOCH_BYTES_MAX} bytes, and no control characters"
        ));
    }
    Ok(name.to_owned())
}
