// A unit of `Type=notify` is started once strobe has attached, and what it is told is said where it cannot be.
import assert from "node:assert/strict";
import { readSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { closeFd, syscall } from "../../../src/linux/ffi.ts";
import { strobe, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
after(() => folder.remove());

const [SOCKET, BIND] = process.arch === "arm64" ? [198, 200] : [41, 49];
const [AF_UNIX, SOCK_DGRAM, SOCK_NONBLOCK] = [1, 2, 0o4000];

/** All datagrams that came to a socket while `use` ran. */
async function received(name: string, use: () => Promise<unknown>): Promise<readonly string[]> {
  const socket = syscall(SOCKET, AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK);
  assert.ok(socket >= 0);
  try {
    const address = Buffer.from(`\u0001\0${name.replace(/^@/, "\0")}`, "latin1");
    assert.equal(syscall(BIND, socket, address, address.length), 0);
    await use();
    const datagrams: string[] = [];
    for (const room = Buffer.alloc(4096); ;) {
      try {
        datagrams.push(room.toString("utf8", 0, readSync(socket, room)));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
        return datagrams;
      }
    }
  } finally {
    closeFd(socket);
  }
}

const skip = process.geteuid?.() !== 0 && "needs root";

for (const name of [join(folder.path, "notify"), `@strobe-test-${process.pid}`]) {
  test(`a socket ${name.startsWith("@") ? "without a file" : "with a path"}`, { skip }, async () => {
    const told = await received(name, async () => {
      const { code, stderr } = await strobe(["-e", "begin { exit(); }"], { env: { NOTIFY_SOCKET: name } });
      assert.equal(stderr, "Attached 1 probe\n");
      assert.equal(code, 0);
    });
    assert.deepEqual(told, ["READY=1", "STOPPING=1"]);
  });
}

test("a script that does not start is not ready", { skip }, async () => {
  const name = join(folder.path, "never");
  const told = await received(name, async () => {
    const { code } = await strobe(["-e", "begin { @x = ; }"], { env: { NOTIFY_SOCKET: name } });
    assert.equal(code, 1);
  });
  assert.deepEqual(told, []);
});

test("a socket that is not there is said, and the trace goes on", { skip }, async () => {
  const name = join(folder.path, "absent");
  const { code, stdout, stderr } = await strobe(["-e", 'begin { printf("on\\n"); exit(); }'], {
    env: { NOTIFY_SOCKET: name },
  });
  const warning = (state: string): string =>
    `WARNING: cannot tell the service manager "${state}" (NOTIFY_SOCKET=${name}): sendto: no such thing (ENOENT)\n`;
  assert.equal(stderr, `Attached 1 probe\n${warning("READY=1")}${warning("STOPPING=1")}`);
  assert.equal(stdout, "on\n\n\n");
  assert.equal(code, 0);
});
