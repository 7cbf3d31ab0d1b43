//! HTTP/3 under a chosen congestion control, for the tier `quic` and for downloads in simulated time. README.md beside
//! `Cargo.toml` has the commands and their output.

mod arguments;
mod certificate;
mod clock;
mod congestion;
mod endpoint;
mod link;
mod server;
mod simulate;

use arguments::Arguments;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut given = std::env::args().skip(1);
    let command = given.next().unwrap_or_default();
    let arguments = Arguments::parse(given)?;
    match command.as_str() {
        "serve" => server::serve(&arguments),
        "simulate" => simulate::simulate(&arguments),
        _ => Err("usage: leo-abr-transport serve|simulate --name value ...".into()),
    }
}
