/*
 * A link with a bounded queue, a rate that follows a trace, random loss and a delay. One link per process: the emulator
 * of the kernel tier (link-emulator.c) and the downloads in simulated time (link.rs) share this code. Its clock is
 * CLOCK_MONOTONIC, which clock.rs replaces in simulated time.
 *
 *     server -> [queue -> rate -> loss -> delay] -> client
 *     server <- [                         delay] <- client
 *
 * Commands on standard input, a line each:
 *
 *     link <rtt us> <queue bytes>            the first command; the link is then open: unlimited rate, no loss
 *     steps <count> <wrap us> <seed>         starts the trace, with period <wrap us>; followed by <count> lines of
 *     <end us> <bit/s> <loss ppm> <extra delay us>
 *     open                                   as after "link"
 */
#include <stdint.h>

#define LINE 256
/* Results of link_down for a packet that does not arrive. */
#define LINK_DROPPED (-1)
#define LINK_LOST (-2)

/* Prints the message with the text of errno and exits. */
void fail(const char *what, ...);
int64_t now_ns(void);

/* Whether a complete line of standard input is buffered. */
int has_line(void);
/* Waits for the next line of standard input, at most LINE - 1 characters; returns 0 at the end of the input. */
int read_line(char *line);

/* Executes a command, which may read further lines; returns 0 for an unknown one. */
int link_execute(const char *line);
/* Reads and executes the commands `link` and `steps`. */
void link_read_trace(void);

/* When a packet of `bytes` that the server sends now arrives; or LINK_DROPPED by the full queue, or LINK_LOST. */
int64_t link_down(int bytes);
/* When a packet that the client sends now arrives. */
int64_t link_up(void);
