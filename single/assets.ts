// What is a package elsewhere is an asset of the single file.
import type { openSync } from "node:fs";

type Asset = (name: string) => ArrayBuffer;

const builtin = (name: string): unknown => process.getBuiltinModule(name as "node:fs");
/** As it lies in the file: it must not be written to. */
export const asset = (name: string): Buffer =>
  Buffer.from((builtin("node:sea") as { getRawAsset: Asset }).getRawAsset(name));

const text = "strobe-text:";
const packages: Readonly<Record<string, () => unknown>> = { "koffi.node": addon, "iced-x86": iced, "lsp.js": server };
const loaded = new Map<string, unknown>();

/** The command's require(), and the library's. */
export function requireAsset(name: string): unknown {
  if (name.startsWith(text)) return asset(name.slice(text.length)).toString();
  const load = packages[name.slice(name.lastIndexOf("/") + 1)];
  if (load === undefined) return builtin(name) ?? missing(name);
  if (!loaded.has(name)) loaded.set(name, load());
  return loaded.get(name);
}

function missing(name: string): never {
  throw new Error(`${name} is not part of strobe as a single file`);
}

/** The dynamic loader wants a file. This one has no name: nothing is left of it when the process is gone. */
function addon(): unknown {
  const fs = process.getBuiltinModule("node:fs");
  const O_TMPFILE = 0o20200000;
  const writable = openNameless(fs.openSync, O_TMPFILE | fs.constants.O_RDWR);
  try {
    fs.writeSync(writable, asset("koffi.node"));
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
  const beside: Record<string, unknown> = {
    fs: { readFileSync: () => new Uint8Array(asset("iced-x86.wasm")) },
    path: builtin("node:path"),
    util: builtin("node:util"),
  };
  return evaluated("iced-x86.js", (name) => beside[name]);
}

/** `strobe lsp`. */
function server(): unknown {
  return evaluated("lsp.js", requireAsset);
}

function evaluated(name: string, require: (name: string) => unknown): unknown {
  const module = { exports: {} };
  // oxlint-disable-next-line typescript/no-implied-eval -- modules of our own, kept as text
  const run = new Function("module", "exports", "require", "__filename", "__dirname", asset(name).toString()) as (
    ...parts: unknown[]
  ) => void;
  run(module, module.exports, require, process.execPath, "/");
  return module.exports;
}
