//! Tests the order of results, the bounds, and how a pipeline ends.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::state::BYTES_MAX;
use super::*;

/// A chunk: its number, and the size that it reports.
struct NumberedChunk(usize, usize);

impl WorkUnit for NumberedChunk {
    fn bytes(&self) -> usize {
        self.1
    }
}

/// `parts` parts of `chunks` chunks each, with `bytes` bytes per chunk.
fn parts(parts: usize, chunks: usize, bytes: usize) -> ChunkIters<NumberedChunk> {
    let part = move |part: usize| -> ChunkIter<NumberedChunk> {
        Box::new((0..chunks).map(move |chunk| NumberedChunk(part * chunks + chunk, bytes)))
    };
    Box::new((0..parts).map(part))
}

fn take_all<T: Send>(
    pipeline: &mut WorkPipeline<NumberedChunk, T>,
    work: &mut impl FnMut(NumberedChunk, &mut ChunkResults<T>),
) -> Vec<T> {
    let mut all = Vec::new();
    loop {
        match pipeline.next(PATIENCE, work).unwrap() {
            PipelineNext::Result(result) => all.push(result),
            PipelineNext::Idle => {}
            PipelineNext::End => return all,
        }
    }
}

#[test]
fn results_come_in_order_regardless_of_duration() {
    // Some chunks take long, and some have no result, or several.
    let work = |NumberedChunk(number, _): NumberedChunk, results: &mut ChunkResults<usize>| {
        if number.is_multiple_of(7) {
            thread::sleep(Duration::from_micros((number % 11 * 200) as u64));
        }
        (0..number % 3).for_each(|_| results.push(number, 0));
    };
    let expected: Vec<usize> = (0..600).flat_map(|n| std::iter::repeat_n(n, n % 3)).collect();
    for (threads, live) in [(1, false), (2, false), (8, false), (1, true), (3, true)] {
        for (many, chunks) in [(1, 600), (600, 1), (20, 30)] {
            let crew = WorkerOptions { threads, live };
            let parts = parts(many, chunks, 1000);
            let mut pipeline =
                WorkPipeline::start(parts, crew, move |shared| shared.serve(&mut { work }));
            assert_eq!(take_all(&mut pipeline, &mut { work }), expected, "{threads} {live} {many}");
        }
    }
}

#[test]
fn one_thread_does_all_work_itself() {
    let own = thread::current().id();
    let work = move |_: NumberedChunk, results: &mut ChunkResults<()>| {
        assert_eq!(thread::current().id(), own);
        results.push((), 0);
    };
    let crew = WorkerOptions { threads: 1, live: false };
    let mut pipeline =
        WorkPipeline::start(parts(3, 100, 1000), crew, |_| panic!("a second thread"));
    assert_eq!(take_all(&mut pipeline, &mut { work }).len(), 300);
}

#[test]
fn work_in_flight_is_bounded_for_slow_consumers() {
    const CHUNK_BYTES: usize = 1 << 20;
    for many in [1, 10] {
        let (cut, taken) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let most = Arc::new(AtomicUsize::new(0));
        let work = {
            let (cut, taken, most) = (cut.clone(), taken.clone(), most.clone());
            move |_: NumberedChunk, results: &mut ChunkResults<()>| {
                let in_flight = cut.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(in_flight - taken.load(Ordering::SeqCst), Ordering::SeqCst);
                results.push((), CHUNK_BYTES);
            }
        };
        let crew = WorkerOptions { threads: 4, live: false };
        let help = work.clone();
        let mut pipeline =
            WorkPipeline::start(parts(many, 400 / many, CHUNK_BYTES), crew, move |s| {
                s.serve(&mut help.clone())
            });
        while let PipelineNext::Result(()) = pipeline.next(PATIENCE, &mut work.clone()).unwrap() {
            taken.fetch_add(1, Ordering::SeqCst);
            thread::sleep(Duration::from_micros(100));
        }
        let most = most.load(Ordering::SeqCst) * CHUNK_BYTES;
        // Each thread may start one more chunk.
        assert!(most <= BYTES_MAX + 5 * CHUNK_BYTES, "{} MiB", most >> 20);
        assert_eq!(taken.load(Ordering::SeqCst), 400);
    }
}

#[test]
fn giant_chunks_are_processed_one_at_a_time() {
    static AT_WORK: AtomicUsize = AtomicUsize::new(0);
    let work = |_: NumberedChunk, results: &mut ChunkResults<()>| {
        assert_eq!(AT_WORK.fetch_add(1, Ordering::SeqCst), 0);
        thread::sleep(Duration::from_millis(1));
        AT_WORK.fetch_sub(1, Ordering::SeqCst);
        results.push((), 0);
    };
    let crew = WorkerOptions { threads: 4, live: false };
    let parts = parts(4, 20, GIANT_BYTES);
    let mut pipeline = WorkPipeline::start(parts, crew, move |shared| shared.serve(&mut { work }));
    assert_eq!(take_all(&mut pipeline, &mut { work }).len(), 80);
}

#[test]
fn panicking_thread_is_an_error_and_not_a_hang() {
    let crew = WorkerOptions { threads: 3, live: true };
    let mut pipeline = WorkPipeline::<_, ()>::start(parts(2, 9, 1), crew, |shared| {
        shared.serve(&mut |NumberedChunk(number, _), _| assert!(number < 5, "on purpose"));
    });
    let ended = loop {
        match pipeline.next(PATIENCE, &mut |_, _| {}) {
            Ok(PipelineNext::Result(()) | PipelineNext::Idle) => {}
            Ok(PipelineNext::End) => break false,
            Err(failure) => break failure.message().contains("bug"),
        }
    };
    assert!(ended);
}

#[test]
fn dropped_pipeline_stops_its_threads() {
    let crew = WorkerOptions { threads: 4, live: false };
    let work = |_: NumberedChunk, results: &mut ChunkResults<()>| results.push((), 1 << 20);
    let mut pipeline = WorkPipeline::start(parts(1, usize::MAX, 1), crew, move |shared| {
        shared.serve(&mut { work })
    });
    pipeline.next(PATIENCE, &mut { work }).unwrap();
    let shared = Arc::downgrade(&pipeline.shared);
    drop(pipeline);
    let since = Instant::now();
    while shared.strong_count() > 0 {
        assert!(since.elapsed() < Duration::from_secs(60), "the threads go on");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn waiting_for_slow_input_is_reported() {
    let crew = WorkerOptions { threads: 1, live: true };
    let slow = std::iter::once_with(|| {
        thread::sleep(Duration::from_millis(300));
        NumberedChunk(0, 1)
    });
    let parts: ChunkIters<NumberedChunk> =
        Box::new(std::iter::once(Box::new(slow) as ChunkIter<NumberedChunk>));
    let work = |_: NumberedChunk, results: &mut ChunkResults<()>| results.push((), 0);
    let mut pipeline = WorkPipeline::start(parts, crew, move |shared| shared.serve(&mut { work }));
    let next = pipeline.next(Duration::from_millis(1), &mut { work }).unwrap();
    assert!(matches!(next, PipelineNext::Idle));
    assert_eq!(take_all(&mut pipeline, &mut { work }).len(), 1);
}
