// Ready scripts about the network, each against a program in a network of its own, whose counters count nothing else.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, test } from "node:test";
import { bpfObjects, compileC, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";
import { between, rows, run, start, traced } from "../support/tool-runs.ts";

const source = `
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <resolv.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void check(int right, const char *what)
{
	if (!right) {
		perror(what);
		exit(1);
	}
}

static struct sockaddr_in own; /* nobody else's address: 127.77.x.y */
static struct sockaddr_in6 own6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };

/* A network with nothing but a loopback. */
static void alone(void)
{
	check(unshare(CLONE_NEWNET) == 0, "unshare");
	struct ifreq lo = { .ifr_name = "lo" };
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	check(ioctl(s, SIOCGIFFLAGS, &lo) == 0, "flags");
	lo.ifr_flags |= IFF_UP;
	check(ioctl(s, SIOCSIFFLAGS, &lo) == 0, "up");
	close(s);
	own = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr = { htonl(0x7f4d0000 | (getpid() & 0xffff)) } };
}

static struct sockaddr_in at(int port) { struct sockaddr_in a = own; a.sin_port = htons(port); return a; }
static struct sockaddr_in6 at6(int port) { struct sockaddr_in6 a = own6; a.sin6_port = htons(port); return a; }

static int bound(int type, int port)
{
	struct sockaddr_in a = at(port);
	int one = 1, s = socket(AF_INET, type, 0);
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	check(bind(s, (struct sockaddr *)&a, sizeof a) == 0, "bind");
	return s;
}

/* Of what comes to a socket, nothing. */
static void deaf(int s)
{
	struct sock_filter drop = { BPF_RET | BPF_K, 0, 0, 0 };
	struct sock_fprog program = { 1, &drop };
	check(setsockopt(s, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0, "filter");
}

static void show(const char *path)
{
	char text[8192];
	FILE *f = fopen(path, "r");
	while (fgets(text, sizeof text, f))
		fputs(text, stdout);
	fclose(f);
}

static void drops(void)
{
	struct sockaddr_in closed = at(1001), filtered = at(1002), full = at(1003);
	struct sockaddr_in6 closed6 = at6(1001);
	int from = bound(SOCK_DGRAM, 2001), from6 = socket(AF_INET6, SOCK_DGRAM, 0), size = 1;
	struct sockaddr_in6 source6 = at6(2001);
	check(bind(from6, (struct sockaddr *)&source6, sizeof source6) == 0, "bind");
	int deaf_one = bound(SOCK_DGRAM, 1002), full_one = bound(SOCK_DGRAM, 1003);
	deaf(deaf_one);
	setsockopt(full_one, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
	for (int i = 0; i < 3; i++)
		sendto(from, "x", 1, 0, (struct sockaddr *)&closed, sizeof closed);
	for (int i = 0; i < 4; i++)
		sendto(from6, "x", 1, 0, (struct sockaddr *)&closed6, sizeof closed6);
	for (int i = 0; i < 5; i++)
		sendto(from, "x", 1, 0, (struct sockaddr *)&filtered, sizeof filtered);
	char large[1000] = { 0 };
	for (int i = 0; i < 20; i++)
		sendto(from, large, sizeof large, 0, (struct sockaddr *)&full, sizeof full);
	while (recv(full_one, large, sizeof large, MSG_DONTWAIT) > 0)
		;
	for (int i = 0; i < 2; i++) {
		int s = bound(SOCK_STREAM, 2002 + i);
		check(connect(s, (struct sockaddr *)&closed, sizeof closed) < 0, "closed");
		close(s);
	}
	/* A protocol that nobody knows. */
	struct { struct iphdr ip; char data[4]; } packet = { { .version = 4, .ihl = 5, .ttl = 9, .protocol = 253, .saddr = own.sin_addr.s_addr, .daddr = own.sin_addr.s_addr } };
	int raw = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	for (int i = 0; i < 6; i++)
		check(sendto(raw, &packet, sizeof packet, 0, (struct sockaddr *)&own, sizeof own) > 0, "raw");
	show("/proc/thread-self/net/snmp");
	show("/proc/thread-self/net/snmp6");
}

static double milliseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static int by_ring(struct io_uring_sqe what)
{
	struct io_uring_params has = { 0 };
	int ring = syscall(SYS_io_uring_setup, 1, &has);
	check(ring >= 0, "io_uring");
	char *rings = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	struct io_uring_sqe *request = mmap(NULL, sizeof *request, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
	*request = what;
	((unsigned *)(rings + has.sq_off.array))[0] = 0;
	__atomic_store_n((unsigned *)(rings + has.sq_off.tail), 1, __ATOMIC_RELEASE);
	syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
	int result = ((struct io_uring_cqe *)(rings + has.cq_off.cqes))->res;
	close(ring);
	return result;
}

/* An attempt in each way and with each end; prints what each call or its socket said of it, and the milliseconds of one. */
static void connects(void)
{
	struct sockaddr_in to = at(1001), closed = at(1002), silent = at(1003), nowhere = { .sin_family = AF_INET, .sin_port = htons(9), .sin_addr = { htonl(0xc0000201) } };
	struct sockaddr_in6 closed6 = at6(1004), nowhere6 = { .sin6_family = AF_INET6, .sin6_port = htons(9), .sin6_addr = { { { 0x20, 1, 0xd, 0xb8 } } } };
	int listener = bound(SOCK_STREAM, 1001), mute = bound(SOCK_STREAM, 1003), s, error;
	socklen_t size = sizeof error;
	check(listen(listener, 100) == 0 && listen(mute, 100) == 0, "listen");
	deaf(mute);
#define SAID(port, result) printf("%d %d\\n", port, (result) < 0 ? errno : 0)
	s = socket(AF_INET, SOCK_STREAM, 0);
	SAID(1001, connect(s, (struct sockaddr *)&to, sizeof to));
	s = socket(AF_INET, SOCK_STREAM, 0);
	errno = -by_ring((struct io_uring_sqe){ .opcode = IORING_OP_CONNECT, .fd = s, .addr = (unsigned long)&to, .off = sizeof to });
	SAID(1001, -errno);
	s = socket(AF_INET, SOCK_STREAM, 0);
	SAID(1001, sendto(s, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&to, sizeof to));
	for (int i = 0; i < 2; i++) {
		s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(s, (struct sockaddr *)(i ? &closed : &to), sizeof to);
		struct pollfd ready = { s, POLLOUT, 0 };
		check(poll(&ready, 1, 60000) == 1, "poll");
		/* Who asks again starts nothing. */
		SAID(i ? 1002 : 1001, connect(s, (struct sockaddr *)(i ? &closed : &to), sizeof to));
	}
	s = socket(AF_INET, SOCK_STREAM, 0);
	SAID(1002, connect(s, (struct sockaddr *)&closed, sizeof closed));
	s = socket(AF_INET, SOCK_STREAM, 0);
	errno = -by_ring((struct io_uring_sqe){ .opcode = IORING_OP_CONNECT, .fd = s, .addr = (unsigned long)&closed, .off = sizeof closed });
	SAID(1002, -errno);
	s = socket(AF_INET6, SOCK_STREAM, 0);
	SAID(1004, connect(s, (struct sockaddr *)&closed6, sizeof closed6));
	s = socket(AF_INET, SOCK_STREAM, 0);
	SAID(9, connect(s, (struct sockaddr *)&nowhere, sizeof nowhere));
	s = socket(AF_INET6, SOCK_STREAM, 0);
	SAID(9, connect(s, (struct sockaddr *)&nowhere6, sizeof nowhere6));
	/* The same two ends twice. */
	s = bound(SOCK_STREAM, 2001);
	SAID(1001, connect(s, (struct sockaddr *)&to, sizeof to));
	int again = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	struct sockaddr_in same = at(2001);
	setsockopt(again, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	check(bind(again, (struct sockaddr *)&same, sizeof same) == 0, "bind");
	SAID(1001, connect(again, (struct sockaddr *)&to, sizeof to));
	/* Other sockets' calls are none of it. */
	check(connect(bound(SOCK_DGRAM, 0), (struct sockaddr *)&to, sizeof to) == 0, "udp");
	check(connect(socket(AF_UNIX, SOCK_STREAM, 0), &(struct sockaddr){ AF_UNIX, "/none" }, sizeof to) < 0, "unix");
	double start = milliseconds();
	s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	connect(s, (struct sockaddr *)&silent, sizeof silent);
	usleep(50000);
	close(s);
	printf("1003 %.3f\\n", milliseconds() - start);
}

/* Answers so many questions that come to port 53, by what their names begin with. */
static void serve(int s, int questions)
{
	unsigned char packet[512];
	struct sockaddr_storage from;
	while (questions-- > 0) {
		socklen_t size = sizeof from;
		int length = recvfrom(s, packet, sizeof packet, 0, (struct sockaddr *)&from, &size);
		if (memcmp(packet + 13, "silent", 6) == 0)
			continue;
		if (memcmp(packet + 13, "slow", 4) == 0)
			usleep(50000);
		packet[2] |= 0x80;
		/* With recursion available: an answer without records is the last word. */
		packet[3] = 0x80 | (memcmp(packet + 13, "missing", 7) == 0 ? 3 : memcmp(packet + 13, "broken", 6) == 0 ? 2 : 0);
		sendto(s, packet, length, 0, (struct sockaddr *)&from, size);
	}
}

static int question(unsigned char *to, int id, int type, const char *name)
{
	unsigned char header[12] = { id >> 8, id, 1, 0, 0, 1 };
	memcpy(to, header, 12);
	int at = 12, length = ns_name_pton(name, to + at, 255) < 0 ? -1 : 0;
	check(length == 0, "name");
	while (to[at])
		at += to[at] + 1;
	unsigned char tail[5] = { 0, type >> 8, type, 0, 1 };
	memcpy(to + at, tail, 5);
	return at + 5;
}

/* Questions in every way to send a packet; prints each with its milliseconds. */
static void dns(void)
{
	struct sockaddr_in to = at(53);
	struct sockaddr_in6 to6 = at6(53);
	int server = bound(SOCK_DGRAM, 53), server6 = socket(AF_INET6, SOCK_DGRAM, 0), one = 1;
	setsockopt(server6, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
	check(bind(server6, (struct sockaddr *)&to6, sizeof to6) == 0, "bind");
	int children[] = { fork(), 0 };
	if (children[0] == 0) {
		serve(server, 11);
		_exit(0);
	}
	if ((children[1] = fork()) == 0) {
		serve(server6, 1);
		_exit(0);
	}
	unsigned char packet[512], answer[512];
	int connected = socket(AF_INET, SOCK_DGRAM, 0), open = socket(AF_INET, SOCK_DGRAM, 0), open6 = socket(AF_INET6, SOCK_DGRAM, 0), size;
	check(connect(connected, (struct sockaddr *)&to, sizeof to) == 0, "connect");
#define ASK(id, type, name, send, s) do { \
		size = question(packet, id, type, name); \
		double start = milliseconds(); \
		check((send) >= 0, #send); \
		check(recv(s, answer, sizeof answer, 0) == size, "answer"); \
		printf("%d %s %.3f\\n", type, name, milliseconds() - start); \
	} while (0)
	struct iovec part = { packet, 0 };
	struct msghdr message = { .msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &part, .msg_iovlen = 1 };
	struct mmsghdr messages = { message };
	ASK(1, 1, "plain.example", sendto(open, packet, size, 0, (struct sockaddr *)&to, sizeof to), open);
	ASK(2, 28, "write.example", write(connected, packet, size), connected);
	ASK(3, 12, "4.3.2.1.in-addr.arpa", (part.iov_len = size, writev(connected, &part, 1)), connected);
	ASK(4, 15, "missing.example", send(connected, packet, size, 0), connected);
	ASK(5, 16, "broken.example", (part.iov_len = size, sendmsg(open, &message, 0)), open);
	ASK(6, 33, "_a-service._tcp.slow.long-label-with-numbers-0123456789.example", (part.iov_len = size, sendmmsg(open, &messages, 1, 0) - 1), open);
	ASK(7, 1, "slow.example", send(connected, packet, size, 0), connected);
	ASK(8, 65, "ring.example", by_ring((struct io_uring_sqe){ .opcode = IORING_OP_SEND, .fd = connected, .addr = (unsigned long)packet, .len = size }), connected);
	ASK(9, 28, "six.example", sendto(open6, packet, size, 0, (struct sockaddr *)&to6, sizeof to6), open6);
	/* The C library's own resolver. */
	struct __res_state state = { 0 };
	check(res_ninit(&state) == 0, "res_ninit");
	state.nscount = 1;
	state.nsaddr_list[0] = to;
	state.options &= ~(RES_DNSRCH | RES_DEFNAMES | RES_USE_EDNS0);
	double start = milliseconds();
	res_nquery(&state, "library.example", ns_c_in, ns_t_a, answer, sizeof answer);
	printf("1 library.example %.3f\\n", milliseconds() - start);
	/* Twice, in vain: one question. */
	for (int i = 0; i < 2; i++)
		check(write(connected, packet, question(packet, 10, 1, "silent.example")) > 0, "silent");
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	char byte;
	while (read(0, &byte, 1) > 0)
		;
	alone();
	if (strcmp(argv[1], "drops") == 0) drops();
	else if (strcmp(argv[1], "dns") == 0) dns();
	else connects();
	printf("address %s\\n", inet_ntoa(own.sin_addr));
	return 0;
}
`;

const folder = temporaryFolder();
const comm = `net-${process.pid}`;
const work = compileC(folder.path, comm, source, ["-Wl,--no-as-needed", "-lresolv"]);
const objects = bpfObjects();
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

/** What a program of the source above said of itself. */
function said(output: string): { readonly lines: readonly string[]; readonly address: string } {
  const lines = output.trim().split("\n");
  const address = /^address (\S+)$/.exec(lines.pop() ?? "")?.[1];
  assert.ok(address !== undefined, output);
  return { lines, address };
}

/** A counter of /proc/net/snmp or snmp6. */
function counter(lines: readonly string[], table: string, name: string): number {
  const six = lines.find((line) => line.startsWith(`${name} `));
  if (six !== undefined) return Number(six.split(/\s+/)[1]);
  const [names, values] = lines.filter((line) => line.startsWith(`${table}: `)).map((line) => line.split(" "));
  return Number(values[names.indexOf(name)]);
}

test("drops: as many packets as the kernel counts, each with its reason", async () => {
  const trace = await traced("drops", [], () => run(work, "drops"));
  const { lines, address } = said(trace.result.output);
  const own = rows(trace, (columns) => columns.includes(address) || columns.join(" ").includes("::1 2001 ::1 1001"));
  const counts: Record<string, number> = {};
  for (const [, protocol, ...columns] of own) {
    const [port, , reason] = protocol === "ip" ? [columns[0], "", columns.at(-1) ?? ""] : columns.slice(3);
    const name = `${protocol} ${port} ${reason.replace("SKB_DROP_REASON_", "")}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  const overflown = counter(lines, "Udp", "RcvbufErrors");
  between(overflown, 1, 19, "datagrams for which there was no room");
  assert.deepEqual(counts, {
    "udp 1001 NO_SOCKET": counter(lines, "Udp", "NoPorts") + counter(lines, "Udp6", "Udp6NoPorts"),
    "udp 1002 SOCKET_FILTER": 5,
    "udp 1003 SOCKET_RCVBUFF": overflown,
    "tcp 1001 NO_SOCKET": 2,
    "ip 253 IP_NOPROTO": counter(lines, "Ip", "InUnknownProtos"),
  });
  assert.ok(own.every(([time]) => trace.during(time)));
});

test("drops --port: no other port's", async () => {
  const trace = await traced("drops", ["--port=1002"], () => run(work, "drops"));
  const { address } = said(trace.result.output);
  assert.deepEqual(
    rows(trace, (columns) => columns[2] === address).map((columns) => columns[5]),
    Array<string>(5).fill("1002"),
  );
});

const words: Record<string, string> = {
  0: "connected",
  99: "Cannot assign requested address",
  101: "Network is unreachable",
  111: "Connection refused",
};

test("tcp-connects: each attempt, however it is made and however it ends", async () => {
  const trace = await traced("tcp-connects", [], () => run(work, "connects"));
  const { lines, address } = said(trace.result.output);
  const own = rows(trace, ([, pid]) => pid === String(trace.result.pid));
  const expected = lines.map((line) => line.split(" "));
  const [, most] = expected.pop() ?? [];
  assert.deepEqual(
    own.map(([, , , , , port, ...end]) => `${port} ${end.join(" ")}`),
    [...expected.map(([port, error]) => `${port} ${words[error]}`), "1003 given up"],
  );
  assert.equal(expected.length, 12);
  const to = (port: string): string => (port === "1004" ? "::1" : port === "9" ? "" : address);
  for (const [time, , name, ms, remote, port, ...end] of own) {
    assert.equal(name, comm);
    assert.ok(trace.during(time));
    if (port === "9") assert.ok(["192.0.2.1", "2001:db8::"].includes(remote), remote);
    else assert.equal(remote, to(port));
    if (port === "9" || end.join(" ") === words[99]) assert.equal(ms, "-");
    else assert.match(ms, /^\d+\.\d{3}$/);
  }
  between(Number(own.at(-1)?.[3]), 50, Number(most), "ms until it was given up");
});

test("tcp-connects --failed -p: the failures of one process", async () => {
  const waiting = start(work, ["connects"]);
  const trace = await traced("tcp-connects", ["--failed", "-p", `${waiting.pid}`], async () => {
    await run(work, "connects");
    waiting.release();
    return waiting.output;
  });
  const failed = said(trace.result).lines.filter((line) => !line.endsWith(" 0"));
  assert.deepEqual(
    trace.lines.slice(1).map((line) => line.trim().split(/\s+/)[1]),
    failed.map(() => String(waiting.pid)),
  );
});

test("dns: each question, however it is sent, with its answer and its time", async () => {
  const trace = await traced("dns", [], () => run(work, "dns"));
  const own = rows(trace, ([, pid]) => pid === String(trace.result.pid));
  const asked = said(trace.result.output).lines.map((line) => line.split(" "));
  const types: Record<string, string> = { 1: "A", 12: "PTR", 15: "MX", 16: "TXT", 28: "AAAA", 33: "SRV", 65: "HTTPS" };
  const answers: Record<string, string> = { missing: "no name", broken: "failed" };
  const expected = asked.map(([type, name]) => `${answers[name.split(".")[0]] ?? "found"} ${types[type]} ${name}`);
  assert.deepEqual(
    own.map((columns) => columns.slice(4).join(" ")),
    [...expected, "none A silent.example"],
  );
  assert.equal(expected.length, 10);
  asked.forEach(([, name, most], i) =>
    between(Number(own[i][3]), name.startsWith("slow") ? 50 : 0, Number(most), `ms for ${name}`),
  );
});

test("dns -p --ms: the slow answers of one process", async () => {
  const waiting = start(work, ["dns"]);
  const trace = await traced("dns", ["--ms=50", "-p", `${waiting.pid}`], async () => {
    await run(work, "dns");
    waiting.release();
    return waiting.output;
  });
  const own = rows(trace, ([, pid]) => pid === String(waiting.pid));
  assert.equal(own.length, trace.lines.length - 1);
  assert.ok(own.every(([, , , ms, answer]) => Number(ms) >= 50 || answer === "none"));
  for (const name of ["slow.example", "silent.example"])
    assert.equal(own.filter((columns) => columns.at(-1) === name).length, 1);
});

const secret = `
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void check(int right, const char *what)
{
	if (!right) {
		fprintf(stderr, "%s\\n", what);
		_exit(1);
	}
}

/* Known lengths to and fro between two processes, by each call; nobody's certificate. */
int main(void)
{
	char bytes[5000] = { 0 };
	int pair[2];
	size_t n;
	while (read(0, bytes, 1) > 0)
		;
	SSL_CTX *context = SSL_CTX_new(TLS_method());
	check(context && SSL_CTX_set_cipher_list(context, "aNULL@SECLEVEL=0") && SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION), "context");
	check(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
	int client = fork() == 0;
	close(pair[!client]);
	SSL *ssl = SSL_new(context);
	check(SSL_set_fd(ssl, pair[client]), "descriptor");
	if (client) {
		check(SSL_connect(ssl) == 1, "connect");
		check(SSL_write(ssl, bytes, 1234) == 1234, "write");
		check(SSL_write_ex(ssl, bytes, 345, &n) && n == 345, "write_ex");
		check(SSL_read(ssl, bytes, 100) == 100, "read");
		check(SSL_read_ex(ssl, bytes, 5000, &n) && n == 4900, "read_ex");
		_exit(0);
	}
	check(SSL_accept(ssl) == 1, "accept");
	check(SSL_read(ssl, bytes, 5000) == 1234, "read");
	check(SSL_read_ex(ssl, bytes, 5000, &n) && n == 345, "read_ex");
	check(SSL_write(ssl, bytes, 5000) == 5000, "write");
	check(SSL_read(ssl, bytes, 1) <= 0, "nothing more");
	int status;
	check(wait(&status) > 0 && status == 0, "client");
	return 0;
}
`;

test("tls: the lengths of both ends, by each call", async (t) => {
  const { stdout } = await strobe(["-l", "uprobe:libssl:SSL_write_ex"]);
  if (stdout.trim() === "") return t.skip("needs OpenSSL's library");
  if (!existsSync("/usr/include/openssl/ssl.h")) return t.skip("needs OpenSSL's headers");
  const name = `tls-${process.pid}`;
  const program = compileC(folder.path, name, secret, ["-Wl,--no-as-needed", "-lssl", "-lcrypto"]);
  const trace = await traced("tls", [], () => run(program));
  const own = rows(trace, ([, , comm]) => comm === name);
  const calls = (server: boolean): string[] =>
    own
      .filter(([, pid]) => (pid === String(trace.result.pid)) === server)
      .map(([, , , call, bytes]) => `${call} ${bytes}`);
  assert.deepEqual(calls(true), ["SSL_do_handshake -", "SSL_read 1234", "SSL_read_ex 345", "SSL_write 5000"]);
  assert.deepEqual(calls(false), [
    "SSL_do_handshake -",
    "SSL_write 1234",
    "SSL_write_ex 345",
    "SSL_read 100",
    "SSL_read_ex 4900",
  ]);
  assert.ok(own.every(([time, , , , , ms]) => trace.during(time) && /^\d+\.\d{3}$/.test(ms)));
});
