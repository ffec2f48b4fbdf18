//! The word at the end of what was read, of any script.

use super::classes::Class;
use super::words::{Take, WORD_BYTES_MAX};

/// A word that may go on.
#[derive(Clone, Debug)]
pub(super) struct Tail {
    /// Whether scripts without spaces are taken like others.
    runs: bool,
    /// In lower case; in a script without spaces the last character.
    word: Vec<u8>,
    /// Where it begins in the text.
    at: usize,
    /// Whether it is of a script without spaces, and whether it was part of a pair.
    unspaced: bool,
    paired: bool,
}

impl Tail {
    pub(super) fn new(runs: bool) -> Tail {
        let word = Vec::with_capacity(WORD_BYTES_MAX);
        Tail { runs, word, at: 0, unspaced: false, paired: false }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.word.is_empty()
    }

    pub(super) fn is_unspaced(&self) -> bool {
        self.unspaced
    }

    /// Takes the next character of the text, which stands at this offset.
    pub(super) fn character(&mut self, c: char, at: usize, take: &mut impl Take) {
        let mut utf8 = [0; 4];
        match Class::of(c) {
            Class::Separator => self.close(take),
            Class::Ignored => {}
            Class::Mark if self.word.is_empty() => {}
            Class::Mark if self.unspaced => self.pair(c, at, take),
            Class::Mark => self.letters(c.encode_utf8(&mut utf8).as_bytes(), at, take),
            Class::Unspaced if !self.runs => {
                if !self.unspaced {
                    self.close(take);
                    self.unspaced = true;
                }
                self.pair(c, at, take);
            }
            Class::Unspaced => self.letters(c.encode_utf8(&mut utf8).as_bytes(), at, take),
            Class::Letter(lower) => {
                if self.unspaced {
                    self.close(take);
                }
                self.letters(lower.encode_utf8(&mut utf8).as_bytes(), at, take);
            }
        }
    }

    /// Appends to the word, which is cut where it gets too long: between characters.
    pub(super) fn letters(&mut self, letters: &[u8], at: usize, take: &mut impl Take) {
        let (mut letters, mut at) = (letters, at);
        if self.word.is_empty() {
            self.at = at;
        }
        while self.word.len() + letters.len() > WORD_BYTES_MAX {
            // Several bytes are ASCII, or they are one character, which goes on whole.
            let room = if letters.is_ascii() { WORD_BYTES_MAX - self.word.len() } else { 0 };
            let (fit, rest) = letters.split_at(room);
            self.word.extend_from_slice(fit);
            take.word(&self.word, self.at);
            self.word.clear();
            at += fit.len();
            (letters, self.at) = (rest, at);
        }
        self.word.extend_from_slice(letters);
    }

    /// Takes a character of a script without spaces.
    fn pair(&mut self, c: char, at: usize, take: &mut impl Take) {
        let before = self.word.len();
        self.word.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        if before > 0 {
            take.word(&self.word, self.at);
            self.word.drain(..before);
            self.paired = true;
        }
        self.at = at;
    }

    /// Gives the word, if there is one.
    pub(super) fn close(&mut self, take: &mut impl Take) {
        if !self.word.is_empty() && !self.paired {
            take.word(&self.word, self.at);
        }
        self.word.clear();
        (self.unspaced, self.paired) = (false, false);
    }
}
