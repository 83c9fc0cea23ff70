// What scripts print, as events of the kernel's own tracing: an event a line, in an instance of the test's own.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { strobe, temporaryFolder } from "../support/strobe.ts";

const deadline = { timeout: 120_000, skip: process.geteuid?.() !== 0 && "needs root" };
const folder = temporaryFolder();
const name = `markers-${process.pid}`;
const instance = `/sys/kernel/tracing/instances/${name}`;

after(() => folder.remove());

/** Makes the instance for as long as something is done. */
async function inInstance<T>(work: () => Promise<T>): Promise<T> {
  mkdirSync(instance);
  try {
    return await work();
  } finally {
    rmdirSync(instance);
  }
}

const markers = (): readonly string[] =>
  readFileSync(`${instance}/trace`, "utf8")
    .split("\n")
    .flatMap((line) => /: tracing_mark_write: (.*)$/.exec(line)?.[1] ?? []);

test("each line is a marker, beside another format", deadline, () =>
  inInstance(async () => {
    const script = `begin { printf("a %d\\n\\nb\\n", 1); printf("in "); printf("pieces\\n"); @n = 7; @by["x"] = count(); printf("open"); exit(); }`;
    const { code, stdout, stderr } = await strobe(["-f", `trace_marker=${name}`, "-f", "text", "-e", script]);
    assert.equal(code, 0, stderr);
    assert.equal(stderr, "Attached 1 probe\n");
    assert.equal(stdout, "a 1\n\nb\nin pieces\nopen\n\n@by[x]: 1\n@n: 7\n");
    assert.deepEqual(markers(), ["a 1", "b", "in pieces", "open", "@by[x]: 1", "@n: 7"]);
  }),
);

test("a line that is longer than a marker is several, none of them within a character", deadline, () =>
  inInstance(async () => {
    const text = join(folder.path, "text");
    const line = `${"é".repeat(1500)}.`;
    writeFileSync(text, `${line}\n`);
    const { code, stderr } = await strobe([
      "-q",
      "-f",
      `trace_marker=${name}`,
      "-e",
      `begin { cat("${text}"); exit(); }`,
    ]);
    assert.equal(code, 0, stderr);
    assert.deepEqual(
      markers().map((one) => Buffer.byteLength(one)),
      [1022, 1022, 957],
    );
    assert.equal(markers().join(""), line);
  }),
);

test("lines that the kernel did not take are told", deadline, () =>
  inInstance(async () => {
    writeFileSync(`${instance}/tracing_on`, "0");
    const script = `begin { printf("a\\nb\\n"); exit(); }`;
    const { code, stderr } = await strobe(["-q", "-f", `trace_marker=${name}`, "-e", script]);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^WARNING: lost 2 events of trace_marker \(.*tracing_on is 0.*\)$/m);
    assert.deepEqual(markers(), []);
  }),
);

test("what cannot be is refused before anything is attached", deadline, async () => {
  const refused = async (...words: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await strobe([...words, "-e", 'begin { printf("x\\n"); exit(); }']);
    assert.notEqual(code, 0);
    assert.equal(stdout, "");
    return stderr;
  };
  assert.match(
    await refused("-f", `trace_marker=${name}`),
    new RegExp(`^strobe: cannot write ${instance}/trace_marker: open: .*ENOENT`),
  );
  assert.match(await refused("-f", "trace_marker=../tracing"), /takes an instance of tracefs, not "..\/tracing"/);
  assert.match(await refused("-f", "user_events=a b"), /takes an event's name, not "a b"/);
  assert.match(await refused("-f", "trace_marker", "-o", "/dev/null"), /each -f has a place of its own/);
});
