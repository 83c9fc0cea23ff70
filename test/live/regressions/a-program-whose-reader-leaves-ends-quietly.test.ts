// `strobe run PROGRAM | head`: no stack trace, as with any script whose reader leaves.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { command, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
after(() => folder.remove());

function intoHead(args: string): { readonly stdout: string; readonly stderr: string } {
  const { stdout, stderr } = spawnSync(
    "/bin/bash",
    ["-c", `"${process.execPath}" "${command}" ${args} | head -n 1; echo "codes \${PIPESTATUS[*]}"`],
    { encoding: "utf8", cwd: folder.path, timeout: 300_000 },
  );
  return { stdout, stderr };
}

test("console.log and streams", () => {
  writeFileSync(join(folder.path, "log.ts"), "for (let i: number = 0; i < 100_000; i++) console.log(`line ${i}`);\n");
  writeFileSync(join(folder.path, "stream.ts"), "setInterval(() => process.stdout.write('line\\n'), 1);\n");
  assert.deepEqual(intoHead("run log.ts"), { stdout: "line 0\ncodes 0 0\n", stderr: "" });
  assert.deepEqual(intoHead("run stream.ts"), { stdout: "line\ncodes 0 0\n", stderr: "" });
});

test("another EPIPE of the program's is said as Node says it", () => {
  writeFileSync(
    join(folder.path, "other.ts"),
    'throw Object.assign(new Error("the socket is closed"), { code: "EPIPE", syscall: "write" });\n',
  );
  const { status, stderr } = spawnSync(process.execPath, [command, "run", "other.ts"], {
    encoding: "utf8",
    cwd: folder.path,
    timeout: 300_000,
  });
  assert.equal(status, 1);
  assert.match(stderr, /the socket is closed/);
});

test("lists and JSON", () => {
  assert.deepEqual(intoHead("-l"), { stdout: "begin\ncodes 0 0\n", stderr: "" });
  assert.deepEqual(intoHead(`-q -f json -e 'interval:ms:1 { printf("x\\n") }'`), {
    stdout: '{"type": "printf", "data": "x\\n"}\ncodes 0 0\n',
    stderr: "",
  });
});
