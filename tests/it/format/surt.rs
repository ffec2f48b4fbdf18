//! SURT keys, ranges of prefixes and stores of pages, computed according to `format/surt.md`.

use super::dumps;

/// The key of a URL.
pub(crate) fn key(url: &str) -> Vec<u8> {
    let scheme_end = url.find(':').filter(|&end| {
        let scheme = &url.as_bytes()[..end];
        scheme.first().is_some_and(u8::is_ascii_alphabetic)
            && scheme.iter().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(b))
    });
    let (scheme, rest) = match scheme_end {
        Some(end) => (url[..end].to_ascii_lowercase(), &url[end + 1..]),
        None => (String::new(), url),
    };
    let mut out = Vec::new();
    let after = rest.strip_prefix("//").filter(|_| !scheme.is_empty() && scheme != "file");
    let path_at = |text: &str| text.find(['/', '?', '#']).unwrap_or(text.len());
    if let Some(after) = after.filter(|text| path_at(text) > 0) {
        let (authority, path) = after.split_at(path_at(after));
        let (user, host) = match authority.rfind('@') {
            Some(at) => (Some(&authority[..at]), &authority[at + 1..]),
            None => (None, authority),
        };
        let (host, port) = split_port(host);
        let default = matches!((scheme.as_str(), port), ("http", "80") | ("https", "443"));
        push_host(&mut out, host);
        out.push(1);
        if !default {
            out.extend_from_slice(port.as_bytes());
        }
        if let Some(user) = user {
            out.push(b'@');
            out.extend_from_slice(user.as_bytes());
        }
        out.push(1);
        if !path.starts_with('/') {
            out.push(4);
        }
        out.extend(path.bytes().map(boundary));
        out.push(1);
        out.extend_from_slice(scheme.as_bytes());
    } else {
        out.push(0xff);
        out.extend_from_slice(scheme.as_bytes());
        out.push(1);
        let colon = if rest.starts_with('/') { b':' } else { 5 };
        out.extend(rest.bytes().map(|b| if b == b':' { colon } else { boundary(b) }));
    }
    out
}

fn split_port(host: &str) -> (&str, &str) {
    let Some(at) = host.rfind(':') else { return (host, "") };
    let (before, port) = (&host[..at], &host[at + 1..]);
    let bracketed = before.starts_with('[') && !before.ends_with(']');
    if bracketed || !port.bytes().all(|b| b.is_ascii_digit()) {
        return (host, "");
    }
    let digits = port.trim_start_matches('0');
    (before, if digits.is_empty() && !port.is_empty() { "0" } else { digits })
}

fn push_host(out: &mut Vec<u8>, host: &str) {
    let host = host.strip_suffix('.').unwrap_or(host);
    let parts: Vec<&str> = host.split('.').collect();
    let number = |p: &&str| {
        (1..=3).contains(&p.len())
            && p.bytes().all(|b| b.is_ascii_digit())
            && p.parse::<u32>().unwrap() < 256
    };
    let address = host.starts_with('[') && host.ends_with(']')
        || parts.len() == 4 && parts.iter().all(number);
    if address {
        out.extend(host.bytes().map(|b| b.to_ascii_lowercase()));
        return;
    }
    for (i, label) in parts.iter().rev().enumerate() {
        if i > 0 {
            out.push(2);
        }
        let chars: Vec<char> = label.chars().collect();
        if label.is_ascii() || chars.len() > 63 || host.len() > 1012 {
            out.extend(label.bytes().map(|b| b.to_ascii_lowercase()));
        } else {
            out.extend_from_slice(b"xn--");
            out.extend_from_slice(punycode(&chars).as_bytes());
        }
    }
}

fn boundary(byte: u8) -> u8 {
    match byte {
        b'#' => 2,
        b'?' => 3,
        b'/' => 4,
        _ => byte,
    }
}

