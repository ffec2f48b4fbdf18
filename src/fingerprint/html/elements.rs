//! The treatment of each element.

/// Whether the content of an element is not shown as text.
pub(super) fn is_unseen(name: &[u8]) -> bool {
    matches!(
        name,
        b"script"
            | b"style"
            | b"template"
            | b"noscript"
            | b"svg"
            | b"math"
            | b"iframe"
            | b"object"
            | b"audio"
            | b"video"
            | b"canvas"
            | b"noembed"
            | b"noframes"
    )
}

/// Whether an element can be in the head of a page. The start tag of any other element ends the head
/// (WHATWG, *HTML*, 13.2.6.4.4, 13.2.6.4.6).
pub(super) fn is_of_head(name: &[u8]) -> bool {
    matches!(
        name,
        b"html"
            | b"head"
            | b"base"
            | b"basefont"
            | b"bgsound"
            | b"link"
            | b"meta"
            | b"title"
            | b"noscript"
            | b"noframes"
            | b"style"
            | b"script"
            | b"template"
    )
}

/// Whether an end tag ends the head. Other end tags without an element are ignored there.
pub(super) fn ends_head(name: &[u8]) -> bool {
    matches!(name, b"body" | b"html" | b"br")
}

/// Whether an element has no content.
pub(in crate::fingerprint) fn is_void(name: &[u8]) -> bool {
    matches!(
        name,
        b"area"
            | b"base"
            | b"br"
            | b"col"
            | b"embed"
            | b"hr"
            | b"img"
            | b"input"
            | b"link"
            | b"meta"
            | b"param"
            | b"source"
            | b"track"
            | b"wbr"
            | b"frame"
            | b"bgsound"
    )
}

/// Whether an element starts and ends a line. Elements that end a paragraph do, except cells, and
/// some others.
pub(super) fn is_break(name: &[u8]) -> bool {
    (ends_paragraph(name) && !is_cell(name))
        || matches!(
            name,
            b"body"
                | b"br"
                | b"button"
                | b"frameset"
                | b"head"
                | b"html"
                | b"legend"
                | b"optgroup"
                | b"option"
                | b"select"
                | b"textarea"
                | b"title"
        )
}

/// Whether an element ends an open paragraph at its start. Table parts do, because they end the
/// cell that contains the paragraph.
pub(super) fn ends_paragraph(name: &[u8]) -> bool {
    matches!(
        name,
        b"address"
            | b"article"
            | b"aside"
            | b"blockquote"
            | b"caption"
            | b"center"
            | b"dd"
            | b"details"
            | b"dialog"
            | b"dir"
            | b"div"
            | b"dl"
            | b"dt"
            | b"fieldset"
            | b"figcaption"
            | b"figure"
            | b"footer"
            | b"form"
            | b"h1"
            | b"h2"
            | b"h3"
            | b"h4"
            | b"h5"
            | b"h6"
            | b"header"
            | b"hgroup"
            | b"hr"
            | b"li"
            | b"listing"
            | b"main"
            | b"menu"
            | b"nav"
            | b"ol"
            | b"p"
            | b"plaintext"
            | b"pre"
            | b"search"
            | b"section"
            | b"summary"
            | b"table"
            | b"tbody"
            | b"td"
            | b"tfoot"
            | b"th"
            | b"thead"
            | b"tr"
            | b"ul"
            | b"xmp"
    )
}

/// Whether elements are shown side by side.
pub(super) fn is_cell(name: &[u8]) -> bool {
    matches!(name, b"td" | b"th" | b"input" | b"img" | b"rt" | b"rp" | b"label")
}

/// Whether an element always has an end tag and may contain elements that need no end tag.
pub(super) fn is_container(name: &[u8]) -> bool {
    matches!(
        name,
        b"article"
            | b"aside"
            | b"blockquote"
            | b"button"
            | b"details"
            | b"dialog"
            | b"div"
            | b"dl"
            | b"fieldset"
            | b"figure"
            | b"footer"
            | b"form"
            | b"header"
            | b"main"
            | b"menu"
            | b"nav"
            | b"object"
            | b"ol"
            | b"section"
            | b"select"
            | b"table"
            | b"ul"
    )
}

/// Whether the end of an element also ends the elements left open in it.
pub(super) fn is_parent(name: &[u8]) -> bool {
    is_container(name)
        || matches!(name, b"body" | b"html" | b"tr" | b"tbody" | b"thead" | b"tfoot" | b"optgroup")
}

/// Whether the end tag of an element may be omitted.
pub(super) fn may_stay_open(name: &[u8]) -> bool {
    matches!(
        name,
        b"p" | b"li"
            | b"dt"
            | b"dd"
            | b"option"
            | b"optgroup"
            | b"tr"
            | b"td"
            | b"th"
            | b"thead"
            | b"tbody"
            | b"tfoot"
    )
}
