// Comparisons that take minutes: with gdb, with the real dtrace and SystemTap, of random programs by two executors. Each
// guards some rooms of src/. After a run of all tests passed, digests of these rooms are kept in test/compared.json, to be
// committed; as long as a room's digest is the same, `npm test` and CI compare a fourth. `npm run test:full` compares all.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { globSync } from "./glob.mjs";

const rooms = {
  values: ["src/debuginfo", "src/machine/values", "src/machine/calls"],
  executors: ["src/compiler"],
  d: ["src/language/d"],
  bundles: ["src/rewrite"],
  recordings: ["src/recordings", "src/session/replay"],
};
const file = "test/compared.json";

/** By comparison: what its rooms are. */
export function digests() {
  return Object.fromEntries(
    Object.entries(rooms).map(([comparison, folders]) => {
      const digest = createHash("sha256");
      for (const path of folders.flatMap((folder) => globSync(folder, "")))
        digest.update(path).update(readFileSync(path));
      return [comparison, digest.digest("hex").slice(0, 16)];
    }),
  );
}

/** The comparisons whose rooms are as they were when all was compared. */
export function unchanged(now) {
  const then = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  return Object.keys(now).filter((comparison) => now[comparison] === then[comparison]);
}

export function keep(now) {
  writeFileSync(file, `${JSON.stringify(now, undefined, 2)}\n`);
}
