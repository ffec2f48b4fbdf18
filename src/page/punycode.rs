//! Punycode: text as ASCII letters, digits and hyphens (RFC 3492, section 6.3).
//!
//! The ASCII characters of the text come first, unchanged. For each other code point, in ascending
//! order, a number follows: the number of decoder states to skip until the decoder inserts this
//! code point at its position. Only the encoder is needed here.

/// The maximum number of code points in a label to encode. An encoded label in the domain name
/// system has at most 63 bytes, and every code point costs at least one byte. The encoder is
/// quadratic in the number of code points, so it is not used for longer labels, which cannot exist
/// anyway.
pub(super) const CODE_POINTS_MAX: usize = 63;

const BASE: u64 = 36;
const T_MIN: u64 = 1;
const T_MAX: u64 = 26;
const SKEW: u64 = 38;
const DAMP: u64 = 700;
const INITIAL_BIAS: u64 = 72;
const INITIAL_POINT: u64 = 128;

/// Appends the encoding of `label`, its ASCII letters in lower case.
///
/// Meant for at most [`CODE_POINTS_MAX`] code points, but correct for any text that fits in memory:
/// all intermediate numbers are below 2^21 times the number of code points.
pub(super) fn encode(label: &str, out: &mut Vec<u8>) {
    let points = || label.chars().map(|c| u64::from(u32::from(c)));
    let before = out.len();
    out.extend(label.bytes().filter(u8::is_ascii).map(|b| b.to_ascii_lowercase()));
    let basic = (out.len() - before) as u64;
    if basic > 0 {
        out.push(b'-');
    }
    let mut point = INITIAL_POINT;
    let mut bias = INITIAL_BIAS;
    let mut delta = 0;
    let mut done = basic;
    while let Some(next) = points().filter(|p| *p >= point).min() {
        delta += (next - point) * (done + 1);
        for p in points() {
            if p < next {
                delta += 1;
            } else if p == next {
                push_number(delta, bias, out);
                bias = adapt(delta, done + 1, done == basic);
                delta = 0;
                done += 1;
            }
        }
        delta += 1;
        point = next + 1;
    }
}

/// Appends a number in the variable-length base-36 of RFC 3492, section 3.3.
fn push_number(number: u64, bias: u64, out: &mut Vec<u8>) {
    let mut left = number;
    let mut position = BASE;
    loop {
        let threshold = position.saturating_sub(bias).clamp(T_MIN, T_MAX);
        if left < threshold {
            break;
        }
        left -= threshold;
        out.push(digit(threshold + left % (BASE - threshold)));
        left /= BASE - threshold;
        position += BASE;
    }
    out.push(digit(left));
}

/// The bias for the next number (RFC 3492, section 3.4).
fn adapt(delta: u64, points: u64, first: bool) -> u64 {
    let mut delta = if first { delta / DAMP } else { delta / 2 };
    delta += delta / points;
    let mut position = 0;
    while delta > (BASE - T_MIN) * T_MAX / 2 {
        delta /= BASE - T_MIN;
        position += BASE;
    }
    position + (BASE - T_MIN + 1) * delta / (delta + SKEW)
}

