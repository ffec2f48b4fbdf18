//! A stretch of a text in lower case, and its words.

use super::classes::{CharClass, CharKind, CharKinds};
use super::kernel::{BLOCK, FingerprintKernel};
use super::utf8::{before, code_at, is_inside, size_of};
use super::words::{OffsetShift, TextOffsets, WORD_BYTES_MAX, WordSink, WordSpan};

/// The number of bytes collected before their words are passed on: enough to hash and count many
/// words together, and few enough to stay in the processor's cache.
const RUN: usize = 32 * BLOCK;

/// The maximum number of bytes that one step appends: a block, or the buffer of a composer.
const STEP: usize = 4 * BLOCK;

/// The size of the buffer: a run, a step, and the unfinished word of the previous run.
const SIZE: usize = RUN + STEP + WORD_BYTES_MAX;

/// Collects a text in lower case without skipped characters, and finds its words.
///
/// Most text is processed in blocks: ASCII and characters whose lower case has the same length stay
/// where the kernel wrote them. Other characters are processed one by one.
#[derive(Clone, Debug)]
pub(super) struct WordScanner {
    kernel: FingerprintKernel,
    /// Whether scripts without spaces are treated like other scripts.
    runs: bool,
    lower: [u8; SIZE],
    len: usize,
    /// The complete words.
    words: Vec<WordSpan>,
    /// Whether one of the words may be too long.
    long: bool,
    open: OpenWord,
    /// The positions where the offsets of the text and of `lower` diverge, ascending.
    shifts: Vec<OffsetShift>,
}

/// The unfinished element that the next character may continue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum OpenWord {
    Nothing,
    /// A word, and its start.
    Word {
        start: u16,
    },
    /// A character of a script without spaces: its start, and whether it is part of a pair.
    Unspaced {
        start: u16,
        paired: bool,
    },
}

/// The progress of reading a block.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum BlockProgress {
    /// The number of bytes read. The next block may be read.
    On(usize),
    /// The number of bytes read. The next character must be composed first.
    Until(usize),
}

impl WordScanner {
    pub(super) fn new(kernel: FingerprintKernel, runs: bool) -> WordScanner {
        WordScanner {
            kernel,
            runs,
            lower: [0; SIZE],
            len: 0,
            words: Vec::with_capacity(RUN / 2),
            long: false,
            open: OpenWord::Nothing,
            shifts: Vec::new(),
        }
    }

    /// Passes on the words if there is no space for another step.
    #[inline]
    pub(super) fn make_room(&mut self, take: &mut impl WordSink) {
        if self.len + STEP > SIZE {
            self.pass(take);
        }
    }

    /// Passes on the complete words, and keeps an unfinished word.
    #[expect(clippy::indexing_slicing, reason = "an unfinished word begins within the run")]
    pub(super) fn pass(&mut self, take: &mut impl WordSink) {
        self.cut();
        if !self.words.is_empty() {
            take.words(&self.lower[..self.len], &self.words, TextOffsets::new(&self.shifts));
            self.words.clear();
        }
        let (OpenWord::Word { start: kept } | OpenWord::Unspaced { start: kept, .. }) = self.open
        else {
            self.len = 0;
            self.shifts.clear();
            return;
        };
        let first = self.shifts.partition_point(|shift| shift.lower <= kept).saturating_sub(1);
        self.shifts.drain(..first);
        for shift in &mut self.shifts {
            // Only the kept part of the first shift is relevant.
            shift.text += usize::from(kept.saturating_sub(shift.lower));
            shift.lower = shift.lower.saturating_sub(kept);
        }
        self.lower.copy_within(usize::from(kept)..self.len, 0);
        self.len -= usize::from(kept);
        match &mut self.open {
            OpenWord::Word { start } | OpenWord::Unspaced { start, .. } => *start = 0,
            OpenWord::Nothing => {}
        }
    }

    /// Completes the word at the end of the text, passes on all words, and resets.
    pub(super) fn finish(&mut self, take: &mut impl WordSink) {
        self.close();
        self.pass(take);
    }

