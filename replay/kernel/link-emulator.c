/*
 * A link in user space between two network namespaces, a server's and a client's: packets of the server's real TCP pass
 * a bounded queue, a rate that follows a trace, random loss and a delay. Linux and root only. The namespaces and
 * interfaces end with the process.
 *
 *     server namespace, 10.77.0.1 -- tun -> [queue -> rate -> loss -> delay] -> tun -- client namespace, 10.77.0.2
 *                                    tun <- [                         delay] <- tun
 *
 * Prints "ready <fd of the server's namespace> <fd of the client's>", as in /proc/<pid>/fd/<fd>. Commands on standard
 * input, a line each; the end of the input ends the process:
 *
 *     link <rtt us> <queue bytes>            the first command; the link is then open: unlimited rate, no loss
 *     steps <count> <wrap us> <seed>         starts the trace, with period <wrap us>; followed by <count> lines of
 *     <end us> <bit/s> <loss ppm> <extra delay us>
 *     stats                                  prints "stats <packets delivered> <bytes> <dropped by the queue> <lost>"
 *                                            and resets the counts
 *     open                                   as after "link"
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MTU 1500
#define SLOTS 32768 /* packets in flight per direction, a power of two: 400 ms at 1 Gbit/s */
#define LINE 256
#define TX_QUEUE 10000

typedef struct {
    int64_t departs_ns; /* from the queue */
    int64_t arrives_ns; /* at the other end */
    int length;
    unsigned char data[MTU];
} packet;

typedef struct {
    packet *slots;
    uint32_t first, departed, next; /* slots before these are delivered, out of the queue, received */
    int64_t queued_bytes;
} pipe_line;

typedef struct {
    int64_t end_ns;
    double bps;
    uint32_t loss_ppm;
    int64_t extra_ns;
} step;

static step *steps;
static int step_count;
static int64_t wrap_ns, origin_ns;
static int64_t one_way_ns, queue_limit;
static uint64_t random_state = 1;
static uint64_t stat_packets, stat_bytes, stat_dropped, stat_lost;

static void fail(const char *what, ...) {
    va_list arguments;
    int error = errno;
    va_start(arguments, what);
    fputs("link-emulator: ", stderr);
    vfprintf(stderr, what, arguments);
    va_end(arguments);
    fprintf(stderr, ": %s\n", strerror(error));
    exit(1);
}

static int64_t now_ns(void) {
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
    if (step_count == 0) return from_ns;
    for (;;) {
        int64_t ends_ns;
        const step *current = step_at(from_ns, &ends_ns);
        double room = current->bps * (ends_ns - from_ns) / 1e9;
        if (room >= bits && current->bps > 0) return from_ns + (int64_t)(bits / current->bps * 1e9);
        bits -= room;
        from_ns = ends_ns;
    }
}

static int open_tun(const char *name) {
    struct ifreq request = {0};
    int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (tun < 0) fail("/dev/net/tun");
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    if (ioctl(tun, TUNSETIFF, &request) < 0) fail("interface %s", name);
    return tun;
}

static void configure(const char *name, const char *address) {
    int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq request = {0};
    struct sockaddr_in *in = (struct sockaddr_in *)&request.ifr_addr;
    if (control < 0) fail("socket");
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    if (address != NULL) {
        in->sin_family = AF_INET;
        inet_pton(AF_INET, address, &in->sin_addr);
        if (ioctl(control, SIOCSIFADDR, &request) < 0) fail("address of %s", name);
        inet_pton(AF_INET, "255.255.255.0", &in->sin_addr);
        if (ioctl(control, SIOCSIFNETMASK, &request) < 0) fail("netmask of %s", name);
        request.ifr_mtu = MTU;
        if (ioctl(control, SIOCSIFMTU, &request) < 0) fail("MTU of %s", name);
        request.ifr_qlen = TX_QUEUE;
        if (ioctl(control, SIOCSIFTXQLEN, &request) < 0) fail("queue of %s", name);
    }
    if (ioctl(control, SIOCGIFFLAGS, &request) < 0) fail("flags of %s", name);
    request.ifr_flags |= IFF_UP | IFF_RUNNING;
    if (ioctl(control, SIOCSIFFLAGS, &request) < 0) fail("bringing %s up", name);
    close(control);
}

