// strobe and perf at the same events at once: neither keeps them from the other, and they see the same.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { after, test } from "node:test";
import { bpfObjects, compileC, interrupt, nothingLeft, startStrobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
const objects = bpfObjects();
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

const without = spawnSync("perf", ["--version"]).status !== 0 && "needs perf";

const signals = compileC(
  folder.path,
  "signals",
  `
#include <signal.h>
#include <unistd.h>
int main(void)
{
	signal(SIGUSR1, SIG_IGN);
	for (int i = 0; i < 50; i++)
		kill(getpid(), SIGUSR1);
	return 0;
}
`,
);

/** Twenty datagrams for a socket that has no room for as many, three and two connections for nobody. */
const dropped = compileC(
  folder.path,
  "dropped",
  `
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
int main(void)
{
	struct sockaddr_in to = { AF_INET, 0, { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof to;
	int room = 2000, from = socket(AF_INET, SOCK_DGRAM, 0), full = socket(AF_INET, SOCK_DGRAM, 0);
	setsockopt(full, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
	bind(full, (struct sockaddr *)&to, size);
	getsockname(full, (struct sockaddr *)&to, &size);
	char bytes[500] = { 0 };
	for (int i = 0; i < 20; i++)
		sendto(from, bytes, sizeof bytes, 0, (struct sockaddr *)&to, size);
	int nobody = socket(AF_INET, SOCK_DGRAM, 0);
	bind(nobody, (struct sockaddr *)&(struct sockaddr_in){ AF_INET, 0, { htonl(INADDR_LOOPBACK) } }, size);
	getsockname(nobody, (struct sockaddr *)&to, &size);
	close(nobody);
	for (int i = 0; i < 3; i++)
		sendto(i == 0 ? from : socket(AF_INET, SOCK_DGRAM, 0), bytes, 10, 0, (struct sockaddr *)&to, size);
	for (int i = 0; i < 2; i++)
		connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&to, size);
	return 0;
}
`,
);

const contended = compileC(
  folder.path,
  "contended",
  `
#include <pthread.h>
#include <sys/mman.h>
static void *maps(void *unused)
{
	for (int i = 0; i < 5000; i++) {
		char *at = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		*at = 1;
		munmap(at, 65536);
	}
	return unused;
}
int main(void)
{
	pthread_t threads[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], 0, maps, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], 0);
	return 0;
}
`,
  ["-pthread"],
);

/** perf over a command while a script runs. */
async function beside(script: readonly string[], perf: readonly string[]): Promise<{ ours: string; theirs: string }> {
  const running = startStrobe(script);
  let theirs = "";
  try {
    await running.attached;
    const { status, stdout, stderr } = spawnSync("perf", perf, { encoding: "utf8", timeout: 60_000 });
    assert.equal(status, 0, stderr);
    theirs = stdout + stderr;
  } finally {
    await interrupt(running);
  }
  return { ours: (await running.outcome).stdout, theirs };
}

/** The events that perf recorded of a command, as it prints them. */
async function recorded(
  script: readonly string[],
  events: string,
  command: string,
): Promise<{ ours: string; events: string[] }> {
  const path = join(folder.path, "perf.data");
  const { ours } = await beside(script, ["record", "-q", "-m", "1024", "-o", path, "-e", events, command]);
  const { stdout } = spawnSync("perf", ["script", "-i", path, "-F", "tid,time,event,trace"], { encoding: "utf8" });
  return { ours, events: stdout.trim().split("\n") };
}

for (const { handler, prints } of [
  { handler: "/comm == $1 && args.sig == 10/ { @ = count(); }", prints: "@: 50" },
  { handler: "/comm == $1 && args.sig == 9/ { @ = count(); }", prints: "" },
  {
    handler: "/comm == $1 && args.sig == 10/ { @[len(ustack) > 0, len(kstack) > 0] = count(); }",
    prints: "@[true, true]: 50",
  },
  { handler: '/comm == $1 && args.sig == 10/ { printf("%s ", args.comm); }', prints: "signals ".repeat(50).trim() },
])
  test(`perf counts the events of ${handler}`, { skip: without }, async () => {
    const script = ["-e", `tracepoint:signal:signal_generate ${handler}`, "signals"];
    const { ours, theirs } = await beside(script, ["stat", "-x,", "-e", "signal:signal_generate", signals]);
    assert.equal(ours.trim(), prints);
    assert.match(theirs, /^50,,signal:signal_generate,/);
  });

test("strobe drops, and skb:kfree_skb of perf", { skip: without }, async () => {
  const { ours, events } = await recorded(["drops"], "skb:kfree_skb", dropped);
  const reasons = (text: string): string[] =>
    [...text.matchAll(/(?:SKB_DROP_REASON_|reason: )(NO_SOCKET|SOCKET_RCVBUFF)/g)].map(([, reason]) => reason).sort();
  assert.deepEqual(reasons(ours), reasons(events.join("\n")));
  assert.equal(reasons(ours).filter((reason) => reason === "NO_SOCKET").length, 5);
});

test("strobe lock-contention, and lock:contention_begin and _end of perf", { skip: without }, async () => {
  const { ours, events } = await recorded(["lock-contention"], "lock:contention_*", contended);
  let waits = 0;
  const waiting = new Set<string>();
  for (const event of events) {
    const [, tid, what, lock] = /^\s*(\d+) .*lock:contention_(begin|end): (\S+)/.exec(event)!;
    if (what === "begin") waiting.add(`${tid} ${lock}`);
    else if (waiting.delete(`${tid} ${lock}`)) waits++;
  }
  const charts = ours.matchAll(/^@each\[contended, .*\]:\n((?:[[(].*\n)+)/gm);
  const counted = [...charts].flatMap(([, rows]) => [...rows.matchAll(/ (\d+) \|/g)].map(([, count]) => Number(count)));
  assert.equal(
    counted.reduce((sum, count) => sum + count, 0),
    waits,
    ours,
  );
  assert.ok(waits > 0);
});
