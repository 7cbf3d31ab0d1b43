//! HTTP/3 under a chosen congestion control, for the tier `quic` and for downloads without a browser. README.md beside
//! `Cargo.toml` has the commands and their output.

mod arguments;
mod certificate;
mod client;
mod congestion;
mod endpoint;
mod server;

use arguments::Arguments;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut given = std::env::args().skip(1);
    let command = given.next().unwrap_or_default();
    let arguments = Arguments::parse(given)?;
    match command.as_str() {
        "serve" => server::serve(&arguments),
        "download" => client::download(&arguments),
        _ => Err("usage: leo-abr-transport serve|download --name value ...".into()),
    }
}
