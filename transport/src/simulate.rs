//! A download over the emulated link in simulated time: both ends of the connection in this process, without sockets.

use crate::clock;
use crate::endpoint::{configure, new_id, send_due, App, DATAGRAM_BYTES};
use crate::link;
use crate::server::{server_config, Server};
use polling::Poller;
use quiche::h3::{self, Header};
use quiche::{Config, Connection, ConnectionId, RecvInfo};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SAMPLE: Duration = Duration::from_millis(50);
/// The system's timers are no finer.
const TIMER_NS: i64 = 50_000;

/// One end of a connection.
struct End<A> {
    connection: Connection,
    app: A,
    /// When something is due. An arriving datagram sets it to now.
    wakes_ns: i64,
}

/// Datagrams on their way in one direction: arrival and content.
type Way = VecDeque<(i64, Vec<u8>)>;

#[derive(Default)]
struct Download {
    http: Option<h3::Connection>,
    received_bytes: usize,
    buffer: Vec<u8>,
}

pub fn simulate(congestion: &str, seconds: f64, seed: u64) -> Result<(), Box<dyn std::error::Error>> {
    quiche::seed_randomness(seed);
    clock::set(0);
    link::read_trace();
    let start = Instant::now();
    let (mut server, mut client) = connect(congestion)?;
    let end_ns = (seconds * 1e9) as i64;
    let (mut down, mut up): (Way, Way) = Default::default();
    let (mut now_ns, mut samples_at_ns) = (0, SAMPLE.as_nanos() as i64);
    while now_ns < end_ns {
        while let Some(mut datagram) = arrived(&mut down, now_ns) {
            client.receive(&mut datagram);
        }
        while let Some(mut datagram) = arrived(&mut up, now_ns) {
            server.receive(&mut datagram);
        }
        server.turn(now_ns, start, |datagram| {
            if let Some(arrives_ns) = link::down(datagram.len()) {
                down.push_back((arrives_ns, datagram.to_vec()));
            }
        })?;
        client.turn(now_ns, start, |datagram| up.push_back((link::up(), datagram.to_vec())))?;
        let mut next_ns = samples_at_ns.min(server.wakes_ns).min(client.wakes_ns);
        for way in [&down, &up] {
            next_ns = next_ns.min(way.front().map_or(i64::MAX, |(arrives_ns, ..)| *arrives_ns));
        }
        if now_ns >= samples_at_ns {
            samples_at_ns += SAMPLE.as_nanos() as i64;
            sample(&server.connection, now_ns);
        }
        now_ns = next_ns;
        clock::set(now_ns);
    }
    println!("{{\"receivedBits\":{}}}", client.app.received_bytes * 8);
    Ok(())
}

fn nanos_between(start: Instant, at: Instant) -> i64 {
    at.saturating_duration_since(start).as_nanos() as i64
}

fn arrived(way: &mut Way, now_ns: i64) -> Option<Vec<u8>> {
    way.front().filter(|(arrives_ns, ..)| *arrives_ns <= now_ns)?;
    way.pop_front().map(|(_, datagram)| datagram)
}

fn connect(congestion: &str) -> Result<(End<Server>, End<Download>), Box<dyn std::error::Error>> {
    let (server_address, client_address) = addresses();
    let (mut server, _) = server_config(congestion)?;
    let mut client = Config::new(quiche::PROTOCOL_VERSION)?;
    configure(&mut client)?;
    let [server_id, client_id] = [new_id(), new_id()];
    let [server_id, client_id] = [&server_id, &client_id].map(|id| ConnectionId::from_ref(id));
    let server = quiche::accept(&server_id, None, server_address, client_address, &mut server)?;
    let client = quiche::connect(None, &client_id, client_address, server_address, &mut client)?;
    Ok((
        End { connection: server, app: Server::new(None, Arc::new(Poller::new()?)), wakes_ns: 0 },
        End { connection: client, app: Download::default(), wakes_ns: 0 },
    ))
}

fn sample(server: &Connection, now_ns: i64) {
    let Some(path) = server.path_stats().find(|path| path.active && path.min_rtt.is_some()) else { return };
    println!(
        "{{\"seconds\":{:.3},\"rttMs\":{:.3},\"sent\":{},\"lost\":{},\"cwndBytes\":{}}}",
        now_ns as f64 / 1e9,
        path.rtt.as_secs_f64() * 1e3,
        path.sent,
        path.lost,
        path.cwnd
    );
}

/// The server's and the client's address, which no socket has.
fn addresses() -> (SocketAddr, SocketAddr) {
    (SocketAddr::from(([10, 77, 0, 1], 443)), SocketAddr::from(([10, 77, 0, 2], 1024)))
}

impl<A: App> End<A> {
    fn receive(&mut self, datagram: &mut [u8]) {
        let (server, client) = addresses();
        let (from, to) = if self.connection.is_server() { (client, server) } else { (server, client) };
        // quiche decides whether a wrong packet ends the connection or is ignored.
        let _ = self.connection.recv(datagram, RecvInfo { from, to });
        self.wakes_ns = 0;
    }

    /// Does what is due at `now_ns` after `start`.
    fn turn(&mut self, now_ns: i64, start: Instant, mut give: impl FnMut(&[u8])) -> std::io::Result<()> {
        if self.wakes_ns > now_ns {
            return Ok(());
        }
        if self.connection.timeout() == Some(Duration::ZERO) {
            self.connection.on_timeout();
        }
        self.app.progress(&mut self.connection);
        let mut buffer = [0; DATAGRAM_BYTES];
        let releases_at = send_due(&mut self.connection, &mut buffer, |datagram, _| {
            give(datagram);
            Ok(())
        })?;
        let next = [self.connection.timeout_instant(), releases_at].into_iter().flatten().min();
        self.wakes_ns = next.map_or(i64::MAX, |at| nanos_between(start, at).max(now_ns + TIMER_NS));
        Ok(())
    }
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
        self.buffer.resize(1 << 16, 0);
        while let Ok((stream, event)) = http.poll(connection) {
            if let h3::Event::Data = event {
                while let Ok(length) = http.recv_body(connection, stream, &mut self.buffer) {
                    self.received_bytes += length;
                }
            }
        }
    }
}
