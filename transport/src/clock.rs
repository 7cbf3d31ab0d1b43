//! Simulated time. With it `Instant::now()` returns what `set` says, in this program and in quiche.

use libc::{c_int, clockid_t, timespec};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

const SYSTEM: i64 = -1;
static NOW_NS: AtomicI64 = AtomicI64::new(SYSTEM);

/// Sets all clocks to `now_ns`, at least 0, until the next call.
pub fn set(now_ns: i64) {
    NOW_NS.store(now_ns, Relaxed);
}

/// Replaces libc's function, which `std::time` calls.
#[no_mangle]
extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    match NOW_NS.load(Relaxed) {
        // SAFETY: the caller gives a valid pointer.
        SYSTEM => unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time) as c_int },
        now_ns => {
            unsafe { *time = timespec { tv_sec: now_ns / 1_000_000_000, tv_nsec: now_ns % 1_000_000_000 } };
            0
        },
    }
}
