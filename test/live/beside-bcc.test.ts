// Ready scripts and commands beside BCC's tools that answer the same question (Debian's libbpf-tools), both at once on one
// program: what the two print of it is the same.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { after, test } from "node:test";
import { bpfObjects, compileC, interrupt, nothingLeft, startStrobe, temporaryFolder } from "../support/strobe.ts";
import { start } from "../support/tool-runs.ts";

const source = `
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
static void connected(int listener, struct sockaddr_in *to, int sent)
{
	static char bytes[100000];
	int client = socket(AF_INET, SOCK_STREAM, 0);
	connect(client, (struct sockaddr *)to, sizeof *to);
	int server = accept(listener, 0, 0);
	for (int left = sent, size; left > 0; left -= size) {
		size = left < 10000 ? left : 10000;
		write(client, bytes, size);
		recv(server, bytes, size, MSG_WAITALL);
	}
	close(client);
	read(server, bytes, 1);
	close(server);
}
__attribute__((noinline)) int handle(int ms)
{
	struct timespec time = { 0, ms * 1000000L };
	return nanosleep(&time, 0);
}
int main(void)
{
	char byte;
	struct sockaddr_in at = { AF_INET, 0, { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof at;
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	bind(listener, (struct sockaddr *)&at, size);
	getsockname(listener, (struct sockaddr *)&at, &size);
	listen(listener, 1);
	signal(SIGUSR1, SIG_IGN);
	read(0, &byte, 1);
	for (int i = 0; i < 7; i++) handle(i < 4 ? 3 : 40);
	for (int i = 0; i < 3; i++) close(open("/etc/hostname", O_RDONLY));
	open("/nowhere/at/all", O_RDWR);
	openat(AT_FDCWD, "/etc/shadow/no", O_RDONLY);
	kill(getpid(), SIGUSR1);
	kill(getpid(), 0);
	connected(listener, &at, 1);
	connected(listener, &at, 5000);
	connected(listener, &at, 100000);
	printf("%d\\n", ntohs(at.sin_port));
	return 0;
}
`;

const folder = temporaryFolder();
const program = compileC(folder.path, "doer", source);
const objects = bpfObjects();
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

interface Beside {
  /** What strobe and the other tool printed. */
  readonly strobe: string;
  readonly theirs: string;
  readonly pid: number;
  readonly port: number;
}

const path = (tool: string): string => `/usr/sbin/${tool}`;
const without = (tool: string): string | false => !existsSync(path(tool)) && `needs ${tool} of BCC's libbpf-tools`;

/** Both trace the program from before its first deed to after its last. `first`: how the other tool's output begins. */
async function beside(
  strobe: (pid: number) => readonly string[],
  tool: string,
  options: (pid: number) => readonly string[],
  first: RegExp,
): Promise<Beside> {
  const doer = start(program, []);
  const args = ["-oL", path(tool), ...options(doer.pid)];
  const other = spawn("stdbuf", args, { stdio: ["ignore", "pipe", "inherit"] });
  let theirs = "";
  const begun = new Promise<void>((done, failed) => {
    other.on("error", failed);
    other.stdout.setEncoding("utf8").on("data", (data: string) => {
      theirs += data;
      if (first.test(theirs)) done();
    });
    other.on("close", () => failed(new Error(`${args.join(" ")} ended: ${theirs}`)));
  });
  const ended = new Promise<void>((done) => other.on("close", () => done()));
  const deadline = setTimeout(() => other.kill("SIGKILL"), 60_000);
  const ours = startStrobe([...strobe(doer.pid)]);
  try {
    await Promise.all([begun, ours.attached]);
    doer.release();
    const output = await doer.output;
    // What a ring still holds.
    await new Promise((done) => setTimeout(done, 500));
    await interrupt(ours);
    other.kill("SIGINT");
    await ended;
    const { stdout } = await ours.outcome;
    return { strobe: stdout, theirs, pid: doer.pid, port: Number(output) };
  } finally {
    clearTimeout(deadline);
    other.kill("SIGKILL");
  }
}

const columns = (text: string): string[][] =>
  text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => line.trim().split(/\s+/));

test("strobe opens and opensnoop", { skip: without("opensnoop") }, async () => {
  const { strobe, theirs, pid } = await beside(
    (doer) => ["opens", `--pid=${doer}`],
    "opensnoop",
    (doer) => ["-p", String(doer)],
    /^PID/,
  );
  // PID COMM FD ERR PATH
  const opened = columns(theirs)
    .slice(1)
    .map(([, comm, fd, error, file]) => [comm, fd, error, file]);
  assert.deepEqual(
    columns(strobe)
      .filter((line) => line.includes(String(pid)))
      .map((line) => line.slice(-4)),
    opened,
  );
  assert.equal(opened.length, 5);
});

test("strobe func and funclatency", { skip: without("funclatency") }, async () => {
  const { strobe, theirs } = await beside(
    () => ["func", `${program}:handle`],
    "funclatency",
    () => [`${program}:handle`],
    /Hit Ctrl-C/,
  );
  const counted = [...theirs.matchAll(/^\s*\d+ -> \d+\s*: (\d+) /gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
  assert.deepEqual([/\.count = (\d+)/.exec(strobe)?.[1], counted], ["7", 7], strobe);
});

test("strobe tcp-lifetimes and tcplife", { skip: without("tcplife") }, async () => {
  const { strobe, theirs, port } = await beside(
    () => ["tcp-lifetimes"],
    "tcplife",
    (doer) => ["-p", String(doer)],
    /^PID/,
  );
  const kib = (bytes: string): string => (Number(bytes) / 1024).toFixed(2);
  // COMM LOCAL PORT REMOTE PORT SENT RECEIVED MS
  const ours = columns(strobe)
    .filter((line) => line.includes(String(port)))
    .map(([comm, ...line]) => [comm, ...line.slice(0, 4), kib(line[4]), kib(line[5])]);
  // PID COMM LADDR LPORT RADDR RPORT TX_KB RX_KB MS
  const others = columns(theirs).slice(1);
  assert.equal(ours.length, 6, strobe);
  assert.deepEqual(
    ours,
    others.map((line) => line.slice(1, 8)),
  );
});

test("strobe signals and sigsnoop", { skip: without("sigsnoop") }, async () => {
  const { strobe, theirs, pid } = await beside(
    () => ["signals"],
    "sigsnoop",
    () => [],
    /^TIME/,
  );
  const sent = (text: string): string[][] => columns(text).filter(([, from]) => from === String(pid));
  // TIME PID COMM SIGNAL TO-PID TO-COMM RESULT NAME
  const ours = sent(strobe).map(([, from, comm, signal, to]) => [from, comm, signal, to]);
  // TIME PID COMM SIG TPID RESULT, which is an error number there.
  const others = sent(theirs).map((line) => line.slice(1, 5));
  assert.ok(
    ours.some(([, , signal]) => signal === "10"),
    strobe,
  );
  assert.deepEqual(ours, others);
});
