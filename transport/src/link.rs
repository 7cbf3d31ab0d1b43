//! The emulated link of link.h in simulated time: `clock.rs` is its clock.

use libc::c_int;

/// Of IPv4 and UDP.
const HEADER_BYTES: usize = 28;

extern "C" {
    fn link_read_trace();
    fn link_down(bytes: c_int) -> i64;
    fn link_up() -> i64;
}

/// Reads the commands `link` and `steps` from standard input; the trace begins now. Ends the process if one is wrong.
pub fn read_trace() {
    // SAFETY: the link is not used by another thread.
    unsafe { link_read_trace() }
}

/// When a datagram for the client arrives that is sent now; `None`: it is lost, or the queue is full.
pub fn down(datagram_bytes: usize) -> Option<i64> {
    // SAFETY: as above.
    let arrives_ns = unsafe { link_down((datagram_bytes + HEADER_BYTES) as c_int) };
    (arrives_ns >= 0).then_some(arrives_ns)
}

/// When a datagram for the server arrives that is sent now.
pub fn up() -> i64 {
    // SAFETY: as above.
    unsafe { link_up() }
}
