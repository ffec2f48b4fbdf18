//! Reads labelled pairs from a file.

use simkeep_formats::escape;
use simkeep_formats::lines::LineCutter;

use super::documents::EvaluatedDocuments;
use super::ground_truth::{GroundTruth, NearnessLimits, TruthPairs};
use crate::exit::VerbError;

/// Reads pairs of documents. Skips pairs with documents that are left out.
///
/// # Errors Names the invalid line, or the pair that contradicts itself.
pub(super) fn read(
    pairs: LineCutter,
    documents: &EvaluatedDocuments,
    limits: NearnessLimits,
) -> Result<GroundTruth, VerbError> {
    let mut known = TruthPairs::new(limits);
    for lines in pairs {
        for (number, line) in lines.each() {
            let fault = |why: &str| VerbError::Broken(format!("{}: {why}", lines.at(number)));
            let line = line.map_err(fault)?;
            if line.trim_ascii().is_empty() {
                continue;
            }
            let (left, right, near) = pair(line).map_err(fault)?;
            let number = |id| {
                let unknown = || {
                    fault(&format!("no document has the id \"{}\"", escape::escape_untruncated(id)))
                };
                documents.number(id).ok_or_else(unknown)
            };
            if let (Some(left), Some(right)) = (number(left)?, number(right)?) {
                known.add(left, right, near).map_err(VerbError::Other)?;
            }
        }
    }
    known.finish(documents.compared.len()).map_err(|(one, other)| {
        let id = |number| escape::escape_untruncated(documents.id(number));
        let (one, other) = (id(one), id(other));
        VerbError::Broken(format!(
            "\"{one}\" and \"{other}\" are listed twice, as near and as not near"
        ))
    })
}

/// Parses two ids, and how near their documents are.
fn pair(line: &[u8]) -> Result<(&str, &str, f64), &'static str> {
    let fields = std::str::from_utf8(line).ok().map(|line| line.split('\t'));
    let mut fields = fields.into_iter().flatten();
    let (Some(left), Some(right), near) = (fields.next(), fields.next(), fields.next()) else {
        return Err("the line must have two ids with a tab between them");
    };
    if left == right {
        return Err("the two ids of a pair must differ");
    }
    let near: Option<f64> = near.map_or(Some(1.0), |near| near.trim().parse().ok());
    match near.filter(|near| (0.0..=1.0).contains(near)) {
        Some(near) => Ok((left, right, near)),
        None => Err("the third field must be a number from 0 to 1"),
    }
}
