//! QUIC connections on one UDP socket in one thread, paced as their congestion control asks.

use polling::{Event, Events, Poller};
use quiche::{Config, Connection, ConnectionId, Header, RecvInfo, Type};
use rustix::net::{recvfrom, sockopt, RecvFlags};
use std::collections::hash_map::{Entry, HashMap};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// UDP payload: with IPv4 and UDP headers 1,378 bytes, as Chromium sends.
pub const DATAGRAM_BYTES: usize = 1350;
/// Bytes that wait in the socket while the machine is busy: 100 ms at 300 Mbit/s.
const SOCKET_BYTES: usize = 1 << 22;
/// Packets due within this time leave together. Late packets would lower the rate, because quiche does not make up for
/// them, so the timer fires before a packet is due.
const QUANTUM: Duration = Duration::from_millis(1);
/// Longer than any outage of a trace.
const IDLE: Duration = Duration::from_secs(600);
const ID_BYTES: usize = 16;

/// What happens on a connection.
pub trait App {
    /// Uses what has arrived and writes what fits.
    fn progress(&mut self, connection: &mut Connection);
}

struct Flow<A> {
    connection: Connection,
    app: A,
}

pub struct Endpoint<A> {
    /// Flows by the client's address; connections do not migrate.
    flows: HashMap<SocketAddr, Flow<A>>,
    /// `notify` ends the wait.
    pub poller: Arc<Poller>,
    socket: UdpSocket,
    local: SocketAddr,
    config: Config,
    datagram: Vec<u8>,
}

/// Settings that both sides share.
pub fn configure(config: &mut Config) -> quiche::Result<()> {
    config.set_application_protos(quiche::h3::APPLICATION_PROTOCOL)?;
    config.set_max_idle_timeout(IDLE.as_millis() as u64);
    config.set_max_recv_udp_payload_size(DATAGRAM_BYTES);
    config.set_max_send_udp_payload_size(DATAGRAM_BYTES);
    // More than bandwidth x delay of any link here.
    config.set_initial_max_data(1 << 25);
    config.set_initial_max_stream_data_bidi_local(1 << 25);
    config.set_initial_max_stream_data_bidi_remote(1 << 20);
    config.set_initial_max_stream_data_uni(1 << 20);
    config.set_max_connection_window(1 << 26);
    config.set_max_stream_window(1 << 26);
    config.set_initial_max_streams_bidi(1000);
    config.set_initial_max_streams_uni(16);
    config.set_disable_active_migration(true);
    Ok(())
}

impl<A: App> Endpoint<A> {
    pub fn bind(address: SocketAddr, config: Config) -> std::io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        // Root may exceed the system's limit, others only reach it.
        let _ = sockopt::set_socket_recv_buffer_size_force(&socket, SOCKET_BYTES)
            .or_else(|_| sockopt::set_socket_recv_buffer_size(&socket, SOCKET_BYTES));
        let poller = Arc::new(Poller::new()?);
        // SAFETY: the socket lives as long as the poller's use in this struct.
        unsafe { poller.add_with_mode(&socket, Event::readable(0), polling::PollMode::Level)? };
        Ok(Endpoint {
            flows: HashMap::new(),
            poller,
            local: socket.local_addr()?,
            socket,
            config,
            datagram: vec![0; 65536],
        })
    }

    /// Receives, lets the applications work, sends, and waits until the next event.
    pub fn turn(&mut self, accept: impl FnMut() -> A) -> std::io::Result<()> {
        self.receive(accept)?;
        let mut wake_at: Option<Instant> = None;
        for flow in self.flows.values_mut() {
            if flow.connection.timeout() == Some(Duration::ZERO) {
                flow.connection.on_timeout();
            }
            flow.app.progress(&mut flow.connection);
            let releases_at = send_due(&mut flow.connection, &mut self.datagram, |datagram, to| {
                // Waits while the interface's queue is full.
                self.socket.send_to(datagram, to).map(|_| ())
            })?;
            wake_at = [wake_at, flow.connection.timeout_instant(), releases_at].into_iter().flatten().min();
        }
        self.flows.retain(|_, flow| !flow.connection.is_closed());
        let wait = wake_at.map(|at| at.saturating_duration_since(Instant::now()));
        self.poller.wait(&mut Events::new(), wait)?;
        Ok(())
    }

    fn receive(&mut self, mut accept: impl FnMut() -> A) -> std::io::Result<()> {
        loop {
            let (length, from) = match recvfrom(&self.socket, &mut self.datagram[..], RecvFlags::DONTWAIT) {
                Ok((length, _, from)) => (length, SocketAddr::try_from(from.expect("UDP has senders"))?),
                Err(rustix::io::Errno::WOULDBLOCK) => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            let Ok(header) = Header::from_slice(&mut self.datagram[..length], ID_BYTES) else { continue };
            let flow = match self.flows.entry(from) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) if header.ty == Type::Initial && quiche::version_is_supported(header.version) => {
                    let id = new_id();
                    let id = ConnectionId::from_ref(&id);
                    let Ok(connection) = quiche::accept(&id, None, self.local, from, &mut self.config) else { continue };
                    new.insert(Flow { connection, app: accept() })
                },
                Entry::Vacant(_) => continue,
            };
            // quiche decides whether a wrong packet ends the connection or is ignored.
            let _ = flow.connection.recv(&mut self.datagram[..length], RecvInfo { from, to: self.local });
        }
    }
}

/// Gives the packets that may leave now. Returns when the next packet may leave, if the pace delays it.
pub fn send_due(
    connection: &mut Connection,
    buffer: &mut [u8],
    mut give: impl FnMut(&[u8], SocketAddr) -> std::io::Result<()>,
) -> std::io::Result<Option<Instant>> {
    loop {
        let now = Instant::now();
        let release = connection.get_next_release_time().and_then(|release| release.time(now));
        if let Some(at) = release.filter(|at| *at > now + QUANTUM) {
            return Ok(Some(at - QUANTUM / 2));
        }
        let Ok((length, info)) = connection.send(&mut buffer[..DATAGRAM_BYTES]) else { return Ok(None) };
        give(&buffer[..length], info.to)?;
    }
}

pub fn new_id() -> Vec<u8> {
    let mut id = vec![0; ID_BYTES];
    boring::rand::rand_bytes(&mut id).expect("random numbers");
    id
}
