// Where the files are that tell of the kernel's and programs' types, lines and variables, beyond where they are by
// themselves. The edge reads it from options and the environment (api/search-paths.ts); nothing below asks the environment.
import type { Descriptions } from "./values/descriptions.ts";

export interface SearchPaths {
  /** The running kernel's binary with its debug information, uncompressed. */
  readonly vmlinux?: string | undefined;
  /** The running kernel's types, for a kernel that does not offer them: BTF, or an ELF file with it. */
  readonly btf?: string | undefined;
  /** Folders of debug files, from the binary's own on where they are relative. */
  readonly debuginfo?: readonly string[] | undefined;
  /** Files that describe types of libraries, before strobe's own (docs/values.md). */
  readonly types?: readonly string[] | undefined;
  /** Folders of programs and of libraries that are named without one: $PATH and $LD_LIBRARY_PATH. */
  readonly programs?: readonly string[] | undefined;
  readonly libraries?: readonly string[] | undefined;
  /** debuginfod servers, and the folder that its clients keep files in where it is another than usual. */
  readonly servers?: readonly string[] | undefined;
  readonly downloads?: string | undefined;
}

/** What a binary asks of the machine that it is on. */
export interface Surroundings {
  readonly paths: SearchPaths;
  /** Of types of libraries; strobe's own unless given. @throws DescriptionError, RefusedFile, or Node's error */
  readonly descriptions?: () => Descriptions;
}
