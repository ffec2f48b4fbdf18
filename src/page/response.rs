//! The meaning of an HTTP response to a GET for its page.

/// The parts of a response to a GET that determine the result of the visit.
///
/// Fill in the known fields and leave the other fields: an absent field decides nothing. Archives,
/// JSON lines and crawlers all share the rule in [`meaning`](Self::meaning).
///
/// ```
/// use simkeep::{FetchFailure, Response, ResponseMeaning};
/// let response = Response { status: 301, location: Some("/new"), ..Response::default() };
/// assert_eq!(response.meaning(), ResponseMeaning::Redirect);
/// let cut = Response { status: 200, length: Some(500), received: Some(20), ..Response::default() };
/// assert_eq!(cut.meaning(), ResponseMeaning::Failed(FetchFailure::Incomplete));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Response<'a> {
    /// The status code.
    pub status: u16,
    /// The value of `Location`.
    pub location: Option<&'a str>,
    /// The value of `Content-Range`.
    pub content_range: Option<&'a str>,
    /// The size of the body in bytes, according to `Content-Length`. Leave the size out if a
    /// `Transfer-Encoding` delimits the body (RFC 9112, 6.3).
    pub length: Option<u64>,
    /// The number of received bytes of the body.
    pub received: Option<u64>,
    /// Whether a `Content-Encoding` is declared. Browsers and their archives store an encoded body
    /// decoded, with its original `Content-Length`, so `length` is no evidence, unless no byte
    /// arrived.
    pub is_encoded: bool,
    /// Whether the body is known to be truncated: the connection broke, chunks have no end, or the
    /// archive records a truncation.
    pub is_cut: bool,
}

/// The meaning of a response for its page.
///
/// ```
/// use simkeep::{FetchFailure, Response, ResponseMeaning};
/// let of = |status| Response { status, ..Response::default() }.meaning();
/// assert_eq!(of(200), ResponseMeaning::Content);
/// assert_eq!(of(304), ResponseMeaning::NotModified);
/// assert_eq!(of(410), ResponseMeaning::Gone);
/// assert_eq!(of(503), ResponseMeaning::Failed(FetchFailure::ServerError));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResponseMeaning {
    /// The response has the page's content.
    Content,
    /// 304: the content has not changed.
    NotModified,
    /// 404, 410: the page is gone.
    Gone,
    /// 301, 302, 303, 307, 308 with a target: the page redirects to another URL.
    Redirect,
    /// The visit failed: nothing is known about the content.
    Failed(FetchFailure),
    /// Below 200: the final response is still to come, so the response is not a visit.
    Interim,
}

/// The reason why a visit failed.
///
/// ```
/// use simkeep::{FetchFailure, Response, ResponseMeaning};
/// // The connection broke after 5,000 of 70,000 bytes.
/// let (length, received) = (Some(70_000), Some(5_000));
/// let cut = Response { status: 200, length, received, ..Response::default() };
/// let ResponseMeaning::Failed(failure) = cut.meaning() else { panic!("it was cut") };
/// assert_eq!(failure, FetchFailure::Incomplete);
/// assert_eq!(failure.key(), "incomplete");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FetchFailure {
    /// Any status from 400 to 499 except 404 and 410.
    ClientError,
    /// Any status from 500 on.
    ServerError,
    /// 202, 204, 205: the request succeeded, but the response does not have the page's content.
    NoContent,
    /// 206 with a part of the content, or 226 with a delta.
    Partial,
    /// The body is shorter than declared, or truncated.
    Incomplete,
    /// Another status from 300 to 399, or a redirect without a target.
    NoTarget,
    /// No response: the connection failed, or the source only records that the visit failed.
    NoResponse,
}

impl FetchFailure {
    /// The name of the reason in counts, for example `server-error`.
    pub const fn key(self) -> &'static str {
        match self {
            FetchFailure::ClientError => "client-error",
            FetchFailure::ServerError => "server-error",
            FetchFailure::NoContent => "no-content",
            FetchFailure::Partial => "partial",
            FetchFailure::Incomplete => "incomplete",
            FetchFailure::NoTarget => "no-target",
            FetchFailure::NoResponse => "no-response",
        }
    }
}

impl Response<'_> {
    /// Returns the meaning of the response for its page (RFC 9110, section 15). Takes constant
    /// time.
    ///
    /// - A code that RFC 9110 does not define counts as the first code of its class, as section 15
    ///   requires.
    /// - A code outside 100 to 599 counts as a server error, also required by section 15. Only 0 is
    ///   [`NoResponse`](FetchFailure::NoResponse): crawlers write 0 if no response came.
    /// - 206 is content if its `Content-Range` covers the whole representation (section 14.4).
    /// - 300 offers a choice and does not redirect by itself.
    ///
    /// ```
    /// use simkeep::{Observation, Response, ResponseMeaning, Time};
    /// /// The observation of a page without content.
    /// fn observe<'u>(url: &'u str, response: &Response<'u>) -> Option<Observation<'u>> {
    ///     let time = Time::now();
    ///     match response.meaning() {
    ///         ResponseMeaning::NotModified => Some(Observation::not_modified(url, time)),
    ///         ResponseMeaning::Redirect => Some(Observation::redirect(url, time, response.location?)),
    ///         ResponseMeaning::Gone => Some(Observation::gone(url, time)),
    ///         ResponseMeaning::Failed(_) => Some(Observation::failed(url, time)),
    ///         _ => None,
    ///     }
    /// }
    /// let moved = Response { status: 301, location: Some("/new"), ..Response::default() };
    /// assert!(observe("https://example.com/old", &moved).is_some());
    /// ```
    pub fn meaning(&self) -> ResponseMeaning {
        use ResponseMeaning::{Content, Failed, Gone, Interim, NotModified, Redirect};
        match self.status {
            100..=199 => Interim,
            202 | 204 | 205 => Failed(FetchFailure::NoContent),
            206 if !self.has_all() => Failed(FetchFailure::Partial),
            226 => Failed(FetchFailure::Partial),
            200..=299 if self.is_incomplete() => Failed(FetchFailure::Incomplete),
            200..=299 => Content,
            304 => NotModified,
            301 | 302 | 303 | 307 | 308 if self.has_target() => Redirect,
            300..=399 => Failed(FetchFailure::NoTarget),
            404 | 410 => Gone,
            400..=499 => Failed(FetchFailure::ClientError),
            0 => Failed(FetchFailure::NoResponse),
            _ => Failed(FetchFailure::ServerError),
        }
    }

    fn has_target(&self) -> bool {
        self.location.is_some_and(|location| !location.trim_ascii().is_empty())
    }

    fn is_incomplete(&self) -> bool {
        // A range that covers the whole representation also contains the length of the
        // representation.
        let range = self.content_range.filter(|_| self.status == 206).and_then(whole_range);
        let length = self.length.or(range);
        let is_short = length.zip(self.received).is_some_and(|(length, got)| got < length);
        self.is_cut || (is_short && (!self.is_encoded || self.received == Some(0)))
    }

    /// Whether the received range is the whole representation.
    fn has_all(&self) -> bool {
        self.content_range.and_then(whole_range).is_some()
    }
}

