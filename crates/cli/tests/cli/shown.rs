//! Commands in README.md and in docs/ print what these pages show.

use std::fs;

use super::*;

/// The blocks with output, each below the command that prints it.
const BLOCK: &str = "```text\n$ ";
/// Marks omitted lines.
const LEFT_OUT: &str = "...";
/// The figures of a report that the picture shows.
const FIGURES: [&str; 4] = [
    "Visits over time",
    "Changes over time",
    "Gone and failed over time",
    "Distance to the previous version",
];
const PICTURE: &str = "docs/report.svg";
/// Pages whose commands use the store of the sample.
const OF_SAMPLE: [&str; 2] = ["README.md", "docs/watch.md"];
/// Pages whose commands make their stores from `examples/`, in order.
const BY_TASK: [&str; 3] = ["docs/crawl.md", "docs/corpus.md", "docs/warc.md"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text_of(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap()
}

/// A folder with the sample as in a clone, and its store.
fn place() -> TestFolder {
    let place = TestFolder::new();
    place.write("examples/terms.jsonl", text_of("examples/terms.jsonl"));
    place.done(&["ingest", "examples/terms.jsonl", "--store", "terms.simkeep"]);
    place
}

/// The commands in a text, each with the lines that it must print.
fn shown(text: &str) -> Vec<(&str, Vec<&str>)> {
    let blocks = text.split(BLOCK).skip(1).map(|rest| rest.split("\n```").next().unwrap());
    let commands = blocks.flat_map(|block| block.split("\n$ "));
    commands.map(|shown| (shown.lines().next().unwrap(), shown.lines().skip(1).collect())).collect()
}

/// Whether the lines match, apart from omitted ones.
fn fits(lines: &[String], shown: &[&str]) -> bool {
    let runs: Vec<&[&str]> = shown.split(|line| *line == LEFT_OUT).collect();
    let mut rest = lines;
    for (at, run) in runs.iter().enumerate() {
        let is_here = |rest: &[String]| {
            rest.starts_with(&run.iter().map(|l| (*l).to_owned()).collect::<Vec<_>>())
        };
        // Only where lines are left out may others come before.
        let from = match at {
            0 => is_here(rest).then_some(0),
            _ if at + 1 == runs.len() => {
                rest.len().checked_sub(run.len()).filter(|from| is_here(&rest[*from..]))
            }
            _ => (0..rest.len()).find(|from| is_here(&rest[*from..])),
        };
        let Some(from) = from else { return false };
        rest = &rest[from + run.len()..];
    }
    runs.len() > 1 || rest.is_empty()
}

/// Runs the commands of a page in a folder, and returns their number.
fn check(place: &TestFolder, file: &str, store: Option<&str>) -> usize {
    let text = text_of(file);
    let commands = shown(&text);
    for (command, lines) in &commands {
        // Progress bars and warnings go to standard error.
        let line = format!("( {command} ) 2>>errors");
        let mut bash = Command::new("script");
        bash.args(["-qec", &line, "/dev/null"]).current_dir(place.path("."));
        bash.envs([("NO_COLOR", "1"), ("TERM", "xterm")]).env("PATH", path_with_tool());
        match store {
            Some(store) => bash.env("SIMKEEP_STORE", store),
            None => bash.env_remove("SIMKEEP_STORE"),
        };
        let Ok(output) = bash.stdin(Stdio::null()).output() else {
            eprintln!("skipped: there is no `script` here");
            return 0;
        };
        let ran = ToolRun::from(output);
        let printed: Vec<String> = ran.out.lines().map(|line| line.trim_end().to_owned()).collect();
        assert!(fits(&printed, lines), "{file}: {command}: {}", printed.join("\n"));
    }
    commands.len()
}

/// The search path, with the folder of the tool first.
fn path_with_tool() -> std::ffi::OsString {
    let tool = Path::new(env!("CARGO_BIN_EXE_simkeep")).parent().unwrap().to_owned();
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths([tool].into_iter().chain(std::env::split_paths(&paths))).unwrap()
}

#[test]
fn documents_show_the_printed_output_of_the_sample() {
    let place = place();
    for file in OF_SAMPLE {
        check(&place, file, Some("terms.simkeep"));
    }
}

#[test]
fn pages_by_task_show_the_printed_output() {
    for file in BY_TASK {
        let place = TestFolder::new();
        for example in fs::read_dir(root().join("examples")).unwrap() {
            let path = example.unwrap().path();
            if path.is_file() {
                let name = format!("examples/{}", path.file_name().unwrap().display());
                place.write(&name, fs::read(&path).unwrap());
            }
        }
        check(&place, file, None);
    }
}

#[test]
fn omitted_lines_are_distinguished_from_different_lines() {
    let lines = ["a", "b", "c", "d"].map(str::to_owned);
    for fitting in
        [&["a", "b", "c", "d"][..], &["a", "...", "d"], &["...", "b", "c", "..."], &["a", "..."]]
    {
        assert!(fits(&lines, fitting), "{fitting:?}");
    }
    for other in [
        &["a", "b", "c"][..],
        &["b", "..."],
        &["...", "b", "d", "..."],
        &["a", "...", "c"],
        &["...", "x"],
    ] {
        assert!(!fits(&lines, other), "{other:?}");
    }
}

/// Runs the commands of the README in a clone with the tool installed.
#[test]
fn readme_commands_run_verbatim() {
    let text = text_of("README.md");
    let section = text.split("## Look around").nth(1).unwrap().split("\n## ").next().unwrap();
    let blocks = section.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let script: String = blocks.collect();
    assert!(script.lines().count() >= 6, "{script}");
    let place = TestFolder::new();
    place.write("examples/terms.jsonl", text_of("examples/terms.jsonl"));
    let mut bash = Command::new("bash");
    bash.args(["-e", "-c", &script]).current_dir(place.path(".")).env("PATH", path_with_tool());
    let ran = ToolRun::from(bash.output().unwrap());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    assert!(place.path("report.html").is_file() && place.path("saved.simkeep").is_dir());
}

/// Some figures of the report of the sample, next to each other.
fn picture() -> String {
    const WIDTH: usize = 380;
    const HEIGHT: usize = 250;
    let place = place();
    place.done(&["report", "-s", "terms.simkeep", "-o", "report.html"]);
    let page = fs::read_to_string(place.path("report.html")).unwrap();
    let style = page.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
    let colours = style.split("* {").next().unwrap().trim();
    let is_of_figures = |line: &&str| {
        [".fill", ".back", ".grid", ".axis", ".mark"].iter().any(|class| line.starts_with(class))
    };
    let rules: Vec<&str> = style.lines().filter(is_of_figures).collect();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\">\n\
         <title>Figures of a report</title>\n<style>\n{colours}\n{}\n\
         text {{ font: 10.5px system-ui, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif; \
         fill: var(--pale); }}\n.title {{ font-size: 14px; font-weight: bold; fill: var(--ink); }}\n\
         .paper {{ fill: var(--paper); }}\n</style>\n\
         <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
        2 * WIDTH,
        2 * HEIGHT,
        rules.join("\n"),
    );
    for (at, title) in FIGURES.iter().enumerate() {
        let figure = page.split(&format!("<h3>{title}</h3>")).nth(1).unwrap();
        let drawing = figure.split("</desc>").nth(1).unwrap().split("</svg>").next().unwrap();
        let (x, y) = (20 + at % 2 * WIDTH, 24 + at / 2 * HEIGHT);
        out += &format!(
            "<text class=\"title\" x=\"{x}\" y=\"{y}\">{title}</text>\n\
             <g transform=\"translate({x} {})\">\n{}\n</g>\n",
            y + 10,
            drawing.replace("><", ">\n<")
        );
    }
    out + "</svg>\n"
}

#[test]
fn picture_of_the_report_matches_the_sample() {
    let shown = text_of(PICTURE);
    assert!(shown.len() < 60 << 10);
    let how =
        "make it anew: cargo test --release -p simkeep-cli --test cli make_picture -- --ignored";
    assert!(shown == picture(), "{PICTURE} shows another report; {how}");
    for file in OF_SAMPLE {
        assert!(text_of(file).contains("report.svg"), "{file}");
    }
}

#[test]
#[ignore = "writes docs/report.svg"]
fn make_picture() {
    fs::write(root().join(PICTURE), picture()).unwrap();
}
