// Comparisons that take minutes: with gdb, with the real dtrace and SystemTap, of random programs by two executors, of
// engines and verifiers on other kernels. Each guards some rooms of src/. After a run of all tests of a kind passed, digests
// of these rooms are kept in test/compared.json, to be committed; as long as a room's digest is the same, `npm test` and CI
// compare a fourth. `npm run test:full` compares all.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { globSync } from "./glob.mjs";

/** By the kind of the tests that compare. */
const rooms = {
  live: {
    values: ["src/debuginfo", "src/machine/values", "src/machine/calls"],
    executors: ["src/compiler"],
    d: ["src/language/d"],
    bundles: ["src/rewrite"],
    recordings: ["src/recordings", "src/session/replay"],
  },
  guest: {
    engines: ["src/compiler/tracefs", "src/session/tracefs", "src/linux/kernel"],
    verifiers: ["src/compiler", "src/bpf"],
  },
};
const file = "test/compared.json";

/** By comparison of these kinds of tests: what its rooms are. */
export function digests(kinds) {
  return Object.fromEntries(
    kinds
      .flatMap((kind) => Object.entries(rooms[kind] ?? {}))
      .map(([comparison, folders]) => {
        const digest = createHash("sha256");
        for (const path of folders.flatMap((folder) => globSync(folder, "")))
          digest.update(path).update(readFileSync(path));
        return [comparison, digest.digest("hex").slice(0, 16)];
      }),
  );
}

const kept = () => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {});

/** The comparisons whose rooms are as they were when all was compared. */
export function unchanged(now) {
  const then = kept();
  return Object.keys(now).filter((comparison) => now[comparison] === then[comparison]);
}

export function keep(now) {
  writeFileSync(file, `${JSON.stringify({ ...kept(), ...now }, undefined, 2)}\n`);
}