/// The digit of a value: `a` to `z` for 0 to 25, `0` to `9` for 26 to 35.
fn digit(value: u64) -> u8 {
    assert!(value < BASE, "a digit is less than the base");
    let value = (value % BASE) as u8;
    if value < 26 { b'a' + value } else { b'0' + (value - 26) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(label: &str) -> String {
        let mut out = Vec::new();
        encode(label, &mut out);
        String::from_utf8(out).unwrap()
    }

    /// RFC 3492, section 6.2, as simple as possible.
    fn decoded(text: &str) -> String {
        let (basic, digits) = text.rsplit_once('-').unwrap_or(("", text));
        let mut output: Vec<char> = basic.chars().collect();
        let (mut point, mut i, mut bias) = (INITIAL_POINT, 0, INITIAL_BIAS);
        let mut digits = digits.bytes().peekable();
        while digits.peek().is_some() {
            let (before, mut weight, mut position) = (i, 1, BASE);
            loop {
                let digit = match digits.next().unwrap() {
                    b @ b'a'..=b'z' => u64::from(b - b'a'),
                    b => u64::from(b - b'0') + 26,
                };
                i += digit * weight;
                let threshold = position.saturating_sub(bias).clamp(T_MIN, T_MAX);
                if digit < threshold {
                    break;
                }
                weight *= BASE - threshold;
                position += BASE;
            }
            let len = output.len() as u64 + 1;
            bias = adapt(i - before, len, before == 0);
            point += i / len;
            i %= len;
            let next = char::from_u32(u32::try_from(point).unwrap()).unwrap();
            output.insert(usize::try_from(i).unwrap(), next);
            i += 1;
        }
        output.into_iter().collect()
    }

    /// The samples of RFC 3492, section 7.1, ASCII in lower case.
    #[test]
    fn samples_of_the_rfc_are_reproduced() {
        for (label, punycode) in [
            ("ليهمابتكلموشعربي؟", "egbpdaj6bu4bxfgehfvwxn"),
            ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"),
            ("他們爲什麽不說中文", "ihqwctvzc91f659drss3x8bo0yb"),
            ("Pročprostěnemluvíčesky", "proprostnemluvesky-uyb24dma41a"),
            ("למההםפשוטלאמדבריםעברית", "4dbcagdahymbxekheh6e0a7fei0b"),
            ("यहलोगहिन्दीक्योंनहींबोलसकतेहैं", "i1baa7eci9glrd9b2ae1bj0hfcgg6iyaf8o0a1dig0cd"),
            ("なぜみんな日本語を話してくれないのか", "n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa"),
            (
                "세계의모든사람들이한국어를이해한다면얼마나좋을까",
                "989aomsvi5e83db1d2a355cv1e0vak1dwrv93d5xbh15a0dt30a5jpsd879ccm6fea98c",
            ),
            ("почемужеонинеговорятпорусски", "b1abfaaepdrnnbgefbadotcwatmq2g4l"),
            (
                "PorquénopuedensimplementehablarenEspañol",
                "porqunopuedensimplementehablarenespaol-fmd56a",
            ),
            ("TạisaohọkhôngthểchỉnóitiếngViệt", "tisaohkhngthchnitingvit-kjcr8268qyxafd2f1b9g"),
            ("3年B組金八先生", "3b-ww4c5e180e575a65lsy2b"),
            ("安室奈美恵-with-SUPER-MONKEYS", "-with-super-monkeys-pc58ag80a8qai00g7n9n"),
            ("Hello-Another-Way-それぞれの場所", "hello-another-way--fc4qua05auwb3674vfr0b"),
            ("ひとつ屋根の下2", "2-u9tlzr9756bt3uc0v"),
            ("MajiでKoiする5秒前", "majikoi5-783gue6qz075azm5e"),
            ("パフィーdeルンバ", "de-jg4avhby1noc0d"),
            ("そのスピードで", "d9juau41awczczp"),
            ("-> $1.00 <-", "-> $1.00 <--"),
        ] {
            assert_eq!(encoded(label), punycode, "{label}");
        }
    }

    #[test]
    fn largest_code_points_do_not_overflow() {
        let far = "\u{10ffff}".repeat(CODE_POINTS_MAX);
        assert_eq!(decoded(&encoded(&far)), far);
        let long = format!("{}\u{10ffff}", "a".repeat(8192));
        assert_eq!(decoded(&encoded(&long)), long);
        assert_eq!(encoded(""), "");
    }

    proptest! {
        #[test]
        fn every_label_round_trips(label in "[^A-Z]{0,63}") {
            prop_assert_eq!(decoded(&encoded(&label)), label);
        }
    }
}
