//! What is made of the texts of an input.

use super::Failure;
use super::exit::say;
use super::pipeline::{Crew, Next, PATIENCE, Pipeline, Results};
use super::words::many;
use simkeep_formats::{Broken, Chunk, Input, Item, Payload};

/// What is made of each text of an input, on all threads, in order; what is broken is named and left
/// out.
pub(super) struct Texts<T: Send + 'static, M> {
    pipeline: Pipeline<Chunk, Result<T, Broken>>,
    make: M,
    broken: u64,
}

/// What is made of a text, and the bytes that it takes beside itself.
pub(super) type Made<T> = (T, usize);

impl<T: Send + 'static, M: FnMut(String) -> Made<T>> Texts<T, M> {
    /// Begins to read on so many threads, each with a maker of its own.
    pub(super) fn new(
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

    /// What is made of the next text; none at the end, and then says how many records were broken.
    pub(super) fn next(&mut self) -> Result<Option<T>, Failure> {
        loop {
            let Texts { pipeline, make, .. } = self;
            match pipeline.next(PATIENCE, &mut |chunk, made| read(chunk, make, made))? {
                Next::Result(Ok(made)) => return Ok(Some(made)),
                Next::Result(Err(Broken { at, why })) => {
                    say(&format!("{at}: {why}"));
                    self.broken += 1;
                }
                Next::Idle => {}
                Next::End => break,
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
    make: &mut impl FnMut(String) -> Made<T>,
    into: &mut Results<Result<T, Broken>>,
) {
    chunk.items(|item| match item {
        Item::Record(record) => {
            if let Payload::Text(document) | Payload::File(document) = record.payload {
                let (made, bytes) = make(document.into_text());
                into.push(Ok(made), bytes);
            }
        }
        Item::Broken(broken) => {
            let bytes = broken.bytes();
            into.push(Err(broken), bytes);
        }
        _ => {}
    });
}