/// RFC 3492, section 6.3.
fn punycode(label: &[char]) -> String {
    let mut out: String =
        label.iter().filter(|c| c.is_ascii()).map(char::to_ascii_lowercase).collect();
    let basic = out.len() as u64;
    if basic > 0 {
        out.push('-');
    }
    let points: Vec<u64> = label.iter().map(|c| u64::from(u32::from(*c))).collect();
    let (mut n, mut delta, mut bias, mut handled) = (128, 0, 72, basic);
    while handled < points.len() as u64 {
        let next = *points.iter().filter(|p| **p >= n).min().unwrap();
        delta += (next - n) * (handled + 1);
        n = next;
        for &point in &points {
            if point < n {
                delta += 1;
            }
            if point == n {
                let mut q = delta;
                for k in (36..).step_by(36) {
                    let t = if k <= bias { 1 } else { (k - bias).min(26) };
                    let digit = if q < t { q } else { t + (q - t) % (36 - t) };
                    out.push(char::from(b"abcdefghijklmnopqrstuvwxyz0123456789"[digit as usize]));
                    if q < t {
                        break;
                    }
                    q = (q - t) / (36 - t);
                }
                delta = if handled == basic { delta / 700 } else { delta / 2 };
                delta += delta / (handled + 1);
                let mut k = 0;
                while delta > 455 {
                    delta /= 35;
                    k += 36;
                }
                bias = k + 36 * delta / (delta + 38);
                delta = 0;
                handled += 1;
            }
        }
        delta += 1;
        n += 1;
    }
    out
}

/// Whether a key is in the range of a prefix.
pub(crate) fn covers(prefix: &[u8], key: &[u8]) -> bool {
    let mut end = prefix.to_vec();
    let ends = prefix.iter().filter(|b| **b == 1).count();
    let last = *prefix.last().unwrap();
    if prefix[0] != 0xff && ends == 1 {
        // A domain includes its subdomains.
        *end.last_mut().unwrap() = 3;
    } else {
        let rest_at = prefix.iter().rposition(|b| *b == 1).unwrap() + 1;
        let past = if prefix[0] == 0xff && prefix[rest_at] != 4 { 6 } else { 5 };
        if last < past {
            *end.last_mut().unwrap() = last + 1;
        } else {
            end.push(past);
        }
    }
    prefix <= key && key < &end[..]
}

/// Returns the number of the store, out of `stores`, to which a URL belongs.
pub(crate) fn store_of(url: &str, stores: u64) -> u64 {
    let key = key(url);
    let host = key.split(|byte| *byte == 1).next().unwrap();
    let (mut state, mut place, mut next) = (xxhash_rust::xxh3::xxh3_64(host), 0, 0);
    while next < stores {
        place = next;
        state = state.wrapping_mul(2862933555777941757).wrapping_add(1);
        // With floating-point numbers, as in the paper of Lamping and Veach.
        let drawn = ((state >> 33) + 1) as f64 / f64::from(1_u32 << 31);
        next = ((place + 1) as f64 / drawn) as u64;
    }
    place
}

#[test]
fn surt_keys_in_the_page_follow_the_rules() {
    let text = std::fs::read_to_string(dumps::page("surt.md")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix("` |"));
    let mut keys = 0;
    for (url, in_page) in rows.filter_map(|row| row.split_once("` | `")) {
        let mut shown = String::new();
        for byte in key(url) {
            match byte {
                0x00..0x20 | 0x80.. => shown.push_str(&format!("<{byte:02X}>")),
                _ => shown.push(char::from(byte)),
            }
        }
        assert_eq!(shown, in_page, "{url}");
        keys += 1;
    }
    assert!(keys > 10);
}

#[test]
fn store_numbers_in_the_page_follow_the_rules() {
    let text = std::fs::read_to_string(dumps::page("surt.md")).unwrap();
    let mut rows = 0;
    for row in text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | ")) {
        let (url, stores) = row;
        let shown: Vec<u64> = stores.split('|').filter_map(|of| of.trim().parse().ok()).collect();
        if shown.len() == 4 {
            assert_eq!([2, 3, 16, 1000].map(|of| store_of(url, of)), shown[..], "{url}");
            let of = |of| simkeep::route(url, std::num::NonZeroU32::new(of).unwrap());
            assert_eq!([2, 3, 16, 1000].map(|count| u64::from(of(count))), shown[..], "{url}");
            rows += 1;
        }
    }
    assert!(rows > 5);
}
