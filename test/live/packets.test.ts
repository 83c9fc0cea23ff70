// skboutput(): packets of a program that the test starts, as the capture file has them.
import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { bpfObjects, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
after(() => folder.remove());

interface Captured {
  readonly seconds: number;
  readonly whole: number;
  readonly bytes: Buffer;
}

function packetsOf(path: string): Captured[] {
  const file = readFileSync(path);
  assert.equal(file.readUInt32LE(0), 0xa1b2_3c4d);
  assert.equal(file.readUInt32LE(20), 101);
  const found: Captured[] = [];
  for (let at = 24; at < file.length;) {
    const length = file.readUInt32LE(at + 8);
    found.push({
      seconds: file.readUInt32LE(at) + file.readUInt32LE(at + 4) / 1e9,
      whole: file.readUInt32LE(at + 12),
      bytes: file.subarray(at + 16, at + 16 + length),
    });
    at += 16 + length;
  }
  return found;
}

/** A command that sends texts to a socket of this process, one after the other. */
async function sender(texts: readonly string[]): Promise<{ command: string; received: string[]; close: () => void }> {
  const socket = createSocket("udp4");
  const received: string[] = [];
  socket.on("message", (text) => received.push(text.toString()));
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  const script = join(folder.path, `send-${socket.address().port}.cjs`);
  writeFileSync(
    script,
    `
    const socket = require("node:dgram").createSocket("udp4");
    const texts = ${JSON.stringify(texts)};
    const next = () => texts.length > 0 ? socket.send(texts.shift(), ${socket.address().port}, "127.0.0.1", next) : socket.close();
    next();`,
  );
  return { command: `${process.execPath} ${script}`, received, close: () => socket.close() };
}

/** Bytes of the Ethernet header, which loopback has, too; of an IPv4 header and a UDP one. */
const [ethernet, headers] = [14, 28];
/** More than a page: the kernel keeps the packet in several parts. */
const long = "0123456789".repeat(5000);

test("skboutput writes whole packets to a capture file, in the order of their times", async () => {
  const before = bpfObjects();
  const { command, received, close } = await sender(["first", long, "third"]);
  const path = join(folder.path, "whole.pcap");
  const started = Date.now() / 1000;
  const { stdout, stderr, code } = await strobe([
    "-q",
    "-c",
    command,
    "-e",
    `rawtracepoint:net_dev_queue /pid == cpid/ { @[skboutput("${path}", args.skb, args.skb.len, ${ethernet})] = count(); }`,
  ]);
  close();
  assert.equal(code, 0, stderr);
  assert.equal(stdout.trim(), "@[0]: 3");
  assert.deepEqual(received, ["first", long, "third"]);
  const packets = packetsOf(path);
  assert.deepEqual(
    packets.map(({ bytes }) => bytes.subarray(headers).toString()),
    ["first", long, "third"],
  );
  assert.deepEqual(
    packets.map(({ whole }) => whole),
    [headers + 5, headers + long.length, headers + 5],
  );
  for (const { bytes, seconds } of packets) {
    assert.equal(bytes[0], 0x45);
    assert.ok(seconds > started - 1 && seconds < Date.now() / 1000 + 1, `${seconds}`);
  }
  assert.deepEqual(
    packets.map(({ seconds }) => seconds),
    packets.map(({ seconds }) => seconds).sort((a, b) => a - b),
  );
  await nothingLeft(before);
});

test("skboutput takes the beginning of packets, and refuses more than they have", async () => {
  const { command, close } = await sender(["some text"]);
  const [part, none] = ["part.pcap", "none.pcap"].map((name) => join(folder.path, name));
  const { stdout, stderr, code } = await strobe([
    "-q",
    "-c",
    command,
    "-e",
    `rawtracepoint:net_dev_queue /pid == cpid/ { $skb = args.skb; printf("%d %d\\n", skboutput("${part}", $skb, 24, ${ethernet}), skboutput("${none}", $skb, $skb.len + 1, 0)); }`,
  ]);
  close();
  assert.equal(code, 0, stderr);
  assert.equal(stdout.trim(), "0 -14");
  assert.deepEqual(
    packetsOf(part).map(({ bytes, whole }) => [bytes.length, whole]),
    [[10, headers + 9]],
  );
  assert.deepEqual(packetsOf(none), []);
});

test("a capture file that cannot be written is refused before anything is attached", async () => {
  const path = join(folder.path, "not/there.pcap");
  const { stderr, code } = await strobe([
    "-e",
    `rawtracepoint:net_dev_queue { skboutput("${path}", args.skb, 20, 0); }`,
  ]);
  assert.equal(code, 1);
  assert.match(
    stderr,
    new RegExp(`^strobe: cannot write the capture file ${path}: open: no such thing \\(ENOENT\\)$`, "m"),
  );
  assert.ok(!existsSync(path));
});
