//! The size of a store, as gauges in the text format of Prometheus.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use simkeep::inspect::Overview;
use simkeep::{Reader, Stats};

use crate::exit::VerbError;
use crate::output::Output;
use crate::output::temporary;

/// A gauge of a store.
struct Gauge {
    name: &'static str,
    /// The name of its label besides `store`; empty if it has none.
    label: &'static str,
    help: &'static str,
    /// Returns its values, each with the value of the label.
    values: fn(&GaugeFacts<'_>) -> Vec<(String, f64)>,
}

/// The data from which the gauges are computed.
struct GaugeFacts<'a> {
    overview: &'a Overview,
    stats: &'a Stats,
    behind: u64,
}

#[expect(clippy::cast_precision_loss, reason = "Prometheus has no other numbers")]
fn number(of: u64) -> f64 {
    of as f64
}

fn only(of: u64) -> Vec<(String, f64)> {
    vec![(String::new(), number(of))]
}

/// All gauges. A test compares the table in `docs/metrics.md` with this list.
const GAUGES: [Gauge; 14] = [
    Gauge {
        name: "simkeep_pages",
        label: "state",
        help: "Known pages, by state: with current content, gone, or never seen with content.",
        values: |facts| {
            let Overview { in_force, gone, never, .. } = facts.overview;
            let states = [("in_force", in_force), ("gone", gone), ("never", never)];
            states.map(|(state, pages)| (state.to_owned(), number(*pages))).to_vec()
        },
    },
    Gauge {
        name: "simkeep_visits",
        label: "",
        help: "Known visits.",
        values: |facts| only(facts.overview.visits),
    },
    Gauge {
        name: "simkeep_unsealed_visits",
        label: "",
        help: "Visits in the journal that are not in a segment yet.",
        values: |facts| only(facts.stats.unsealed_visits),
    },
    Gauge {
        name: "simkeep_newest_visit_timestamp_seconds",
        label: "",
        help: "Upper bound of the visit times that the crawler reported, in seconds since 1970.",
        values: |facts| {
            #[expect(clippy::cast_precision_loss, reason = "seconds are fewer")]
            let seconds = |milliseconds: i64| milliseconds as f64 / 1000.0;
            facts
                .overview
                .last
                .map(|last| (String::new(), seconds(last.as_ms())))
                .into_iter()
                .collect()
        },
    },
    Gauge {
        name: "simkeep_last_operation",
        label: "",
        help: "The number of the last operation.",
        values: |facts| only(facts.overview.sequence),
    },
    Gauge {
        name: "simkeep_behind_operations",
        label: "",
        help: "Acknowledged operations after the last operation that was read.",
        values: |facts| only(facts.behind),
    },
    Gauge {
        name: "simkeep_segments",
        label: "",
        help: "Live segments.",
        values: |facts| only(facts.overview.segments.len() as u64),
    },
    Gauge {
        name: "simkeep_size_bytes",
        label: "what",
        help: "Size of the store, by the use of the bytes.",
        values: |facts| {
            let spaces = facts.overview.space.iter();
            let spaces = spaces.map(|space| (space.of.name().replace(' ', "_"), space.bytes));
            let all = spaces.chain([("catalog".to_owned(), facts.stats.catalog_bytes)]);
            all.map(|(what, bytes)| (what, number(bytes))).collect()
        },
    },
    Gauge {
        name: "simkeep_superseded_ratio",
        label: "",
        help: "Approximate ratio of page records that newer records replace; a merge of all \
               segments would free them.",
        values: |facts| {
            let segments = &facts.overview.segments;
            let all: f64 = segments.iter().map(|segment| number(segment.pages)).sum();
            let superseded = segments.iter().map(|one| number(one.pages) * one.superseded);
            vec![(String::new(), superseded.sum::<f64>() / all.max(1.0))]
        },
    },
    Gauge {
        name: "simkeep_fingerprints",
        label: "",
        help: "Different fingerprints, counted once for each epoch and each segment.",
        values: |facts| only(facts.overview.fingerprints),
    },
    Gauge {
        name: "simkeep_commonest_fingerprint_pages",
        label: "",
        help: "The number of pages that have or had the most frequent fingerprint of a segment.",
        values: |facts| only(facts.overview.commonest_pages),
    },
    Gauge {
        name: "simkeep_epochs",
        label: "",
        help: "Epochs, including ended ones.",
        values: |facts| only(facts.stats.epochs.len() as u64),
    },
    Gauge {
        name: "simkeep_epoch_visits",
        label: "",
        help: "Visits since the newest epoch began.",
        values: |facts| only(facts.stats.epoch_visits),
    },
    Gauge {
        name: "simkeep_epoch_due",
        label: "",
        help: "1 if the visits since the newest epoch are enough to begin a new one, otherwise 0.",
        values: |facts| only(facts.stats.epoch_due.into()),
    },
];

/// Prints the gauges of a store, or writes them to a file.
pub(crate) fn run(
    store: &Path,
    reader: &Reader,
    file: Option<&PathBuf>,
    output: &mut Output,
) -> Result<(), VerbError> {
    let (overview, stats) = (Overview::of(&reader.snapshot())?, reader.stats()?);
    let facts = GaugeFacts { overview: &overview, stats: &stats, behind: reader.behind() };
    let text = text(&store.to_string_lossy(), &facts);
    let Some(path) = file else { return Ok(output.writer().write_all(text.as_bytes())?) };
    temporary::put(path, text.as_bytes())
        .map_err(|e| VerbError::Other(format!("cannot write {}: {e}", path.display())))
}

fn text(store: &str, facts: &GaugeFacts<'_>) -> String {
    let (store, mut text) = (escaped(store), String::new());
    for Gauge { name, label, help, values } in &GAUGES {
        // Writing to a string cannot fail.
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n");
        for (value, number) in values(facts) {
            let label =
                if label.is_empty() { String::new() } else { format!(",{label}=\"{value}\"") };
            let _ = writeln!(text, "{name}{{store=\"{store}\"{label}}} {number}");
        }
    }
    text
}

/// Escapes the value of a label as the format requires, and control characters for terminals.
fn escaped(value: &str) -> String {
    simkeep_formats::escape::escape_untruncated(value).replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_name_is_escaped_in_labels() {
        assert_eq!(escaped("a\"b\\c\nd"), "a\\\"b\\\\c\\\\nd");
    }

    #[test]
    fn metrics_page_lists_all_gauges() {
        let mut table = String::from("| name | labels | what it is |\n|---|---|---|\n");
        for Gauge { name, label, help, .. } in &GAUGES {
            let label = if label.is_empty() { String::new() } else { format!(", `{label}`") };
            let _ = writeln!(table, "| `{name}` | `store`{label} | {help} |");
        }
        let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
        let page = std::fs::read_to_string(page).unwrap();
        assert!(page.contains(&table), "put this into docs/metrics.md:\n\n{table}");
    }
}
