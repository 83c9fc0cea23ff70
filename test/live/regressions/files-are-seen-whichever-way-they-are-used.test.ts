// What is done to files without a system call of its own for each deed is in the tools about files as well.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { rows, run, traced } from "../../support/tool-runs.ts";
import { comm, folder, work } from "../../support/tool-workloads.ts";

const skip = process.geteuid?.() !== 0 ? "needs root" : false;

test("slow-files, opens and deletes: what is done by aio and through io_uring", { skip }, async (t) => {
  const [path, missing] = [join(folder.path, "in a ring"), join(folder.path, "in no ring")];
  const trace = await traced("slow-files", ["--ms=0"], () => run(work, "ring-files", path));
  if (trace.result.output === "") return t.skip("needs io_uring");
  assert.equal(Number(trace.result.output), 5000 + 600 + 345 + 345);
  assert.deepEqual(
    rows(trace, ([, , pid, , , ...file]) => pid === String(trace.result.pid) && file.join(" ") === "in a ring").map(
      ([, name, , , size]) => [name, Number(size)],
    ),
    // One request was submitted to aio.
    [1, 5000, 600, 345, 345, 0].map((size) => [comm, size]),
  );
  const opened = await traced("opens", [], () => run(work, "ring-names", path, missing));
  const [fd] = opened.result.output.split(" ");
  assert.deepEqual(
    rows(opened, (columns) => columns[0] === String(opened.result.pid))
      .map(([, name, ...columns]) => `${name} ${columns.join(" ")}`)
      .filter((line) => line.endsWith("ring")),
    [`${comm} ${fd} 0 ${path}`, `${comm} -1 2 ${missing}`],
  );
  writeFileSync(path, "");
  const deleted = await traced("deletes", [], () => run(work, "ring-names", path, missing));
  assert.deepEqual(
    rows(deleted, ([, pid]) => pid === String(deleted.result.pid)).map(([, , ...columns]) => columns.join(" ")),
    [missing, path].map((name) => `${comm} ${name}`),
  );
});
