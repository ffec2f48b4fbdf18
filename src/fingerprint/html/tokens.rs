//! Tokenizes a page. A tag decides how the text after it is read.

use html5gum::emitters::callback::{Callback, CallbackEmitter, CallbackEvent};
use html5gum::{Emitter, ForwardingEmitter, Span, State, Tokenizer, naive_next_state};

/// A consumer of tokens.
pub(in crate::fingerprint) trait TokenSink {
    fn take(&mut self, event: &CallbackEvent<'_>);

    /// Whether the position is in foreign content.
    fn is_foreign(&self) -> bool;

    /// Whether this reader needs no more tokens.
    fn is_done(&self) -> bool {
        false
    }
}

/// Signals that a reader needs no more tokens.
struct StopTokens;

/// Passes the tokens of a page to a reader until the reader is done. Invalid UTF-8 is passed
/// unchanged.
pub(in crate::fingerprint) fn read<R: TokenSink>(html: &[u8], reader: &mut R) {
    let reading = SinkEmitter { reader, name: Vec::new(), next: None };
    let emitter = StateSwitchingEmitter(CallbackEmitter::new(reading));
    // The iterator has at most one item, which means that the reader is done.
    Tokenizer::new_with_emitter(html, emitter).next();
}

struct SinkEmitter<'r, R> {
    reader: &'r mut R,
    /// The name of the last start tag.
    name: Vec<u8>,
    /// The state in which the tokenizer continues.
    next: Option<State>,
}

impl<R: TokenSink> Callback<StopTokens, ()> for SinkEmitter<'_, R> {
    fn handle_event(&mut self, event: CallbackEvent<'_>, _: Span<()>) -> Option<StopTokens> {
        self.reader.take(&event);
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.name.clear();
                self.name.extend_from_slice(name);
            }
            // The content of scripts and similar elements is not markup, but foreign content is
            // always markup.
            CallbackEvent::CloseStartTag { .. } if !self.reader.is_foreign() => {
                self.next = match self.name.as_slice() {
                    b"noframes" => Some(State::RawText),
                    name => naive_next_state(name),
                };
            }
            _ => {}
        }
        self.reader.is_done().then_some(StopTokens)
    }
}

/// An emitter that switches the tokenizer's state as far as the text requires.
struct StateSwitchingEmitter<'r, R: TokenSink>(CallbackEmitter<SinkEmitter<'r, R>, StopTokens>);

impl<R: TokenSink> ForwardingEmitter for StateSwitchingEmitter<'_, R> {
    type Token = StopTokens;

    fn inner(&mut self) -> &mut impl Emitter<Token = StopTokens> {
        &mut self.0
    }

    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        // The inner emitter never switches the state.
        self.0.emit_current_tag().or(self.0.callback_mut().next.take())
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.0.callback_mut().reader.is_foreign()
    }
}
