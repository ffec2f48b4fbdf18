//! Reading the arguments of a benchmark; all of them share this.

/// Arguments that are still to be read.
pub struct Given {
    words: std::vec::IntoIter<String>,
    /// The one that was read last.
    name: String,
}

/// What `read` makes of this process's arguments; or else the end of the process, with the usage.
pub fn read<T>(usage: &str, read: impl FnOnce(&mut Given) -> Result<T, String>) -> T {
    // Cargo adds `--bench`.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if words.iter().any(|word| word == "--help") {
        print!("{usage}");
        std::process::exit(0);
    }
    read(&mut Given { words: words.into_iter(), name: String::new() }).unwrap_or_else(|error| {
        eprintln!("{error}\n\n{usage}");
        std::process::exit(2)
    })
}

impl Given {
    /// The next argument.
    pub fn argument(&mut self) -> Option<String> {
        let name = self.words.next()?;
        self.name.clone_from(&name);
        Some(name)
    }

    /// The value of the argument that was read last.
    pub fn value(&mut self) -> Result<String, String> {
        self.words.next().ok_or(format!("{} needs a value", self.name))
    }

    /// A value that is a number.
    pub fn number(&mut self) -> Result<usize, String> {
        number(&self.value()?)
    }

    /// A value that is several, with commas between them.
    pub fn list<T>(&mut self, item: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
        self.value()?.split(',').map(item).collect()
    }

    /// What is to be done about an argument that is none.
    pub fn unknown<T>(&self) -> Result<T, String> {
        Err(format!("{} is not known", self.name))
    }
}

/// `10_000` as well as `10000`.
pub fn number(text: &str) -> Result<usize, String> {
    text.replace('_', "").parse().map_err(|_| format!("{text:?} is not a number"))
}

/// What was asked for by name.
#[derive(Default)]
pub struct Only(Vec<String>);

impl Only {
    /// Reads names, which must be among those that `exists` knows.
    pub fn add(&mut self, given: &mut Given, exists: impl Fn(&str) -> bool) -> Result<(), String> {
        let name = |name: &str| match exists(name) {
            true => Ok(name.to_owned()),
            false => Err(format!("{name} is not known here")),
        };
        self.0.extend(given.list(name)?);
        Ok(())
    }

    /// Whether it was asked for; if nothing was, what is said of it `otherwise`.
    pub fn wants(&self, name: &str, otherwise: bool) -> bool {
        if self.0.is_empty() { otherwise } else { self.0.iter().any(|wanted| wanted == name) }
    }
}
