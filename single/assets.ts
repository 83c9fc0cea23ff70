// What is a package elsewhere is an asset of the single file.
import type { openSync } from "node:fs";

type Asset = (name: string) => ArrayBuffer;

const builtin = (name: string): unknown => process.getBuiltinModule(name as "node:fs");
const asset: Asset = (name) => (builtin("node:sea") as { getRawAsset: Asset }).getRawAsset(name);

/** The command's require(). */
export function requireAsset(name: string): unknown {
  if (name.endsWith("/koffi.node")) return addon();
  if (name === "iced-x86") return iced();
  const module = builtin(name);
  if (module !== undefined) return module;
  throw new Error(`${name} is not part of strobe as a single file: install strobe with npm`);
}

/** The dynamic loader wants a file. This one has no name: nothing is left of it when the process is gone. */
function addon(): unknown {
  const fs = process.getBuiltinModule("node:fs");
  const O_TMPFILE = 0o20200000;
  const writable = openNameless(fs.openSync, O_TMPFILE | fs.constants.O_RDWR);
  try {
    fs.writeSync(writable, new Uint8Array(asset("koffi.node")));
    // A file that is open for writing cannot be run from.
    const readable = fs.openSync(`/proc/self/fd/${writable}`, "r");
    try {
      const loaded = { exports: {} };
      process.dlopen(loaded, `/proc/self/fd/${readable}`);
      return loaded.exports;
    } finally {
      fs.closeSync(readable);
    }
  } finally {
    fs.closeSync(writable);
  }
}

/** In the first folder that takes such a file and lets it be mapped. */
function openNameless(open: typeof openSync, flags: number): number {
  let problem: unknown;
  for (const folder of ["/dev/shm", "/tmp", "/run", process.cwd()]) {
    try {
      return open(folder, flags, 0o700);
    } catch (error) {
      problem = error;
    }
  }
  throw problem;
}

/** The package reads its WebAssembly from beside itself. */
function iced(): unknown {
  const module = { exports: {} };
  const packages: Record<string, unknown> = {
    fs: { readFileSync: () => new Uint8Array(asset("iced-x86.wasm")) },
    path: builtin("node:path"),
    util: builtin("node:util"),
  };
  const source = new TextDecoder().decode(asset("iced-x86.js"));
  // oxlint-disable-next-line typescript/no-implied-eval -- a module of our own, kept as text
  const run = new Function("module", "exports", "require", "__dirname", source) as (...parts: unknown[]) => void;
  run(module, module.exports, (name: string) => packages[name], "/");
  return module.exports;
}
