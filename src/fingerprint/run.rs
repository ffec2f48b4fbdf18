//! The fast path through a text: runs of ASCII, and other characters that only separate words.

use super::classes::Class;
use super::kernel::{BLOCK, Kernel};
use super::words::Span;

/// Bytes that are read at a time, at most.
const RUN: usize = 16 * BLOCK;

/// A stretch of text whose words were found.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// In lower case. Of characters beyond ASCII it holds anything.
    lower: [u8; RUN],
    len: usize,
    /// The words that end in it.
    words: Vec<Span>,
    /// A word that reaches its end, and may go on.
    last: Option<Span>,
}

impl Run {
    pub(super) fn new() -> Run {
        Run { lower: [0; RUN], len: 0, words: Vec::with_capacity(RUN / 2), last: None }
    }

    #[expect(clippy::indexing_slicing, reason = "no more than a run is read")]
    pub(super) fn text(&self) -> &[u8] {
        &self.lower[..self.len]
    }

    pub(super) fn words(&self) -> &[Span] {
        &self.words
    }

    pub(super) fn last(&self) -> Option<Span> {
        self.last
    }

    /// Reads the beginning of a text, and says how much: up to where a character beyond ASCII is more
    /// than the end of a word.
    #[expect(clippy::indexing_slicing, reason = "no piece of a text is longer than a block")]
    #[expect(clippy::cast_possible_truncation, reason = "a run is 16 blocks of 64 bytes")]
    pub(super) fn read(&mut self, kernel: Kernel, text: &str) -> usize {
        let text = &text[..text.floor_char_boundary(RUN)];
        self.words.clear();
        self.len = 0;
        // Whether the byte before is of a word, and where that begins.
        let (mut inside, mut start) = (0, 0);
        let blocks = text.as_bytes().chunks(BLOCK).zip(self.lower.as_chunks_mut().0);
        for (at, (block, lower)) in (0..).step_by(BLOCK).zip(blocks) {
            let classes = match block.first_chunk() {
                Some(block) => kernel.classify(block, lower),
                None => {
                    // Filled up with what is in no word.
                    let mut filled = [0; BLOCK];
                    filled[..block.len()].copy_from_slice(block);
                    kernel.classify(&filled, lower)
                }
            };
            let len = match classes.foreign {
                0 => block.len(),
                foreign => parted(text, usize::from(at), foreign).min(block.len()),
            };
            let taken = u64::MAX.unbounded_shr((BLOCK - len) as u32);
            let word = classes.word & taken;
            // Where words begin and end, by turns; none ends where it may go on.
            let mut edges = (word ^ (word << 1 | inside)) & taken;
            while edges != 0 {
                let edge = at + edges.trailing_zeros() as u16;
                edges &= edges - 1;
                if inside == 0 {
                    start = edge;
                } else {
                    self.words.push(Span { start, end: edge });
                }
                inside ^= 1;
            }
            self.len += len;
            if len < BLOCK {
                break;
            }
        }
        let end = self.len as u16;
        self.last = (inside == 1).then_some(Span { start, end });
        self.len
    }
}

/// How much of a block of the text is ASCII, or beyond it and parts words.
fn parted(text: &str, at: usize, foreign: u64) -> usize {
    let mut foreign = foreign;
    while foreign != 0 {
        let next = foreign.trailing_zeros() as usize;
        // The rest of a character that began before was looked at there.
        let c = text.get(at + next..).and_then(|rest| rest.chars().next());
        if c.is_some_and(|c| Class::of(c) != Class::Separator) {
            return next;
        }
        foreign &= foreign - 1;
    }
    BLOCK
}
