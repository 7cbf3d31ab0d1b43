//! HTTP/3 under a chosen congestion control, for the tier `quic` and for downloads in simulated time. README.md beside
//! `Cargo.toml` has the commands and their output.

mod certificate;
mod clock;
mod congestion;
mod endpoint;
mod link;
mod server;
mod simulate;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    match given.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", listen, congestion, upstream] => server::serve(listen.parse()?, congestion, upstream.parse()?),
        ["simulate", congestion, seconds, seed] => simulate::simulate(congestion, seconds.parse()?, seed.parse()?),
        _ => Err("usage: leo-abr-transport serve <ip:port> <congestion control> <upstream ip:port>\n\
             or leo-abr-transport simulate <congestion control> <seconds> <seed>"
            .into()),
    }
}
