//! Says in plain words why a line is not JSON.

use serde_json::Error;

use super::escape;

/// Returns the reason, with the column in the line.
pub(super) fn not_json(error: &Error) -> String {
    if error.is_eof() {
        return "not valid JSON: the line ends too early".to_owned();
    }
    let column = error.column();
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    let kind = if error.is_syntax() { "not valid JSON" } else { "not the expected JSON" };
    let why = match text {
        "expected ident" => "a string must be in double quotation marks",
        "expected value" => "expected a value; a string must be in double quotation marks",
        "key must be a string" => "a key must be in double quotation marks",
        "trailing comma" => "there is an extra comma",
        "trailing characters" => "there is more text after the object",
        "expected `,` or `}`" => "expected a comma or a closing brace",
        "expected `,` or `]`" => "expected a comma or a closing bracket",
        "expected `:`" | "expected colon" => "expected a colon after the key",
        "control character (\\u0000-\\u001F) found while parsing a string" => {
            "a string contains a control character, such as a tab or a line break; write \\t or \\n instead"
        }
        other => other,
    };
    format!("{kind} at column {column}: {}", escape(why))
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, from_slice};

    use super::*;

    #[test]
    fn reasons_are_in_plain_words() {
        for (line, expected) in [
            ("nonsense", "not valid JSON at column 2: a string must be in double quotation marks"),
            ("{\"a\":x}", "not valid JSON at column 6: expected a value; a string must be in"),
            ("{'a':1}", "not valid JSON at column 2: a key must be in double quotation marks"),
            ("{\"a\":1,}", "not valid JSON at column 8: there is an extra comma"),
            ("{\"a\":1 \"b\":2}", "not valid JSON at column 8: expected a comma or a closing"),
            ("{\"a\" 1}", "not valid JSON at column 6: expected a colon after the key"),
            ("{} {}", "not valid JSON at column 4: there is more text after the object"),
            ("{\"a\":\"\t\"}", "not valid JSON at column 7: a string contains a control character"),
            ("{\"a\":", "not valid JSON: the line ends too early"),
            ("[1]", "not the expected JSON at column 0: invalid type: sequence, expected a map"),
        ] {
            let why = not_json(&from_slice::<Map<String, Value>>(line.as_bytes()).unwrap_err());
            assert!(why.starts_with(expected), "{line}: {why}");
        }
    }
}
