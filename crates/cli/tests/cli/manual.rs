//! `completions` and `man`.

use super::*;

/// Runs a program that may not be there.
fn ran(program: &str, args: &[&str]) -> Option<Output> {
    let output = Command::new(program).args(args).env("LC_ALL", "C.UTF-8").output();
    if output.is_err() {
        eprintln!("skipped: there is no {program}");
    }
    output.ok()
}

#[test]
fn each_verb_has_a_valid_man_page() {
    let place = TestFolder::new();
    let said = place.done(&["man", "--to", "man1"]);
    let names: Vec<String> = files(&place.path("man1"))
        .iter()
        .map(|(path, ..)| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(said, format!("{} pages in man1\n", names.len()));
    for name in ["simkeep.1", "simkeep-history.1", "simkeep-inspect-page.1", "simkeep-df-build.1"] {
        assert!(names.iter().any(|found| found == name), "{name} of {names:?}");
    }
    assert!(!names.iter().any(|name| name.contains("help")), "{names:?}");
    let page = place.path("man1/simkeep-history.1");
    assert!(std::fs::read_to_string(&page).unwrap().contains("\\-\\-at"));
    for name in &names {
        let path = place.file(&format!("man1/{name}"));
        let Some(shown) = ran("man", &["--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", &path])
        else {
            return;
        };
        assert!(shown.status.success(), "{name}");
        assert_eq!(String::from_utf8(shown.stderr).unwrap(), "", "{name}");
    }
    // By itself the first one is printed.
    let first = std::fs::read_to_string(place.path("man1/simkeep.1")).unwrap();
    assert_eq!(place.done(&["man"]), first);
}

/// Each shell reads its script, and bash completes by it.
#[test]
fn shells_accept_their_completions() {
    let place = TestFolder::new();
    for (shell, check) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        let script = place.done(&["completions", shell]);
        for word in ["history", "--at", "inspect"] {
            assert!(script.contains(word.trim_start_matches('-')), "{word} for {shell}");
        }
        let path = place.write(shell, script);
        if let Some(read) = ran(shell, &[check, &path]) {
            assert!(read.status.success(), "{shell}: {}", String::from_utf8_lossy(&read.stderr));
        }
    }
    let path = place.file("bash");
    let ask = format!(
        "source '{path}'; COMP_WORDS=(simkeep hist); COMP_CWORD=1; \
         _simkeep simkeep hist simkeep; echo \"${{COMPREPLY[@]}}\""
    );
    if let Some(completed) = ran("bash", &["-c", &ask]) {
        assert_eq!(String::from_utf8(completed.stdout).unwrap(), "history\n");
    }
}
