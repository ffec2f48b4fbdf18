//! Processes the documents of an input on all threads, and returns the results in order.

use simkeep::fingerprint::Document;
use simkeep_formats::{Broken, Chunk, Input, Item, Payload, Record};

use crate::exit::{Failure, say};
use crate::input::pipeline::{Crew, Next, PATIENCE, Pipeline, Results};
use crate::output::words::many;

/// The results of processing each text of an input.
pub(crate) struct Texts<T: Send + 'static, M> {
    pipeline: Pipeline<Chunk, Result<T, Broken>>,
    make: M,
    broken: u64,
}

/// The result of a text, and the bytes that it takes in addition to its own size.
pub(crate) type Made<T> = (T, usize);

impl<T: Send + 'static, M: FnMut(String, Document) -> Made<T>> Texts<T, M> {
    /// Begins to read on `threads` threads. Each has its own maker, which takes the URL and the
    /// text.
    pub(crate) fn new(
        input: Input,
        threads: usize,
        maker: impl Fn() -> M + Send + Sync + 'static,
    ) -> Texts<T, M> {
        let crew = Crew { threads, live: input.is_live() };
        let make = maker();
        let pipeline = Pipeline::start(Box::new(input), crew, move |shared| {
            let mut make = maker();
            shared.serve(&mut |chunk, made| read(chunk, &mut make, made));
        });
        Texts { pipeline, make, broken: 0 }
    }

    /// The result of the next text, or the broken record at its place; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Result<T, Broken>>, Failure> {
        loop {
            let Texts { pipeline, make, .. } = self;
            match pipeline.next(PATIENCE, &mut |chunk, made| read(chunk, make, made))? {
                Next::Result(made) => return Ok(Some(made)),
                Next::Idle => {}
                Next::End => return Ok(None),
            }
        }
    }

    /// The result of the next text that is not broken. Prints broken records, and their number at
    /// the end.
    pub(crate) fn next_whole(&mut self) -> Result<Option<T>, Failure> {
        while let Some(made) = self.next()? {
            match made {
                Ok(made) => return Ok(Some(made)),
                Err(Broken { at, why }) => {
                    say(&format!("{at}: {why}"));
                    self.broken += 1;
                }
            }
        }
        let broken = std::mem::take(&mut self.broken);
        if broken > 0 {
            let were = many(broken, "broken record was", "broken records were");
            say(&format!("{were} left out"));
        }
        Ok(None)
    }
}

fn read<T>(
    chunk: Chunk,
    make: &mut impl FnMut(String, Document) -> Made<T>,
    into: &mut Results<Result<T, Broken>>,
) {
    chunk.items(|item| match item {
        Item::Record(Record {
            url,
            payload: Payload::Text(document) | Payload::File(document),
            ..
        }) => {
            let (made, bytes) = make(url, *document);
            into.push(Ok(made), bytes);
        }
        Item::Broken(broken) | Item::Refused(broken) => {
            let bytes = broken.bytes();
            into.push(Err(broken), bytes);
        }
        _ => {}
    });
}
