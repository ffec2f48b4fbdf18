//! The results for programs.

use serde_json::{Value, json};
use simkeep::recrawl::simulate::Span;

use super::best::Best;
use super::row::{Mean, Row};
use super::setting::Setting;

/// An object for each row, and for each that would have been best.
pub(super) fn objects(
    rows: &[Row],
    best: Option<&Vec<Best>>,
    setting: &Setting,
    (per_day, span): (f64, Span),
) -> Vec<Value> {
    let of_row = |row: &Row| {
        let mut object = json!({
            "policy": row.name,
            "pages": setting.pages,
            "per_day": per_day,
            "from_day": span.from(),
            "to_day": span.to(),
            "crawls": row.figures.len(),
            "fresh": mean(row.mean(|figures| figures.freshness)),
            "near": mean(row.mean(|figures| figures.near_freshness)),
            "missed": mean(row.mean(|figures| figures.staleness)),
            "bits": mean(row.mean(|figures| figures.divergence)),
            "visits_per_day": row.mean(|figures| figures.visits_per_day).mean / setting.sample,
        });
        if let (Some(first), Some(object)) = (rows.first(), object.as_object_mut())
            && first.name != row.name
        {
            object.insert("fresher".to_owned(), mean(row.fresher_than(first)));
        }
        object
    };
    let of_best = |best: &Best| json!({ "best": best.key, "per_day": per_day, "fresh": { "mean": best.freshness } });
    let best = best.into_iter().flatten().map(of_best);
    rows.iter().map(of_row).chain(best).collect()
}

fn mean(mean: Mean) -> Value {
    match mean.error {
        None => json!({ "mean": mean.mean }),
        Some(error) => json!({ "mean": mean.mean, "error": error }),
    }
}
