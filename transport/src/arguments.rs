//! The arguments of a command: `--name value`, each once.

use std::collections::HashMap;

pub struct Arguments(HashMap<String, String>);

impl Arguments {
    pub fn parse(given: impl Iterator<Item = String>) -> Result<Self, String> {
        let given: Vec<String> = given.collect();
        let pairs = given.chunks(2).map(|pair| match pair {
            [name, value] if name.starts_with("--") => Ok((name[2..].to_string(), value.clone())),
            other => Err(format!("expected --name value, got \"{}\"", other.join(" "))),
        });
        pairs.collect::<Result<_, _>>().map(Arguments)
    }

    pub fn required(&self, name: &str) -> Result<&str, String> {
        self.0.get(name).map(String::as_str).ok_or_else(|| format!("--{name} is missing"))
    }
}
