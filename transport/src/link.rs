//! The emulated link in simulated time, with the commands, the queue, the losses and the delays of
//! replay/kernel/link-emulator.c.

use std::collections::VecDeque;

/// Of IPv4 and UDP.
const HEADER_BYTES: usize = 28;

struct Step {
    end_ns: i64,
    bps: f64,
    loss_ppm: u64,
    extra_ns: i64,
}

pub struct Link {
    one_way_ns: i64,
    queue_limit_bytes: usize,
    wrap_ns: i64,
    steps: Vec<Step>,
    random_state: u64,
    /// When packets leave the queue, and their bytes.
    queue: VecDeque<(i64, usize)>,
    queued_bytes: usize,
    /// Of the previous packet of each direction: packets do not overtake each other.
    departs_ns: i64,
    arrives_ns: [i64; 2],
}

impl Link {
    /// Reads the commands `link` and `steps`; the trace begins at 0.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        let mut numbers = |expected: &str| -> Result<Vec<f64>, String> {
            let line = lines.next().unwrap_or_default();
            let found = line.strip_prefix(expected).unwrap_or_default().split_whitespace();
            let found: Result<Vec<f64>, _> = found.map(str::parse).collect();
            found.ok().filter(|all| all.len() >= 2).ok_or(format!("expected \"{expected}<numbers>\", got \"{line}\""))
        };
        let link = numbers("link ")?;
        let [count, wrap_us, seed] = numbers("steps ")?[..] else { return Err("steps: expected 3 numbers".into()) };
        let steps = (0..count as usize).map(|_| {
            let [end_us, bps, loss_ppm, extra_us] = numbers("")?[..] else { return Err("expected 4 numbers".into()) };
            Ok(Step { end_ns: nanos(end_us), bps, loss_ppm: loss_ppm as u64, extra_ns: nanos(extra_us) })
        });
        let steps = steps.collect::<Result<Vec<_>, String>>()?;
        if !steps.iter().any(|step| step.bps > 0.0) {
            return Err("a trace without capacity".into());
        }
        Ok(Link {
            one_way_ns: nanos(link[0]) / 2,
            queue_limit_bytes: link[1] as usize,
            wrap_ns: nanos(wrap_us),
            steps,
            random_state: seed as u64 * 2 + 1,
            queue: VecDeque::new(),
            queued_bytes: 0,
            departs_ns: 0,
            arrives_ns: [0; 2],
        })
    }

    /// When a datagram for the client arrives; `None`: it is lost, or the queue is full.
    pub fn down(&mut self, at_ns: i64, datagram_bytes: usize) -> Option<i64> {
        let bytes = datagram_bytes + HEADER_BYTES;
        while let Some((_, sent)) = self.queue.front().filter(|(departs_ns, _)| *departs_ns <= at_ns) {
            self.queued_bytes -= sent;
            self.queue.pop_front();
        }
        if self.queued_bytes + bytes > self.queue_limit_bytes {
            return None;
        }
        let (Step { loss_ppm, extra_ns, .. }, _) = self.step_at(at_ns);
        let (loss_ppm, extra_ns) = (*loss_ppm, *extra_ns);
        if loss_ppm > 0 && self.random_ppm() < loss_ppm {
            return None;
        }
        self.departs_ns = self.sent_at(at_ns.max(self.departs_ns), 8.0 * bytes as f64);
        self.queue.push_back((self.departs_ns, bytes));
        self.queued_bytes += bytes;
        Some(self.arrival(0, self.departs_ns + extra_ns))
    }

    /// When a datagram for the server arrives.
    pub fn up(&mut self, at_ns: i64) -> i64 {
        let extra_ns = self.step_at(at_ns).0.extra_ns;
        self.arrival(1, at_ns + extra_ns)
    }

    fn arrival(&mut self, direction: usize, departs_ns: i64) -> i64 {
        let arrives_ns = &mut self.arrives_ns[direction];
        *arrives_ns = (departs_ns + self.one_way_ns).max(*arrives_ns);
        *arrives_ns
    }

    /// The step at a time, and its end.
    fn step_at(&self, at_ns: i64) -> (&Step, i64) {
        let (turn, within) = (at_ns / self.wrap_ns, at_ns % self.wrap_ns);
        let last = self.steps.len() - 1;
        let index = self.steps.partition_point(|step| step.end_ns <= within).min(last);
        let end_ns = if index == last { self.wrap_ns } else { self.steps[index].end_ns };
        (&self.steps[index], turn * self.wrap_ns + end_ns)
    }

    /// When the last of `bits` is sent, if the first is sent at `from_ns`.
    fn sent_at(&self, mut from_ns: i64, mut bits: f64) -> i64 {
        loop {
            let (step, ends_ns) = self.step_at(from_ns);
            let room = step.bps * (ends_ns - from_ns) as f64 / 1e9;
            if room >= bits && step.bps > 0.0 {
                return from_ns + (bits / step.bps * 1e9) as i64;
            }
            bits -= room;
            from_ns = ends_ns;
        }
    }

    /// Uniform below 1,000,000; xorshift64*.
    fn random_ppm(&mut self) -> u64 {
        let state = &mut self.random_state;
        *state ^= *state >> 12;
        *state ^= *state << 25;
        *state ^= *state >> 27;
        (state.wrapping_mul(2685821657736338717) >> 33) % 1_000_000
    }
}

fn nanos(micros: f64) -> i64 {
    (micros * 1e3) as i64
}