/* Creates a namespace with a loopback and one end of the link; returns the tunnel, and sets the namespace's fd. */
static int make_end(const char *name, const char *address, int *namespace) {
    int tun;
    if (unshare(CLONE_NEWNET) < 0) fail("a network namespace (are you root?)");
    *namespace = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (*namespace < 0) fail("/proc/self/ns/net");
    tun = open_tun(name);
    configure("lo", NULL);
    configure(name, address);
    return tun;
}

/* Receives all waiting packets; `shaped`: with queue, rate and loss. */
static void receive(int from, pipe_line *line, int shaped) {
    for (;;) {
        packet *slot = &line->slots[line->next & (SLOTS - 1)];
        int64_t at_ns, starts_ns, ends_ns, extra_ns = 0;
        uint32_t loss_ppm = 0;
        unsigned char excess[MTU];
        int is_full = line->next - line->first >= SLOTS;
        int length = read(from, is_full ? excess : slot->data, MTU);
        if (length <= 0) return;
        at_ns = now_ns();
        while (line->departed != line->next && line->slots[line->departed & (SLOTS - 1)].departs_ns <= at_ns)
            line->queued_bytes -= line->slots[line->departed++ & (SLOTS - 1)].length;
        if (step_count > 0) {
            const step *current = step_at(at_ns, &ends_ns);
            extra_ns = current->extra_ns;
            loss_ppm = current->loss_ppm;
        }
        if (is_full || (shaped && step_count > 0 && line->queued_bytes + length > queue_limit)) {
            stat_dropped++;
            continue;
        }
        if (shaped && loss_ppm > 0 && random_ppm() < loss_ppm) {
            stat_lost++;
            continue;
        }
        starts_ns = at_ns;
        if (line->next != line->departed) {
            int64_t before_ns = line->slots[(line->next - 1) & (SLOTS - 1)].departs_ns;
            if (before_ns > starts_ns) starts_ns = before_ns;
        }
        slot->length = length;
        slot->departs_ns = shaped ? sent_at(starts_ns, 8.0 * length) : at_ns;
        slot->arrives_ns = slot->departs_ns + one_way_ns + extra_ns;
        /* Packets do not overtake each other when an extra delay ends. */
        if (line->next != line->first) {
            int64_t before_ns = line->slots[(line->next - 1) & (SLOTS - 1)].arrives_ns;
            if (slot->arrives_ns < before_ns) slot->arrives_ns = before_ns;
        }
        line->queued_bytes += length;
        line->next++;
    }
}

/* Delivers the packets that are due; returns when the next one is, or INT64_MAX. */
static int64_t deliver(int to, pipe_line *line, int is_counted) {
    while (line->first != line->next) {
        packet *slot = &line->slots[line->first & (SLOTS - 1)];
        if (slot->arrives_ns > now_ns()) return slot->arrives_ns;
        if (write(to, slot->data, slot->length) < 0 && errno != EAGAIN && errno != EINVAL && errno != EIO)
            fail("write");
        if (is_counted) {
            stat_packets++;
            stat_bytes += slot->length;
        }
        if (line->departed == line->first) {
            line->queued_bytes -= slot->length;
            line->departed++;
        }
        line->first++;
    }
    return INT64_MAX;
}

static char input[65536];
static size_t input_begin, input_end;

/* Whether a complete line is buffered. */
static int has_line(void) {
    return memchr(input + input_begin, '\n', input_end - input_begin) != NULL;
}

