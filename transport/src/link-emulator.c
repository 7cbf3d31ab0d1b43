/*
 * A link in user space between two network namespaces, a server's and a client's: packets of the server's real TCP pass
 * the link of link.h. Linux and root only. The namespaces and interfaces end with the process.
 *
 *     server namespace, 10.77.0.1 -- tun -> [link] -> tun -- client namespace, 10.77.0.2
 *
 * Prints "ready <fd of the server's namespace> <fd of the client's>", as in /proc/<pid>/fd/<fd>. Commands on standard
 * input are those of link.h and one more; the end of the input ends the process:
 *
 *     stats                                  prints "stats <packets delivered> <bytes> <dropped by the queue> <lost>"
 *                                            and resets the counts
 */
#define _GNU_SOURCE
#include "link.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
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
#define TX_QUEUE 10000

typedef struct {
    int64_t arrives_ns; /* at the other end */
    int length;
    unsigned char data[MTU];
} packet;

typedef struct {
    packet *slots;
    uint32_t first, next; /* slots before these are delivered, received */
} pipe_line;

static uint64_t stat_packets, stat_bytes, stat_dropped, stat_lost;

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

/* Receives all waiting packets of the server or of the client. */
static void receive(int from, pipe_line *line, int is_down) {
    for (;;) {
        packet *slot = &line->slots[line->next % SLOTS];
        unsigned char excess[MTU];
        int is_full = line->next - line->first >= SLOTS;
        int length = read(from, is_full ? excess : slot->data, MTU);
        if (length <= 0) return;
        int64_t arrives_ns = is_full ? LINK_DROPPED : is_down ? link_down(length) : link_up();
        if (arrives_ns == LINK_DROPPED) stat_dropped++;
        else if (arrives_ns == LINK_LOST) stat_lost++;
        else {
            slot->length = length;
            slot->arrives_ns = arrives_ns;
            line->next++;
        }
    }
}

/* Delivers the packets that are due; returns when the next one is, or INT64_MAX. */
static int64_t deliver(int to, pipe_line *line, int is_counted) {
    for (; line->first != line->next; line->first++) {
        packet *slot = &line->slots[line->first % SLOTS];
        if (slot->arrives_ns > now_ns()) return slot->arrives_ns;
        if (write(to, slot->data, slot->length) < 0 && errno != EAGAIN && errno != EINVAL && errno != EIO)
            fail("write");
        if (is_counted) {
            stat_packets++;
            stat_bytes += slot->length;
        }
    }
    return INT64_MAX;
}

/* Returns 0 for an unknown command. */
static int execute(const char *line) {
    if (strcmp(line, "stats") != 0) return link_execute(line);
    printf("stats %llu %llu %llu %llu\n", (unsigned long long)stat_packets, (unsigned long long)stat_bytes,
           (unsigned long long)stat_dropped, (unsigned long long)stat_lost);
    fflush(stdout);
    stat_packets = stat_bytes = stat_dropped = stat_lost = 0;
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
