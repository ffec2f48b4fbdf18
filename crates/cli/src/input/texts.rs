//! Processes the documents of an input on all threads, and returns the results in order.

use simkeep::fingerprint::Document;
use simkeep_formats::{
    BrokenRecord, InputParts, RecordPayload, SourceChunk, SourceItem, VisitRecord,
};

use crate::exit::{VerbError, print_message};
use crate::input::pipeline::{ChunkResults, PATIENCE, PipelineNext, WorkPipeline, WorkerOptions};
use crate::output::words::many;

/// The results of processing each text of an input.
pub(crate) struct TextPipeline<T: Send + 'static, M> {
    pipeline: WorkPipeline<SourceChunk, Result<T, BrokenRecord>>,
    make: M,
    broken: u64,
}

/// The result of a text, and the bytes that it takes in addition to its own size.
pub(crate) type SizedResult<T> = (T, usize);

impl<T: Send + 'static, M: FnMut(String, Document) -> SizedResult<T>> TextPipeline<T, M> {
    /// Begins to read on `threads` threads. Each has its own maker, which takes the URL and the
    /// text.
    pub(crate) fn new(
        input: InputParts,
        threads: usize,
        maker: impl Fn() -> M + Send + Sync + 'static,
    ) -> TextPipeline<T, M> {
        let crew = WorkerOptions { threads, live: input.is_live() };
        let make = maker();
        let pipeline = WorkPipeline::start(Box::new(input), crew, move |shared| {
            let mut make = maker();
            shared.serve(&mut |chunk, made| read(chunk, &mut make, made));
        });
        TextPipeline { pipeline, make, broken: 0 }
    }

    /// The result of the next text, or the broken record at its place; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Result<T, BrokenRecord>>, VerbError> {
        loop {
            let TextPipeline { pipeline, make, .. } = self;
            match pipeline.next(PATIENCE, &mut |chunk, made| read(chunk, make, made))? {
                PipelineNext::Result(made) => return Ok(Some(made)),
                PipelineNext::Idle => {}
                PipelineNext::End => return Ok(None),
            }
        }
    }

    /// The result of the next text that is not broken. Prints broken records, and their number at
    /// the end.
    pub(crate) fn next_whole(&mut self) -> Result<Option<T>, VerbError> {
        while let Some(made) = self.next()? {
            match made {
                Ok(made) => return Ok(Some(made)),
                Err(BrokenRecord { at, why }) => {
                    print_message(&format!("{at}: {why}"));
                    self.broken += 1;
                }
            }
        }
        let broken = std::mem::take(&mut self.broken);
        if broken > 0 {
            let were = many(broken, "broken record was", "broken records were");
            print_message(&format!("{were} left out"));
        }
        Ok(None)
    }
}

fn read<T>(
    chunk: SourceChunk,
    make: &mut impl FnMut(String, Document) -> SizedResult<T>,
    into: &mut ChunkResults<Result<T, BrokenRecord>>,
) {
    chunk.items(|item| match item {
        SourceItem::Record(VisitRecord {
            url,
            payload: RecordPayload::Text(document) | RecordPayload::File(document),
            ..
        }) => {
            let (made, bytes) = make(url, *document);
            into.push(Ok(made), bytes);
        }
        SourceItem::Broken(broken) | SourceItem::Refused(broken) => {
            let bytes = broken.bytes();
            into.push(Err(broken), bytes);
        }
        _ => {}
    });
}
