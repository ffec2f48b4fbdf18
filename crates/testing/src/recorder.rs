//! A recorder of metrics that tests and benchmarks can query.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};

/// Keeps all recorded metrics. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct MetricsRecording {
    metrics: Arc<Mutex<BTreeMap<String, Arc<RecordedMetric>>>>,
    described: Arc<Mutex<BTreeMap<String, String>>>,
}

#[derive(Debug, Default)]
struct RecordedMetric {
    /// The count of a counter, the bits of a gauge's value, or the number of values of a histogram.
    number: AtomicU64,
}

impl CounterFn for RecordedMetric {
    fn increment(&self, value: u64) {
        self.number.fetch_add(value, Ordering::Relaxed);
    }

    fn absolute(&self, value: u64) {
        self.number.fetch_max(value, Ordering::Relaxed);
    }
}

impl GaugeFn for RecordedMetric {
    fn increment(&self, value: f64) {
        GaugeFn::increment(&self.number, value);
    }

    fn decrement(&self, value: f64) {
        GaugeFn::decrement(&self.number, value);
    }

    fn set(&self, value: f64) {
        GaugeFn::set(&self.number, value);
    }
}

impl HistogramFn for RecordedMetric {
    fn record(&self, value: f64) {
        assert!(value >= 0.0, "a duration is no {value}");
        self.number.fetch_add(1, Ordering::Relaxed);
    }
}

impl MetricsRecording {
    fn metric(&self, key: &Key) -> Arc<RecordedMetric> {
        let labels = key.labels().map(|label| format!("{}={}", label.key(), label.value()));
        let labels = Vec::from_iter(labels).join(",");
        let name = format!("{}{{{labels}}}", key.name());
        Arc::clone(self.metrics.lock().unwrap().entry(name).or_default())
    }

    /// The names of all instruments, each as `name{label=value,...}`.
    pub fn names(&self) -> Vec<String> {
        self.metrics.lock().unwrap().keys().cloned().collect()
    }

    /// The value of a counter, or the number of values of a histogram.
    pub fn count(&self, name: &str) -> u64 {
        self.metrics.lock().unwrap()[name].number.load(Ordering::Relaxed)
    }

    /// The value of a gauge.
    pub fn gauge(&self, name: &str) -> f64 {
        f64::from_bits(self.count(name))
    }

    /// The descriptions of instruments, by name.
    pub fn descriptions(&self) -> BTreeMap<String, String> {
        self.described.lock().unwrap().clone()
    }

    fn describe(&self, name: &KeyName, description: &SharedString) {
        self.described.lock().unwrap().insert(name.as_str().to_owned(), description.to_string());
    }
}

impl Recorder for MetricsRecording {
    fn describe_counter(&self, name: KeyName, _: Option<Unit>, description: SharedString) {
        self.describe(&name, &description);
    }

    fn describe_gauge(&self, name: KeyName, _: Option<Unit>, description: SharedString) {
        self.describe(&name, &description);
    }

    fn describe_histogram(&self, name: KeyName, _: Option<Unit>, description: SharedString) {
        self.describe(&name, &description);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.metric(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.metric(key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.metric(key))
    }
}
