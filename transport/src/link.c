#define _GNU_SOURCE
#include "link.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Packets in the queue, a power of two: 400 ms at 1 Gbit/s. */
#define SLOTS 32768

typedef struct {
    int64_t end_ns;
    double bps;
    uint32_t loss_ppm;
    int64_t extra_ns;
} step;

static step *steps;
/* 0: the link is open. */
static int step_count;
static int64_t wrap_ns, origin_ns;
static int64_t one_way_ns, queue_limit;
static uint64_t random_state = 1;

/* The queue: when each packet leaves it, and its bytes. */
static struct {
    int64_t departs_ns;
    int bytes;
} queue[SLOTS];
static uint32_t queue_first, queue_next;
static int64_t queued_bytes;
/* Of the previous packet of each direction: packets do not overtake each other. */
static int64_t departs_ns, arrives_ns[2];

void fail(const char *what, ...) {
    va_list arguments;
    int error = errno;
    va_start(arguments, what);
    fputs("link: ", stderr);
    vfprintf(stderr, what, arguments);
    va_end(arguments);
    fprintf(stderr, ": %s\n", strerror(error));
    exit(1);
}

int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Uniform below 1,000,000; xorshift64*. */
static uint32_t random_ppm(void) {
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (uint32_t)((random_state * 2685821657736338717ULL >> 33) % 1000000);
}

/* The step at a time, and its end. Times mostly ascend, so the search begins at the previous result. */
static const step *step_at(int64_t at_ns, int64_t *ends_ns) {
    static int last;
    int64_t turn = (at_ns - origin_ns) / wrap_ns, within = (at_ns - origin_ns) % wrap_ns;
    if (last >= step_count || (last > 0 && steps[last - 1].end_ns > within)) last = 0;
    while (last < step_count - 1 && steps[last].end_ns <= within) last++;
    *ends_ns = origin_ns + turn * wrap_ns + (last == step_count - 1 ? wrap_ns : steps[last].end_ns);
    return &steps[last];
}

/* When the last of `bits` is sent, if the first is sent at `from_ns`. */
static int64_t sent_at(int64_t from_ns, double bits) {
    for (;;) {
        int64_t ends_ns;
        const step *current = step_at(from_ns, &ends_ns);
        double room = current->bps * (ends_ns - from_ns) / 1e9;
        if (room >= bits && current->bps > 0) return from_ns + (int64_t)(bits / current->bps * 1e9);
        bits -= room;
        from_ns = ends_ns;
    }
}

static int64_t arrival(int direction, int64_t sent_ns) {
    int64_t *last = &arrives_ns[direction];
    if (sent_ns + one_way_ns > *last) *last = sent_ns + one_way_ns;
    return *last;
}

int64_t link_down(int bytes) {
    int64_t at_ns = now_ns(), starts_ns, ends_ns, extra_ns;
    const step *current;
    while (queue_first != queue_next && queue[queue_first % SLOTS].departs_ns <= at_ns)
        queued_bytes -= queue[queue_first++ % SLOTS].bytes;
    starts_ns = departs_ns > at_ns ? departs_ns : at_ns;
    if (step_count == 0) return arrival(0, departs_ns = starts_ns);
    if (queued_bytes + bytes > queue_limit || queue_next - queue_first >= SLOTS) return LINK_DROPPED;
    current = step_at(at_ns, &ends_ns);
    if (current->loss_ppm > 0 && random_ppm() < current->loss_ppm) return LINK_LOST;
    extra_ns = current->extra_ns;
    departs_ns = sent_at(starts_ns, 8.0 * bytes);
    queue[queue_next % SLOTS].departs_ns = departs_ns;
    queue[queue_next++ % SLOTS].bytes = bytes;
    queued_bytes += bytes;
    return arrival(0, departs_ns + extra_ns);
}

int64_t link_up(void) {
    int64_t at_ns = now_ns(), ends_ns;
    return arrival(1, step_count == 0 ? at_ns : at_ns + step_at(at_ns, &ends_ns)->extra_ns);
}

static char input[65536];
static size_t input_begin, input_end;

int has_line(void) {
    return memchr(input + input_begin, '\n', input_end - input_begin) != NULL;
}

int read_line(char *line) {
    while (!has_line()) {
        ssize_t got;
        memmove(input, input + input_begin, input_end - input_begin);
        input_end -= input_begin;
        input_begin = 0;
        if (input_end == sizeof input) input_end = 0;
        got = read(STDIN_FILENO, input + input_end, sizeof input - input_end);
        if (got <= 0) return 0;
        input_end += got;
    }
    size_t length = (char *)memchr(input + input_begin, '\n', input_end - input_begin) - (input + input_begin);
    size_t kept = length < LINE ? length : LINE - 1;
    memcpy(line, input + input_begin, kept);
    line[kept] = 0;
    input_begin += length + 1;
    return 1;
}

static void read_steps(int count, long long wrap_us) {
    char line[LINE];
    step *added = calloc(count, sizeof *added);
    double total = 0;
    if (added == NULL) fail("memory for %d steps", count);
    for (int i = 0; i < count; i++) {
        long long end_us, extra_us;
        if (!read_line(line)) line[0] = 0;
        if (sscanf(line, "%lld %lf %u %lld", &end_us, &added[i].bps, &added[i].loss_ppm, &extra_us) != 4) {
            errno = EINVAL;
            fail("step %d: \"%s\"", i, line);
        }
        added[i].end_ns = end_us * 1000;
        added[i].extra_ns = extra_us * 1000;
        total += added[i].bps;
    }
    if (!(total > 0) || wrap_us <= 0) {
        errno = EINVAL;
        fail("a trace without capacity");
    }
    free(steps);
    steps = added;
    step_count = count;
    wrap_ns = wrap_us * 1000;
    origin_ns = now_ns();
}

int link_execute(const char *line) {
    long long rtt_us, queue_bytes, wrap_us;
    unsigned long long seed;
    int count;
    if (sscanf(line, "link %lld %lld", &rtt_us, &queue_bytes) == 2) {
        one_way_ns = rtt_us * 500;
        queue_limit = queue_bytes;
        step_count = 0;
    } else if (sscanf(line, "steps %d %lld %llu", &count, &wrap_us, &seed) == 3 && count > 0) {
        random_state = seed * 2 + 1;
        read_steps(count, wrap_us);
    } else if (strcmp(line, "open") == 0) {
        step_count = 0;
    } else return 0;
    return 1;
}

void link_read_trace(void) {
    char line[LINE];
    for (int i = 0; i < 2; i++) {
        if (read_line(line) && link_execute(line)) continue;
        errno = EINVAL;
        fail("expected the commands \"link\" and \"steps\"");
    }
}
