//! An HTTP/3 server: forwards requests to an HTTP/1.1 server, or gives zeros without an end.

use crate::certificate;
use crate::congestion::Congestion;
use crate::endpoint::{configure, App, Endpoint};
use polling::Poller;
use quiche::h3::{self, Header, NameValue};
use quiche::{Config, Connection, Shutdown};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender, TryRecvError};
use std::sync::Arc;

const PIECE_BYTES: usize = 1 << 16;
/// Pieces that wait between the threads, per response.
const PIECES: usize = 4;
/// HTTP/3 forbids these headers (RFC 9114, section 4.2).
const HOP_BY_HOP: [&str; 4] = ["connection", "keep-alive", "transfer-encoding", "upgrade"];

enum Piece {
    Head(Vec<Header>),
    Body(Vec<u8>),
    End,
}

/// A response on its way. The channel closes without `End` if the other server broke off.
struct Response {
    pieces: Option<Receiver<Piece>>,
    waiting: Piece,
    written: usize,
}

pub struct Server {
    upstream: Option<SocketAddr>,
    poller: Arc<Poller>,
    http: Option<h3::Connection>,
    responses: HashMap<u64, Response>,
}

pub fn serve(listen: SocketAddr, congestion: &str, upstream: SocketAddr) -> Result<(), Box<dyn std::error::Error>> {
    let (config, spki) = server_config(congestion)?;
    let mut endpoint = Endpoint::bind(listen, config)?;
    let poller = endpoint.poller.clone();
    println!("{{\"spki\":\"{spki}\"}}");
    end_with_input();
    loop {
        endpoint.turn(|| Server::new(Some(upstream), poller.clone()))?;
    }
}

/// A configuration with a congestion control and a new certificate, and base64 of SHA-256 of the certificate's key.
pub fn server_config(congestion: &str) -> Result<(Config, String), Box<dyn std::error::Error>> {
    let congestion = Congestion::parse(congestion)?;
    let (tls, spki) = certificate::self_signed()?;
    let mut config = Config::with_boring_ssl_ctx_builder(quiche::PROTOCOL_VERSION, tls)?;
    configure(&mut config)?;
    congestion.apply(&mut config);
    Ok((config, spki))
}

/// Ends the process when its standard input ends, so that it does not outlive its parent.
fn end_with_input() {
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(0);
    });
}

impl Server {
    /// Without `upstream` each response is zeros without an end.
    pub fn new(upstream: Option<SocketAddr>, poller: Arc<Poller>) -> Self {
        Server { upstream, poller, http: None, responses: HashMap::new() }
    }
}

impl App for Server {
    fn progress(&mut self, connection: &mut Connection) {
        if self.http.is_none() && connection.is_established() {
            self.http = h3::Config::new().and_then(|config| h3::Connection::with_transport(connection, &config)).ok();
        }
        let Some(http) = self.http.as_mut() else { return };
        loop {
            match http.poll(connection) {
                Ok((stream, h3::Event::Headers { list, .. })) => {
                    self.responses.insert(stream, respond(&list, self.upstream, &self.poller));
                },
                Ok((stream, h3::Event::Reset(_))) => {
                    self.responses.remove(&stream);
                },
                Ok(_) => (),
                // `Done`, or an error that closes the connection.
                Err(_) => break,
            }
        }
        self.responses.retain(|stream, response| response.write(*stream, http, connection));
    }
}

impl Response {
    /// Writes what fits; returns whether something remains.
    fn write(&mut self, stream: u64, http: &mut h3::Connection, connection: &mut Connection) -> bool {
        loop {
            let result = match &self.waiting {
                Piece::Head(headers) => http.send_response(connection, stream, headers, false).map(|()| usize::MAX),
                Piece::Body(bytes) if self.written < bytes.len() => {
                    http.send_body(connection, stream, &bytes[self.written..], false)
                },
                Piece::Body(_) => Ok(usize::MAX),
                Piece::End => return http.send_body(connection, stream, &[], true) == Err(h3::Error::Done),
            };
            match result {
                Ok(usize::MAX) => {
                    self.written = 0;
                    // Without an upstream, send zeros again.
                    let Some(pieces) = &self.pieces else {
                        self.waiting = Piece::Body(vec![0; PIECE_BYTES]);
                        continue;
                    };
                    self.waiting = match pieces.try_recv() {
                        Ok(piece) => piece,
                        Err(TryRecvError::Empty) => {
                            self.waiting = Piece::Body(Vec::new());
                            return true;
                        },
                        Err(TryRecvError::Disconnected) => {
                            let _ = connection.stream_shutdown(stream, Shutdown::Write, INTERNAL_ERROR);
                            return false;
                        },
                    };
                },
                Ok(written) => self.written += written,
                Err(h3::Error::Done | h3::Error::StreamBlocked) => return true,
                // The client has stopped or reset the stream: the channel closes, and the request to the other server.
                Err(_) => return false,
            }
        }
    }
}

/// H3_INTERNAL_ERROR (RFC 9114, section 8.1).
const INTERNAL_ERROR: u64 = 0x102;

fn respond(request: &[Header], upstream: Option<SocketAddr>, poller: &Arc<Poller>) -> Response {
    let value = |name: &[u8]| {
        let header = request.iter().find(|header| header.name() == name);
        header.map_or("", |header| std::str::from_utf8(header.value()).unwrap_or(""))
    };
    let start = |pieces, status: &str| Response {
        pieces,
        waiting: Piece::Head(vec![Header::new(b":status", status.as_bytes())]),
        written: 0,
    };
    let Some(upstream) = upstream else { return start(None, "200") };
    // HTTP/1.0: the response is not chunked and ends with its connection.
    let mut head = format!("{} {} HTTP/1.0\r\nhost: {}\r\n", value(b":method"), value(b":path"), value(b":authority"));
    for header in request.iter().filter(|header| !header.name().starts_with(b":")) {
        let text = [header.name(), b": ", header.value(), b"\r\n"].concat();
        head.push_str(&String::from_utf8_lossy(&text));
    }
    head.push_str("\r\n");
    let (sender, pieces) = sync_channel(PIECES);
    let poller = poller.clone();
    std::thread::spawn(move || {
        // An error drops the sender without `End`.
        let _ = forward(upstream, &head, &sender, &poller);
        drop(sender);
        let _ = poller.notify();
    });
    Response { pieces: Some(pieces), waiting: Piece::Body(Vec::new()), written: 0 }
}

fn forward(
    upstream: SocketAddr,
    head: &str,
    sender: &SyncSender<Piece>,
    poller: &Poller,
) -> Result<(), Box<dyn std::error::Error>> {
    let give = |piece| -> Result<(), Box<dyn std::error::Error>> {
        sender.send(piece)?;
        Ok(poller.notify()?)
    };
    let mut stream = TcpStream::connect(upstream)?;
    stream.write_all(head.as_bytes())?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let status = line.split(' ').nth(1).ok_or("no status")?;
    let mut headers = vec![Header::new(b":status", status.as_bytes())];
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        let name = name.to_ascii_lowercase();
        if !HOP_BY_HOP.contains(&name.as_str()) {
            headers.push(Header::new(name.as_bytes(), value.as_bytes()));
        }
    }
    give(Piece::Head(headers))?;
    loop {
        let mut piece = vec![0; PIECE_BYTES];
        let length = reader.read(&mut piece)?;
        if length == 0 {
            return give(Piece::End);
        }
        piece.truncate(length);
        give(Piece::Body(piece))?;
    }
}