/* Waits for the next line of standard input; returns 0 at the end of the input. */
static int read_line(char *line) {
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
    step *given = calloc(count, sizeof *given);
    double total = 0;
    if (given == NULL) fail("memory for %d steps", count);
    for (int i = 0; i < count; i++) {
        long long end_us, extra_us;
        if (!read_line(line)) exit(0);
        if (sscanf(line, "%lld %lf %u %lld", &end_us, &given[i].bps, &given[i].loss_ppm, &extra_us) != 4) {
            errno = EINVAL;
            fail("step %d: \"%s\"", i, line);
        }
        given[i].end_ns = end_us * 1000;
        given[i].extra_ns = extra_us * 1000;
        total += given[i].bps;
    }
    if (!(total > 0) || wrap_us <= 0) {
        errno = EINVAL;
        fail("a trace without capacity");
    }
    free(steps);
    steps = given;
    step_count = count;
    wrap_ns = wrap_us * 1000;
    origin_ns = now_ns();
}

/* Returns 0 for an unknown command. */
static int execute(const char *line) {
    long long rtt_us, queue, wrap_us;
    unsigned long long seed;
    int count;
    if (sscanf(line, "link %lld %lld", &rtt_us, &queue) == 2) {
        one_way_ns = rtt_us * 500;
        queue_limit = queue;
        step_count = 0;
    } else if (sscanf(line, "steps %d %lld %llu", &count, &wrap_us, &seed) == 3 && count > 0) {
        random_state = seed * 2 + 1;
        read_steps(count, wrap_us);
    } else if (strcmp(line, "open") == 0) {
        step_count = 0;
    } else if (strcmp(line, "stats") == 0) {
        printf("stats %llu %llu %llu %llu\n", (unsigned long long)stat_packets, (unsigned long long)stat_bytes,
               (unsigned long long)stat_dropped, (unsigned long long)stat_lost);
        fflush(stdout);
        stat_packets = stat_bytes = stat_dropped = stat_lost = 0;
    } else return 0;
    return 1;
}

int main(void) {
    int server_namespace, client_namespace;
    int server = make_end("leo-server", "10.77.0.1", &server_namespace);
    int client = make_end("leo-client", "10.77.0.2", &client_namespace);
    pipe_line down = {0}, up = {0};
    down.slots = malloc(SLOTS * sizeof(packet));
    up.slots = malloc(SLOTS * sizeof(packet));
    if (down.slots == NULL || up.slots == NULL) fail("memory");
    prctl(PR_SET_TIMERSLACK, 1UL);
    /* Before all others, so that packets are in time on a busy machine. */
    if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1}) < 0)
        setpriority(PRIO_PROCESS, 0, -10);
    printf("ready %d %d\n", server_namespace, client_namespace);
    fflush(stdout);

    for (;;) {
        struct pollfd ready[] = {{STDIN_FILENO, POLLIN, 0}, {server, POLLIN, 0}, {client, POLLIN, 0}};
        int64_t next_down = deliver(client, &down, 1), next_up = deliver(server, &up, 0);
        int64_t next = next_down < next_up ? next_down : next_up;
        struct timespec wait = {0}, *timeout = NULL;
        if (next != INT64_MAX) {
            int64_t left = next - now_ns();
            if (left < 0) left = 0;
            wait.tv_sec = left / 1000000000;
            wait.tv_nsec = left % 1000000000;
            timeout = &wait;
        }
        if (ppoll(ready, 3, timeout, NULL) < 0 && errno != EINTR) fail("ppoll");
        if (ready[1].revents & POLLIN) receive(server, &down, 1);
        if (ready[2].revents & POLLIN) receive(client, &up, 0);
        if (ready[0].revents & (POLLIN | POLLHUP)) {
            char line[LINE];
            do {
                if (!read_line(line)) return 0;
                if (!execute(line)) {
                    errno = EINVAL;
                    fail("command \"%s\"", line);
                }
            } while (has_line());
        }
    }
}
