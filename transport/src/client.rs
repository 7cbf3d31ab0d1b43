//! Downloads for a time on some connections; prints what each has received.

use crate::arguments::Arguments;
use crate::endpoint::{configure, App, Endpoint};
use quiche::h3::{self, Header};
use quiche::Connection;
use std::time::{Duration, Instant};

const SAMPLE: Duration = Duration::from_millis(100);

#[derive(Default)]
struct Download {
    http: Option<h3::Connection>,
    received: usize,
}

pub fn download(arguments: &Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let to = arguments.required("to")?.parse()?;
    let seconds: f64 = arguments.required("seconds")?.parse()?;
    let flows: usize = arguments.optional("flows").unwrap_or("1").parse()?;
    let mut config = quiche::Config::new(quiche::PROTOCOL_VERSION)?;
    configure(&mut config)?;
    let mut endpoint = Endpoint::bind("0.0.0.0:0".parse()?, config)?;
    for _ in 0..flows {
        endpoint.connect(to, Download::default())?;
    }
    let began = Instant::now();
    let mut sampled_at = began;
    while began.elapsed().as_secs_f64() < seconds {
        endpoint.turn(sampled_at + SAMPLE, || None)?;
        if sampled_at.elapsed() < SAMPLE {
            continue;
        }
        sampled_at = Instant::now();
        if endpoint.flows.len() < flows {
            return Err("the server has closed a connection".into());
        }
        for (number, flow) in &endpoint.flows {
            let seconds = flow.began.elapsed().as_secs_f64();
            println!("{{\"flow\":{number},\"seconds\":{seconds:.3},\"receivedBits\":{}}}", flow.app.received * 8);
        }
    }
    for flow in endpoint.flows.values_mut() {
        let _ = flow.connection.close(true, 0x100, b"");
    }
    endpoint.turn(Instant::now(), || None)?;
    Ok(())
}

impl App for Download {
    fn progress(&mut self, connection: &mut Connection) {
        if self.http.is_none() && connection.is_established() {
            let http = h3::Config::new().and_then(|config| h3::Connection::with_transport(connection, &config));
            self.http = http.ok();
            let request = [(":method", "GET"), (":scheme", "https"), (":authority", "leo-abr"), (":path", "/bytes")];
            let request = request.map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes()));
            let _ = self.http.as_mut().map(|http| http.send_request(connection, &request, true));
        }
        let Some(http) = self.http.as_mut() else { return };
        let mut buffer = vec![0; 1 << 16];
        while let Ok((stream, event)) = http.poll(connection) {
            if let h3::Event::Data = event {
                while let Ok(length) = http.recv_body(connection, stream, &mut buffer) {
                    self.received += length;
                }
            }
        }
    }
}
