//! A web of a few pages, in place of the real one: it needs no network, and every run sees it alike.

/// What a server says.
pub(crate) enum Answer {
    /// Status 200: the text of the page, and where it links to.
    Page(&'static str, &'static [&'static str]),
    /// Status 304.
    NotModified,
    /// Status 404.
    NotFound,
}

/// Where a crawl begins.
pub(crate) const START: &str = "https://example.com/";

const HOME: &str = "Example Books sells old and rare books by post. Read our news, look at this \
    week's offer, or see in the calendar on which days the shop is open.";
const NEWS: &str = "Three boxes of maps have come in from an estate in Trieste. Most are of the \
    Adriatic coast, some are coloured by hand, and none has been offered for sale before.";
const NEWS_OF_DAY_2: &str = "The maps from Trieste were sold within a day, thank you! On Friday we \
    open at noon, because the whole shop goes to see the new reading room of the library.";
const OFFER: &str = "This week only: the complete works of Jean Paul in sixty-five volumes, bound \
    in half leather, two of them with worn corners, for the price of a good pair of shoes.";
const TERMS: &str = "We send books within three days of payment. You may return a book within two \
    weeks if it is not as described, and we refund what you paid including postage. Books that you \
    sell to us are paid when we have looked at them, at the price that we named, or sent back.";
const RULES: &str = "We send books within three days of payment. You may return a book within two \
    weeks if it is not as described, and we refund what you paid including postage. Books that you \
    sell to us are paid when we have looked at them, at the price that we named, or sent back. Thank you.";
const CALENDAR: &str = "The shop is open on Tuesdays, Thursdays and Saturdays from ten to six. Turn \
    to the next month to see whether anything is different there.";

/// Asks for a page on a day.
pub(crate) fn fetch(url: &str, day: i64) -> Answer {
    match (url, day) {
        ("https://example.com/", 1) => Answer::Page(
            HOME,
            &[
                "https://example.com/calendar?month=1",
                "https://example.com/news",
                "https://example.com/offer",
                "https://example.com/terms",
            ],
        ),
        ("https://example.com/", _) => Answer::NotModified,
        ("https://example.com/news", 2) => Answer::Page(NEWS_OF_DAY_2, &[]),
        ("https://example.com/news", _) => Answer::Page(NEWS, &[]),
        ("https://example.com/offer", 1) => Answer::Page(OFFER, &[]),
        ("https://example.com/terms", _) => Answer::Page(TERMS, &["https://example.org/rules"]),
        ("https://example.org/rules", _) => Answer::Page(RULES, &[]),
        // A calendar without end, as there are many: each month links to the next.
        ("https://example.com/calendar?month=1", _) => {
            Answer::Page(CALENDAR, &["https://example.com/calendar?month=2"])
        }
        ("https://example.com/calendar?month=2", _) => {
            Answer::Page(CALENDAR, &["https://example.com/calendar?month=3"])
        }
        _ => Answer::NotFound,
    }
}
