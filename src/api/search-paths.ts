// Where to look for files, of what options and the environment say. Apart from the machine, which a plan that was kept
// does without.
import type { SearchPaths } from "../machine/search-paths.ts";

/** Where to look first for what tells of types, lines and variables. */
export interface MachineOptions {
  /** The running kernel's binary with its debug information; STROBE_VMLINUX, then BPFTRACE_VMLINUX unless given. */
  readonly vmlinux?: string | undefined;
  /** Folders of debug files, from a binary's own on where they are relative; STROBE_DEBUGINFO unless given. */
  readonly debuginfo?: readonly string[] | undefined;
  /** Files that describe types of libraries (docs/values.md); STROBE_TYPES unless given. */
  readonly types?: readonly string[] | undefined;
}

const split = (list: string | undefined, by: string | RegExp): string[] =>
  (list ?? "").split(by).filter((one) => one !== "");

/** Lists in the environment have colons in between, URLs spaces. */
export function searchPaths(
  { vmlinux, debuginfo, types }: MachineOptions,
  env: Readonly<Record<string, string | undefined>> = process.env,
): SearchPaths {
  return {
    vmlinux: vmlinux ?? env["STROBE_VMLINUX"] ?? env["BPFTRACE_VMLINUX"],
    btf: env["BPFTRACE_BTF"],
    debuginfo: debuginfo ?? split(env["STROBE_DEBUGINFO"], ":"),
    types: types ?? split(env["STROBE_TYPES"], ":"),
    programs: env["PATH"] === undefined ? undefined : env["PATH"].split(":"),
    libraries: split(env["LD_LIBRARY_PATH"], ":"),
    servers: split(env["DEBUGINFOD_URLS"], /\s+/).filter((url) => /^https?:\/\//.test(url)),
    downloads: env["DEBUGINFOD_CACHE_PATH"],
  };
}
