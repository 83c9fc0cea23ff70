// strobe's tools beside those of BCC (Debian's libbpf-tools) that need functions which the machine's own kernel may not
// let be probed.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, test } from "node:test";
import { compileC, temporaryFolder } from "../support/strobe.ts";
import { tryOnKernels } from "./trials.ts";

const folder = temporaryFolder();
after(() => folder.remove());

/** Connects four times by IPv4, three by IPv6, and twice to where nobody listens. */
const source = `
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
static int listens(int family, struct sockaddr *at, socklen_t size)
{
	int listener = socket(family, SOCK_STREAM, 0);
	bind(listener, at, size);
	getsockname(listener, at, &size);
	listen(listener, 8);
	return listener;
}
static void connects(int family, struct sockaddr *to, socklen_t size, int times)
{
	for (int i = 0; i < times; i++) {
		int client = socket(family, SOCK_STREAM, 0);
		connect(client, to, size);
		close(client);
	}
}
int main(void)
{
	struct sockaddr_in four = { AF_INET, 0, { htonl(INADDR_LOOPBACK) } };
	struct sockaddr_in6 six = { AF_INET6, 0, 0, IN6ADDR_LOOPBACK_INIT };
	int listener = listens(AF_INET, (struct sockaddr *)&four, sizeof four);
	connects(AF_INET, (struct sockaddr *)&four, sizeof four, 4);
	listens(AF_INET6, (struct sockaddr *)&six, sizeof six);
	connects(AF_INET6, (struct sockaddr *)&six, sizeof six, 3);
	close(listener);
	connects(AF_INET, (struct sockaddr *)&four, sizeof four, 2);
	return 0;
}
`;

const tools = ["tcpconnect", "tcpconnlat"];
const installed = tools.every((tool) => existsSync(`/usr/sbin/${tool}`));

/** Of each line of the program: its name, where it connected to, and of strobe's how that ended. */
const connections = (text: string, ...columns: readonly number[]): string[][] =>
  text
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter((line) => line.includes("connects"))
    .map((line) => columns.map((column) => line[column]));

if (!installed)
  test("connections beside BCC's tools", { skip: `needs ${tools.join(" and ")} of BCC's libbpf-tools` }, () => {});

tryOnKernels({
  verb: "tells of connections as BCC does",
  on: installed ? ["6.1", "6.12"] : [],
  files: () => ({
    "/bin/connects": compileC(folder.path, "connects", source, ["-static"]),
    // They would keep their lines until they end.
    ...Object.fromEntries(["/usr/bin/stdbuf", "/usr/libexec/coreutils/libstdbuf.so"].map((path) => [path, path])),
    ...Object.fromEntries(tools.map((tool) => [`/bin/${tool}`, `/usr/sbin/${tool}`])),
  }),
  deadline: 300,
  trials: () => [
    {
      name: "strobe tcp-connects, tcpconnect and tcpconnlat",
      script: `ifconfig lo 127.0.0.1 up
/usr/bin/stdbuf -oL tcpconnect > /tmp/tcpconnect & /usr/bin/stdbuf -oL tcpconnlat > /tmp/tcpconnlat & strobe tcp-connects > /tmp/strobe 2>&1 &
until grep -q DPORT /tmp/tcpconnect && grep -q DPORT /tmp/tcpconnlat && grep -q Attached /tmp/strobe; do sleep 0.2; done
connects; sleep 1
kill -INT $(pidof tcpconnect) $(pidof tcpconnlat) $(pidof node); wait
for tool in strobe tcpconnect tcpconnlat; do cat /tmp/$tool; echo; echo ----; done`,
      deadline: 120,
      check: ({ stdout, stderr }) => {
        const [ours, connect, latency] = stdout.split("\n----\n");
        const places = connections(ours, 4, 5);
        assert.equal(places.length, 9, stdout + stderr);
        assert.deepEqual(connections(connect, 4, 5), places);
        assert.deepEqual(connections(latency, 4, 5), places);
        assert.deepEqual(
          connections(ours, 6, 7).map((words) => words.join(" ").trim()),
          [...Array<string>(7).fill("connected"), ...Array<string>(2).fill("Connection refused")],
        );
      },
    },
  ],
});
