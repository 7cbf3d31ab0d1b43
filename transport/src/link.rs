//! The emulated link of link.h in simulated time: `clock.rs` is its clock.

use libc::c_int;

/// Bytes of IPv4's and UDP's headers.
const HEADER_BYTES: usize = 28;

extern "C" {
    fn link_read_trace();
    fn link_down(bytes: c_int) -> i64;
    fn link_up() -> i64;
}

/// Reads the commands `link` and `steps` from standard input; the trace begins now. A wrong command ends the process.
pub fn read_trace() {
    // SAFETY: only this thread uses the link.
    unsafe { link_read_trace() }
}

/// Arrival of a datagram that is sent to the client now; `None` if it is lost or the queue is full.
pub fn down(datagram_bytes: usize) -> Option<i64> {
    // SAFETY: as above.
    let arrives_ns = unsafe { link_down((datagram_bytes + HEADER_BYTES) as c_int) };
    (arrives_ns >= 0).then_some(arrives_ns)
}

/// Arrival of a datagram that is sent to the server now.
pub fn up() -> i64 {
    // SAFETY: as above.
    unsafe { link_up() }
}
