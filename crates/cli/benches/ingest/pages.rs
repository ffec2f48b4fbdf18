//! Pages like those of the web, made up.

use std::fmt::Write as _;

/// Words of the language that the pages are in.
const WORDS: usize = 60_000;

/// Makes pages, the same each time.
pub(crate) struct PageGenerator {
    random: u64,
    words: Vec<String>,
}

impl PageGenerator {
    pub(crate) fn new() -> PageGenerator {
        let mut pages = PageGenerator { random: 1, words: Vec::new() };
        const SYLLABLES: &[&str] = &[
            "an", "ba", "cor", "da", "el", "fi", "gra", "hu", "in", "jo", "ka", "li", "mon", "ne",
            "or", "per", "qua", "ri", "sta", "tu", "ul", "ve", "wen", "xa", "yo", "zi", "ö", "é",
        ];
        for rank in 0..WORDS {
            // Frequent words are short.
            let syllables = 1 + (rank.max(1).ilog2() / 5) as usize;
            let syllables = (0..syllables).map(|_| SYLLABLES[pages.below(SYLLABLES.len())]);
            let word = syllables.collect::<String>();
            pages.words.push(word);
        }
        pages
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) as usize % n
    }

    /// Sentences of about `bytes` bytes, with words drawn by Zipf's law.
    pub(crate) fn text(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 100);
        while text.len() < bytes {
            for place in 0..6 + self.below(12) {
                let share = self.below(1 << 20) as f64 / f64::from(1 << 20);
                let word = &self.words[(WORDS as f64).powf(share) as usize - 1];
                match place {
                    0 => {
                        let mut letters = word.chars();
                        text.extend(letters.next().into_iter().flat_map(char::to_uppercase));
                        text.push_str(letters.as_str());
                    }
                    _ => {
                        text.push(' ');
                        text.push_str(word);
                    }
                }
            }
            text.push_str(". ");
        }
        text
    }

    /// An HTML page of about `bytes` bytes. A bit more than a quarter is text. The rest is scripts,
    /// styles, menus and attributes.
    pub(crate) fn html(&mut self, bytes: usize) -> String {
        let title = self.text(40);
        let mut page = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <title>{title}</title>\n<meta name=\"description\" content=\"{title}\">\n\
             <link rel=\"stylesheet\" href=\"/assets/main-{}.css\">\n<style>\n",
            self.below(1 << 30)
        );
        while page.len() < bytes / 8 {
            let (class, size) = (self.below(1 << 20), self.below(40));
            let _ = writeln!(page, ".c{class:x} {{ margin: {size}px auto; color: #{class:06x}; }}");
        }
        page.push_str("</style>\n<script>\n");
        while page.len() < bytes / 3 {
            let (name, value) = (self.below(1 << 24), self.below(1 << 24));
            let _ = writeln!(
                page,
                "window.f{name:x} = function (e) {{ if (e < {value}) return e.target; return null; }};"
            );
        }
        page.push_str("</script>\n</head>\n<body>\n<nav><ul>\n");
        while page.len() < bytes / 2 {
            let (id, text) = (self.below(1 << 24), self.text(12));
            let _ = writeln!(
                page,
                "<li class=\"menu-item menu-item-{id}\"><a href=\"/{id:x}/index.html\">{text}</a></li>"
            );
        }
        page.push_str("</ul></nav>\n<main>\n");
        while page.len() < bytes {
            let (id, heading) = (self.below(1 << 24), self.text(30));
            let paragraph = self.text(500).replace(". ", ". &amp; ");
            let _ = writeln!(
                page,
                "<h2 id=\"s{id:x}\">{heading}</h2>\n<p class=\"text block-{id}\">{paragraph}\
                 <a href=\"https://site{}.example/{id}\" rel=\"nofollow\"><em>{}</em></a></p>",
                id % 1000,
                self.text(20)
            );
        }
        page.push_str("</main>\n</body>\n</html>\n");
        page
    }
}