/// The length of the representation, if a `Content-Range` covers the whole representation.
fn whole_range(value: &str) -> Option<u64> {
    let (unit, range) = value.trim_ascii().split_once([' ', '\t', '='])?;
    let (range, length) = range.trim_ascii().split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let number = |text: &str| text.trim_ascii().parse::<u64>().ok();
    let (first, last, length) = (number(first)?, number(last)?, number(length)?);
    let is_whole =
        unit.eq_ignore_ascii_case("bytes") && first == 0 && last.checked_add(1)? == length;
    is_whole.then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ResponseMeaning::{Content, Failed, Gone, Interim, NotModified, Redirect};

    fn of(status: u16) -> Response<'static> {
        Response { status, ..Response::default() }
    }

    #[test]
    fn each_status_has_the_meaning_of_rfc_9110() {
        for (statuses, meaning) in [
            (&[200, 201, 203, 207, 299][..], Content),
            (&[304], NotModified),
            (&[404, 410], Gone),
            (&[202, 204, 205], Failed(FetchFailure::NoContent)),
            (&[206, 226], Failed(FetchFailure::Partial)),
            (&[300, 301, 302, 303, 305, 306, 307, 308, 399], Failed(FetchFailure::NoTarget)),
            (&[400, 401, 403, 408, 429, 451, 499], Failed(FetchFailure::ClientError)),
            (&[500, 503, 599, 600, 999, 99], Failed(FetchFailure::ServerError)),
            (&[0], Failed(FetchFailure::NoResponse)),
            (&[100, 101, 103, 199], Interim),
        ] {
            for status in statuses {
                assert_eq!(of(*status).meaning(), meaning, "{status}");
            }
        }
    }

    #[test]
    fn only_five_statuses_redirect_and_only_with_a_target() {
        for status in 300..400 {
            let is_redirect = [301, 302, 303, 307, 308].contains(&status);
            let with = |location| Response { location: Some(location), ..of(status) }.meaning();
            assert_eq!(with("/x") == Redirect, is_redirect, "{status}");
            assert_ne!(with(" \t"), Redirect, "{status}");
        }
        assert_eq!(Response { location: Some("/x"), ..of(200) }.meaning(), Content);
    }

    #[test]
    fn range_counts_only_if_it_is_complete() {
        for (range, is_whole) in [
            ("bytes 0-99/100", true),
            (" Bytes  0-0/1 ", true),
            ("bytes=0-99/100", true),
            ("bytes 0-98/100", false),
            ("bytes 1-99/100", false),
            ("bytes 0-99/*", false),
            ("bytes */100", false),
            ("items 0-99/100", false),
            ("bytes 0-18446744073709551615/0", false),
            ("bytes 0-/0", false),
            ("", false),
        ] {
            let response = Response { content_range: Some(range), ..of(206) };
            assert_eq!(response.meaning() == Content, is_whole, "{range}");
        }
    }

    #[test]
    fn short_body_fails_unless_it_was_decoded() {
        let short = Response { length: Some(10), received: Some(9), ..of(200) };
        assert_eq!(short.meaning(), Failed(FetchFailure::Incomplete));
        assert_eq!(Response { is_encoded: true, ..short }.meaning(), Content);
        let empty = Response { is_encoded: true, received: Some(0), ..short };
        assert_eq!(empty.meaning(), Failed(FetchFailure::Incomplete));
        assert_eq!(Response { received: Some(10), ..short }.meaning(), Content);
        assert_eq!(Response { received: Some(11), ..short }.meaning(), Content);
        assert_eq!(Response { received: None, ..short }.meaning(), Content);
        let cut = Response { is_cut: true, is_encoded: true, ..of(200) };
        assert_eq!(cut.meaning(), Failed(FetchFailure::Incomplete));
        assert_eq!(Response { status: 404, ..cut }.meaning(), Gone);
        let part = Response { content_range: Some("bytes 0-9/10"), status: 206, ..short };
        assert_eq!(part.meaning(), Failed(FetchFailure::Incomplete));
        assert_eq!(Response { length: None, ..part }.meaning(), part.meaning());
        assert_eq!(Response { length: None, received: Some(10), ..part }.meaning(), Content);
        assert_eq!(Response { length: None, status: 200, ..part }.meaning(), Content);
    }
}
