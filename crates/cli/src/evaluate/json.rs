//! The results for programs.

use serde_json::{Map, Value, json};

use super::documents::Documents;
use super::row::{Figures, Mean, Row};
use super::truth::Truth;

/// A row, and what it was measured on.
pub(super) fn object(row: &Row, documents: &Documents, truth: &Truth) -> Value {
    let at = |k: usize| row.at.get(k).map(|figures| score(k, figures));
    let left_out = documents.left_out;
    json!({
        "recipe": row.name,
        "name": row.recipe,
        "documents": documents.compared.len(),
        "left_out": {
            "empty": left_out.empty,
            "short": left_out.short,
            "equal": left_out.equal,
        },
        "near": { "lenient": truth.lenient(), "strict": truth.strict() },
        "seeds": row.seeds,
        "at": (0..row.at.len()).filter_map(at).collect::<Vec<_>>(),
        "advised": row.advised.and_then(at),
        "best": row.best().and_then(at),
    })
}

fn score(k: usize, figures: &Figures) -> Value {
    let Figures { pairs, lenient, strict, recall, f1 } = *figures;
    let shares = [("lenient", lenient), ("strict", strict), ("recall", recall), ("f1", f1)];
    let all = [("pairs", Some(pairs))].into_iter().chain(shares);
    let (mut object, mut deviations) = (Map::new(), Map::new());
    object.insert("k".to_owned(), k.into());
    for (name, mean) in all {
        object.insert(name.to_owned(), mean.map(|mean| mean.mean).into());
        if let Some(Mean { deviation: Some(deviation), .. }) = mean {
            deviations.insert(name.to_owned(), deviation.into());
        }
    }
    if pairs.deviation.is_some() {
        object.insert("deviation".to_owned(), deviations.into());
    }
    object.into()
}
