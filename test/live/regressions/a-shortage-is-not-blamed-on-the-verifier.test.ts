// Whatever call meets the limit of open files first, loading a program included, the message says that there are too
// many.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { command } from "../../support/strobe.ts";

test("too few open files are told as that", () => {
  const said = new Set<string>();
  for (let limit = 19; limit <= 23; limit++) {
    const script = 'tracepoint:sched:sched_switch { @[comm] = count(); printf("%s", comm); exit() }';
    const { stderr, status } = spawnSync(
      "/bin/sh",
      ["-c", `ulimit -n ${limit}; exec "$0" "$@"`, process.execPath, command, "-q", "-e", script],
      { encoding: "utf8", timeout: 300_000 },
    );
    if (status === 0) continue;
    assert.match(stderr, /EMFILE/, `${limit} files`);
    assert.doesNotMatch(stderr, /verifier|bug in strobe|internal error/, `${limit} files`);
    said.add(/strobe: cannot (load the program|create the map)/.exec(stderr)?.[1] ?? "");
  }
  assert.ok(said.has("load the program"), [...said].join());
});
