//! Scratch files on a disk that is full.

use super::backup::on_small_disk;
use super::*;

#[test]
fn full_scratch_disk_leaves_no_files() {
    let place = TestFolder::new();
    let line = |n: u64| {
        let fingerprint = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let url = format!("https://{}.example/{n}", n % 300);
        json!({"url": url, "t": 1, "fingerprint": format!("{fingerprint:016x}")}).to_string() + "\n"
    };
    let file = place.write("pages.jsonl", (0..40_000).map(line).collect::<String>());
    place.done(&["load", &file]);
    let corpus = place.write("corpus.jsonl", "{\"url\":\"https://1.example/1\",\"text\":\"x\"}\n");
    for asked in [
        "cluster",
        "cluster -o clusters.jsonl",
        "cluster --by-page",
        "cluster --balls",
        "cluster --components",
        "cluster --since 1970-01-01",
        "dedup -o plan.jsonl --drop-list drop.txt",
        &format!("dedup --filter {corpus} --to clean"),
        &format!("dedup -k 30 --resemblance 0.8 --filter {corpus} --to clean"),
    ] {
        let script = format!(
            "\"$0\" {asked} --memory 1 --scratch disk >shown; echo $?; find disk -type f; \
             df --output=used disk | tail -1; ls"
        );
        let Some(ran) = on_small_disk(&place, 64, &script) else { return };
        let lines: Vec<&str> = ran.out.lines().map(str::trim).collect();
        assert_eq!(lines[..2], ["5", "0"], "{asked}: {} {}", ran.out, ran.err);
        assert!(ran.err.contains("a scratch file in disk"), "{asked}: {}", ran.err);
        assert!(ran.err.contains("No space left on device"), "{asked}: {}", ran.err);
        let there = ["corpus.jsonl", "disk", "pages.jsonl", "shown", "store"];
        assert_eq!(lines[2..], there, "{asked}: {}", ran.out);
    }
}
