//! Writes requests as a configuration of curl.

use std::io::{self, Write};

use simkeep::Page;

/// Writes the requests for pages in the format of `curl --config`.
///
/// URLs come from strangers, so curl may use HTTP only: a redirect must not read a file of this
/// computer.
#[derive(Default)]
pub(super) struct CurlRequests {
    is_started: bool,
}

impl CurlRequests {
    /// Writes the request for a page. Leaves out a page that is not on the web.
    pub(super) fn write(&mut self, page: &Page, to: &mut impl Write) -> io::Result<()> {
        let scheme = page.url.split_once(':').map(|(scheme, _)| scheme);
        let is_web = scheme.is_some_and(|scheme| {
            ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web))
        });
        if !is_web {
            return Ok(());
        }
        // The options of a request end at "next".
        if self.is_started {
            to.write_all(b"next\n")?;
        }
        self.is_started = true;
        to.write_all(b"proto = \"=http,https\"\ngloboff\ninclude\n")?;
        line(b"url", page.url.as_bytes(), to)?;
        for (name, value) in page.conditional_headers() {
            line(b"header", &[name.as_bytes(), b": ", &value].concat(), to)?;
        }
        Ok(())
    }
}

/// Writes an option with a value in quotes.
fn line(option: &[u8], value: &[u8], to: &mut impl Write) -> io::Result<()> {
    to.write_all(option)?;
    to.write_all(b" = \"")?;
    for byte in value {
        match byte {
            b'"' | b'\\' => to.write_all(&[b'\\', *byte])?,
            b'\t' => to.write_all(b"\\t")?,
            b'\n' => to.write_all(b"\\n")?,
            b'\r' => to.write_all(b"\\r")?,
            _ => to.write_all(&[*byte])?,
        }
    }
    to.write_all(b"\"\n")
}
