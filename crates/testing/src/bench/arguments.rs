//! Parses the arguments of a benchmark. All benchmarks use it.

/// The arguments that are not parsed yet.
pub struct RemainingArguments {
    words: std::vec::IntoIter<String>,
    /// The argument that was parsed last.
    name: String,
}

/// Parses the arguments of this process with `read`. On an error, prints the usage and ends the
/// process.
pub fn read<T>(usage: &str, read: impl FnOnce(&mut RemainingArguments) -> Result<T, String>) -> T {
    // Cargo adds `--bench`.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if words.iter().any(|word| word == "--help") {
        print!("{usage}");
        std::process::exit(0);
    }
    read(&mut RemainingArguments { words: words.into_iter(), name: String::new() }).unwrap_or_else(
        |error| {
            eprintln!("{error}\n\n{usage}");
            std::process::exit(2)
        },
    )
}

impl RemainingArguments {
    /// Returns the next argument.
    pub fn argument(&mut self) -> Option<String> {
        let name = self.words.next()?;
        self.name.clone_from(&name);
        Some(name)
    }

    /// Returns the value of the last argument.
    pub fn value(&mut self) -> Result<String, String> {
        self.words.next().ok_or(format!("{} needs a value", self.name))
    }

    /// Returns a value that is a number.
    pub fn number(&mut self) -> Result<usize, String> {
        number(&self.value()?)
    }

    /// Returns a value that is a list separated by commas.
    pub fn list<T>(&mut self, item: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
        self.value()?.split(',').map(item).collect()
    }

    /// Returns the error for an unknown argument.
    pub fn unknown<T>(&self) -> Result<T, String> {
        Err(format!("{} is not known", self.name))
    }
}

/// Parses a number such as `10_000` or `10000`.
pub fn number(text: &str) -> Result<usize, String> {
    text.replace('_', "").parse().map_err(|_| format!("{text:?} is not a number"))
}

/// The items that the user selected by name.
#[derive(Default)]
pub struct NameFilter(Vec<String>);

impl NameFilter {
    /// Parses names, which `exists` must know.
    pub fn add(
        &mut self,
        given: &mut RemainingArguments,
        exists: impl Fn(&str) -> bool,
    ) -> Result<(), String> {
        let name = |name: &str| match exists(name) {
            true => Ok(name.to_owned()),
            false => Err(format!("{name} is not known here")),
        };
        self.0.extend(given.list(name)?);
        Ok(())
    }

    /// Whether an item is selected. If nothing was selected, returns `otherwise`.
    pub fn wants(&self, name: &str, otherwise: bool) -> bool {
        if self.0.is_empty() { otherwise } else { self.0.iter().any(|wanted| wanted == name) }
    }
}