    /// Reads the beginning of a text, up to a block. `at` is its offset in the whole text.
    ///
    /// The last character is never read, since the next character may change it.
    #[expect(
        clippy::indexing_slicing,
        reason = "there is room for a step; a block has that many bytes"
    )]
    #[expect(clippy::cast_possible_truncation, reason = "a block has 64 bytes")]
    pub(super) fn read(&mut self, text: &str, at: usize) -> BlockProgress {
        let (len, next) = extent(text);
        if len == 0 {
            return BlockProgress::Until(0);
        }
        self.place(at);
        let bytes = text.as_bytes();
        let Some(lower) = self.lower[self.len..].first_chunk_mut() else {
            return BlockProgress::Until(0);
        };
        let classes = match bytes.first_chunk() {
            Some(block) => self.kernel.classify(block, lower),
            None => {
                // The block is padded with bytes that belong to no word.
                let mut filled = [0; BLOCK];
                filled[..bytes.len()].copy_from_slice(bytes);
                self.kernel.classify(&filled, lower)
            }
        };
        let taken = u64::MAX >> (BLOCK - len) as u32;
        // Nearly all characters beyond ASCII belong to words.
        let mut word = (classes.word | classes.foreign) & taken;
        let (mut leads, mut unspaced) = (classes.leads & taken, 0);
        if leads != 0 {
            let kinds = CharKinds::new();
            while leads != 0 {
                let first = leads.trailing_zeros() as usize;
                leads &= leads - 1;
                let (kind, code, size) = kinds.at(bytes, first);
                match kind {
                    CharKind::Letter => {}
                    CharKind::Separator => word &= !(((1 << size) - 1) << first),
                    CharKind::Capital => lower_case(code, &mut lower[first..first + size]),
                    CharKind::Unspaced if self.runs => {}
                    CharKind::Unspaced => {
                        word &= !(((1 << size) - 1) << first);
                        unspaced |= 1 << first;
                    }
                    // The previous character may change, too.
                    CharKind::Joining => return self.stop(word, unspaced, before(bytes, first)),
                    CharKind::Resized => return self.stop(word, unspaced, first),
                    _ => return self.characters(&text[..len], next),
                }
            }
        }
        if next.joins() {
            return self.characters(&text[..len], next);
        }
        self.block(word, unspaced, len);
        BlockProgress::On(len)
    }

    /// Appends the first `len` bytes of a block, which ends where a character must be composed.
    fn stop(&mut self, word: u64, unspaced: u64, len: usize) -> BlockProgress {
        if len > 0 {
            self.block(word, unspaced, len);
        }
        BlockProgress::Until(len)
    }

    /// Appends `len` bytes of a block. `word` marks bytes of words; `unspaced` marks the first bytes of
    /// characters in scripts without spaces.
    #[inline]
    fn block(&mut self, word: u64, unspaced: u64, len: usize) {
        let taken = u64::MAX >> (BLOCK - len);
        match unspaced & taken {
            0 => self.edges(word & taken, taken, len),
            unspaced => self.mixed(word & taken, unspaced, taken, len),
        }
    }

    /// Processes a block with characters of scripts without spaces. Two adjacent characters are a
    /// pair.
    #[expect(clippy::cast_possible_truncation, reason = "a run has some thousand bytes")]
    #[expect(clippy::indexing_slicing, reason = "a byte of the run")]
    fn mixed(&mut self, word: u64, unspaced: u64, taken: u64, len: usize) {
        let base = self.len as u16;
        let (mut inside, mut start) = (0, 0);
        // The last character of a script without spaces: its range, and whether it is part of a
        // pair.
        let mut last: Option<(WordSpan, bool)> = None;
        match self.open {
            OpenWord::Nothing => {}
            OpenWord::Word { start: word } => (inside, start) = (1, word),
            OpenWord::Unspaced { start, paired } => {
                last = Some((WordSpan { start, end: base }, paired))
            }
        }
        let mut events = ((word ^ (word << 1 | inside)) & taken) | unspaced;
        while events != 0 {
            let event = events.trailing_zeros();
            events &= events - 1;
            let at = base + event as u16;
            if inside == 1 {
                self.words.push(WordSpan { start, end: at });
                inside = 0;
            } else if unspaced >> event & 1 == 0 {
                self.close_single(last.take());
                (inside, start) = (1, at);
                continue;
            }
            if unspaced >> event & 1 == 1 {
                let end = at + size_of(self.lower[usize::from(at)]);
                let paired = match last {
                    Some((before, _)) if before.end == at => {
                        self.words.push(WordSpan { start: before.start, end });
                        true
                    }
                    other => {
                        self.close_single(other);
                        false
                    }
                };
                last = Some((WordSpan { start: at, end }, paired));
            }
        }
        self.len += len;
        self.open = match last {
            _ if inside == 1 => OpenWord::Word { start },
            Some((WordSpan { start, end }, paired)) if usize::from(end) == self.len => {
                OpenWord::Unspaced { start, paired }
            }
            other => {
                self.close_single(other);
                OpenWord::Nothing
            }
        };
    }

    /// Completes a single character of a script without spaces.
    fn close_single(&mut self, last: Option<(WordSpan, bool)>) {
        if let Some((single, false)) = last {
            self.words.push(single);
        }
    }

    /// Processes a block. The bits of `word` mark the bytes of its words.
    #[expect(clippy::cast_possible_truncation, reason = "a run has some thousand bytes")]
    fn edges(&mut self, word: u64, taken: u64, len: usize) {
        let (mut inside, mut start) = match self.open {
            OpenWord::Word { start } => (1, start),
            OpenWord::Nothing => (0, 0),
            OpenWord::Unspaced { .. } => {
                self.close();
                (0, 0)
            }
        };
        // The starts and ends of words, alternately; the last word has no end if it may continue.
        let base = self.len as u16;
        let mut edges = (word ^ (word << 1 | inside)) & taken;
        while edges != 0 {
            let edge = base + edges.trailing_zeros() as u16;
            edges &= edges - 1;
            if inside == 0 {
                start = edge;
            } else {
                self.words.push(WordSpan { start, end: edge });
            }
            inside ^= 1;
        }
        self.len += len;
        self.open = if inside == 1 { OpenWord::Word { start } } else { OpenWord::Nothing };
    }

    /// Processes a part of a text character by character; `behind` is the kind of the next
    /// character. The part's bytes already follow the run, with ASCII in lower case.
    #[expect(clippy::indexing_slicing, reason = "a character of a block that there is room for")]
    fn characters(&mut self, text: &str, behind: CharKind) -> BlockProgress {
        let (bytes, kinds) = (text.as_bytes(), CharKinds::new());
        let look = |at: usize| match at < bytes.len() {
            true => kinds.at(bytes, at),
            false => (behind, 0, 0),
        };
        let (mut at, mut here) = (0, look(0));
        while at < bytes.len() {
            let (kind, code, size) = here;
            if kind.joins() || kind == CharKind::Resized {
                return BlockProgress::Until(at);
            }
            let next = look(at + size);
            let mut lone = None;
            if next.0.joins() {
                // A single mark changes nothing.
                let is_lone = matches!(next.0, CharKind::LoneMark | CharKind::LoneLetter);
                let behind = at + size + next.2;
                if !is_lone || next.2 == 0 || look(behind).0.joins() {
                    return BlockProgress::Until(at);
                }
                lone = Some(next);
            }
            match kind {
                CharKind::Ignored => return BlockProgress::On(at + size),
                CharKind::Capital => {
                    lower_case(code, &mut self.lower[self.len..self.len + size]);
                    self.letter(size);
                }
                CharKind::Letter => self.letter(size),
                CharKind::Unspaced if self.runs => self.letter(size),
                CharKind::Unspaced => self.unspaced(size),
                CharKind::Mark => self.mark(size),
                _ => self.separator(size),
            }
            at += size;
            here = next;
            if let Some((kind, _, size)) = lone {
                match kind {
                    CharKind::LoneMark => self.mark(size),
                    _ => self.letter(size),
                }
                at += size;
                here = look(at);
            }
        }
        BlockProgress::On(at)
    }

    /// Adds a composed character at this offset of the text.
    pub(super) fn character(&mut self, c: char, at: usize) {
        let class = CharClass::of(c);
        let c = match class {
            CharClass::Ignored => return,
            CharClass::Letter(lower) => lower,
            _ => c,
        };
        self.place(at);
        let size = c.len_utf8();
        if let Some(room) = self.lower.get_mut(self.len..self.len + size) {
            c.encode_utf8(room);
        }
        match class {
            CharClass::Letter(_) => self.letter(size),
            CharClass::Unspaced if self.runs => self.letter(size),
            CharClass::Unspaced => self.unspaced(size),
            CharClass::Mark => self.mark(size),
            CharClass::Separator | CharClass::Ignored => self.separator(size),
        }
    }

    /// Records the offset in the text of the next bytes.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a run has some thousand bytes")]
    fn place(&mut self, at: usize) {
        // The distance is at most a block.
        if let OpenWord::Word { start } = self.open {
            self.long |= self.len - usize::from(start) > WORD_BYTES_MAX - BLOCK;
        }
        let lower = self.len as u16;
        if TextOffsets::new(&self.shifts).last(lower) != Some(at) {
            self.shifts.pop_if(|last| last.lower == lower);
            self.shifts.push(OffsetShift { lower, text: at });
        }
    }

    fn separator(&mut self, size: usize) {
        self.close();
        self.len += size;
    }

    #[expect(clippy::cast_possible_truncation, reason = "a run has some thousand bytes")]
    fn letter(&mut self, size: usize) {
        if !matches!(self.open, OpenWord::Word { .. }) {
            self.close();
            self.open = OpenWord::Word { start: self.len as u16 };
        }
        self.len += size;
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a run has some thousand bytes")]
    fn unspaced(&mut self, size: usize) {
        let (start, end) = (self.len as u16, (self.len + size) as u16);
        let paired = match self.open {
            OpenWord::Unspaced { start, .. } => {
                self.words.push(WordSpan { start, end });
                true
            }
            _ => {
                self.close();
                false
            }
        };
        self.open = OpenWord::Unspaced { start, paired };
        self.len += size;
    }

    fn mark(&mut self, size: usize) {
        match self.open {
            OpenWord::Unspaced { .. } => self.unspaced(size),
            OpenWord::Nothing | OpenWord::Word { .. } => self.len += size,
        }
    }

    /// Completes the unfinished word, if there is one.
    #[expect(clippy::cast_possible_truncation, reason = "a run has some thousand bytes")]
    fn close(&mut self) {
        let end = self.len as u16;
        match self.open {
            OpenWord::Nothing | OpenWord::Unspaced { paired: true, .. } => {}
            OpenWord::Word { start } | OpenWord::Unspaced { start, paired: false } => {
                self.words.push(WordSpan { start, end });
            }
        }
        self.open = OpenWord::Nothing;
    }

    /// Cuts words that are too long, including the unfinished word. A cut is between two
    /// characters.
    #[expect(clippy::cast_possible_truncation, reason = "a run has some thousand bytes")]
    fn cut(&mut self) {
        if std::mem::take(&mut self.long) {
            for word in std::mem::take(&mut self.words) {
                let rest = self.cut_word(word);
                self.words.push(rest);
            }
        }
        if let OpenWord::Word { start } = self.open
            && self.len - usize::from(start) > WORD_BYTES_MAX
        {
            let rest = self.cut_word(WordSpan { start, end: self.len as u16 });
            self.open = OpenWord::Word { start: rest.start };
        }
    }

    /// Cuts words from the start of a long word until the rest is short enough, and returns the
    /// rest.
    #[expect(clippy::indexing_slicing, reason = "a byte of a word in the run")]
    #[expect(clippy::cast_possible_truncation, reason = "a run has some thousand bytes")]
    fn cut_word(&mut self, word: WordSpan) -> WordSpan {
        let mut rest = word;
        while rest.len() > WORD_BYTES_MAX {
            let mut end = usize::from(rest.start) + WORD_BYTES_MAX;
            while is_inside(self.lower[end]) {
                end -= 1;
            }
            self.words.push(WordSpan { start: rest.start, end: end as u16 });
            rest.start = end as u16;
        }
        rest
    }
}

/// Returns the number of bytes of a text to read as a block, and the kind of the character after
/// them. The block has whole characters, and excludes the last character of the text.
#[inline]
#[expect(clippy::indexing_slicing, reason = "a byte of the text")]
fn extent(text: &str) -> (usize, CharKind) {
    let bytes = text.as_bytes();
    let mut len = BLOCK.min(bytes.len().saturating_sub(1));
    while len > 0 && is_inside(bytes[len]) {
        len -= 1;
    }
    match bytes.get(len) {
        // All characters below U+0300 are inert.
        Some(0xcc..) => (len, CharKind::of(code_at(bytes, len).0)),
        _ => (len, CharKind::Separator),
    }
}

/// Writes the lower case of a letter, which has the same length.
fn lower_case(code: u32, room: &mut [u8]) {
    if let Some(CharClass::Letter(lower)) = char::from_u32(code).map(CharClass::of) {
        lower.encode_utf8(room);
    }
}
