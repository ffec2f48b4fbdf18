//! Runs the programs in other languages that `docs/other-languages.md` shows.

use super::*;

/// The blocks of a language in the document.
fn blocks(language: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/other-languages.md");
    let text = std::fs::read_to_string(path).unwrap();
    let fence = format!("```{language}\n");
    let blocks = text.split(&fence).skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// Runs a program with `simkeep` on the search path; returns `None` if the program is missing.
fn run(place: &TestFolder, program: &[&str]) -> Option<ToolRun> {
    let tool = Path::new(env!("CARGO_BIN_EXE_simkeep"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path =
        std::iter::once(tool.parent().unwrap().to_owned()).chain(std::env::split_paths(&path));
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).env("PATH", std::env::join_paths(path).unwrap());
    let output = command.current_dir(place.dir.path()).stdin(Stdio::null()).output();
    match output {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            println!("skipped: there is no {}", program[0]);
            None
        }
        output => Some(ToolRun::from(output.unwrap())),
    }
}

#[test]
fn shell_pipe_is_answered_line_by_line() {
    for block in blocks("sh") {
        let place = TestFolder::new();
        let ran = run(&place, &["sh", "-c", &block]).unwrap();
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        let lines = ran.objects();
        let verdicts: Vec<_> = lines.iter().map(|line| line["verdict"].as_str()).collect();
        assert_eq!(verdicts, [Some("new"), Some("changed"), None]);
        assert_eq!(lines[2]["entries"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn clients_in_other_languages_work() {
    let programs: [(&str, &str, &[&str], &str); 2] = [
        ("js", "tell.mjs", &["node", "tell.mjs"], "new []\n1\n"),
        ("go", "tell.go", &["go", "run", "tell.go"], "new 0\n"),
    ];
    for (language, file, program, expected) in programs {
        for block in blocks(language) {
            let place = TestFolder::new();
            place.write(file, block);
            let Some(ran) = run(&place, program) else { continue };
            assert_eq!((ran.code, ran.out.as_str()), (0, expected), "{}", ran.err);
        }
    }
}
