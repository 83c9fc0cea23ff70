// What a language is to the rest of strobe: the one object that its folder exports. A line in registry.ts makes it known
// to the command, to editors and to the documentation.
import type { Failure } from "../base/failure.ts";
import type { Diagnostic, Source, Span } from "./diagnostic.ts";
import type { ProbeSpec } from "./probe-spec.ts";
import type { Program } from "./program.ts";
import type { FindSpelling, ProbeSpellings } from "./probe-spelling.ts";
import type { Rules } from "./rules.ts";
import type { Message } from "../messages/message.ts";

export interface Language {
  /** By which `--lang` knows it, and the builtin table its spellings; lower case. */
  readonly name: string;
  /** Other names for `--lang` and `--emit`. */
  readonly aliases: readonly string[];
  /** As people write it: "TypeScript". */
  readonly title: string;
  /** One line of documentation. */
  readonly doc: string;
  /** What the names of its files end with: ".bt". */
  readonly endings: readonly string[];
  /** Commands that run its scripts, as a first line `#!/usr/bin/env NAME` has them. */
  readonly commands: readonly string[];
  readonly rules: Rules;
  /** The output format (`-f`) that is text to its authors; "text" unless it says. */
  readonly output?: string;
  /** Reads a script. Absent where its files are programs with probes in them, which `strobe run` starts. */
  readonly parse?: (source: Source, given: Given) => Parsed;
  /** What `-l` is asked for, as this language writes probes; absent where that is `kind:part:part`. */
  readonly patterns?: (text: string) => readonly Pick<ProbeSpec, "provider" | "parts" | "text">[];
  /** Lays a script out anew; absent without a formatter. */
  readonly format?: (source: Source, probes: FindSpelling) => Formatted;
  /** Writes a tree in this language; absent where nothing is translated to it. */
  readonly translate?: (program: Program, probes: ProbeSpellings) => Translated;
  /** The files that a script names to become one text with it; absent where a language has no words for that. */
  readonly references?: References;
  /** What editors offer and look up; absent where the language server leaves it to others. Made when asked for. */
  readonly editing?: () => Editing;
}

/** What the command line gives to a script. */
export interface Given {
  /** `$1`, `$2`, … */
  readonly positional: readonly string[];
  /** `--name=value`; true for a bare `--name`. */
  readonly named?: ReadonlyMap<string, string | true>;
  /** How the kinds of probes are written; without it, any is `kind:part:part` and no part is a path. */
  readonly probes?: FindSpelling;
  /** The process that is traced: its id, or that of the command that is started. */
  readonly target?: number | "command";
  /** The program that is started, where one is. */
  readonly command?: string;
  /**
   * Settings of the language's own that the command line gives, by name; "" where one has no value. In D besides its
   * options `blankids`: lines begin without CPU and probe id; `command`: what `$0` is.
   */
  readonly settings?: ReadonlyMap<string, string>;
  /** Names that the command line defines for the preprocessor, and what they stand for. */
  readonly definitions?: ReadonlyMap<string, string>;
  /** Files of definitions that the script may use, in the order in which they are looked through. */
  readonly library?: readonly LibraryFile[];
  /** It is to be written in another language, where arrays that are full are no errors. */
  readonly translated?: true;
  /** What a script may ask of the machine before it is read. */
  readonly machine?: MachineGiven;
}

export interface LibraryFile {
  readonly name: string;
  readonly text: string;
}

export interface MachineGiven {
  /** Of the kernel: "6.18.5-amd64". */
  readonly release: string;
  /** "x86_64" */
  readonly arch: string;
  /** The path of a file that a process has code of, by its name as probes name libraries; undefined where it has none. */
  mappedFile?(pid: number, name: string): string | undefined;
  /** Where a variable of the kernel is; undefined where the kernel does not tell. */
  kernelAddress?(symbol: string): bigint | undefined;
  /** Whether a module is in the kernel, loaded or built in. */
  hasModule?(name: string): boolean;
  /** Whether the kernel has a type of a name: `task_struct` with the word in front of it, `sector_t` without one. */
  hasType?(name: string, tag?: "struct" | "union" | "enum"): boolean;
  /** What tells a program's file from all others, by its path or by its name in $PATH; or why that is not known. */
  fileIdentity?(path: string): FileIdentity | Failure;
  /** Functions that those of a name, or of a wildcard, in a program's file call in it; or why that is not known. */
  calledFunctions?(path: string, callers: string): readonly CalledFunction[] | Failure;
  /** Labels of the functions of a name, or of a wildcard, in a program's file; or why that is not known. */
  labels?(path: string, functions: string): readonly Label[] | Failure;
  /** A line of the running kernel's configuration: "y", "m", a value; undefined where it is not set. */
  config(name: string): string | undefined | Failure;
}

export interface CalledFunction {
  readonly name: string;
  /** From where the function begins to where each call returns to, in bytes: the same wherever the file is loaded. */
  readonly returns: readonly bigint[];
}

export interface Label {
  readonly function: string;
  readonly name: string;
  /** As the file has it. */
  readonly address: bigint;
}

/** As the kernel numbers them; without a device where the kernel's number and stat's may differ (btrfs, overlays). */
export interface FileIdentity {
  readonly inode: bigint;
  readonly device?: bigint;
}

export interface Parsed {
  readonly program: Program;
  /** Where something is told that is wrong with what the language added to the script; absent where it added nothing. */
  readonly told?: (span: Span) => Span;
  readonly diagnostics: readonly Diagnostic[];
}

export interface Formatted {
  /** Undefined after an error. */
  readonly text?: string;
  readonly diagnostics: readonly Diagnostic[];
}

export interface Translated {
  readonly text: string;
  /** What cannot be said. The text is of no use if there are any. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface References {
  /** Endings of files that are no scripts and may be imported, too. */
  readonly headers: readonly string[];
  /** Endings of files that are known, and cannot be imported: what is said of such a file. */
  readonly refused: Readonly<Record<string, (file: string) => Message>>;
  /** `imported`: the text is itself a file that a script named. */
  of(source: Source, imported: boolean): Referenced;
}

export interface Referenced {
  /** In the order of the text. `span` is all that is to be blanked; the path is where a mistake is shown. */
  readonly imports: readonly { readonly path: string; readonly pathSpan: Span; readonly span: Span }[];
  readonly includes: readonly { readonly path: string; readonly system: boolean; readonly span: Span }[];
  /** What a file that is imported may not have. */
  readonly problem?: Diagnostic;
}

export interface Editing {
  /** Words of statements, and those that begin a declaration. */
  readonly keywords: readonly string[];
  readonly declarations: readonly string[];
  /** Characters that begin names: `$@`. */
  readonly sigils: string;
  /**
   * Every place of the names that a script itself has made, in the order of the text, finished or not. `headers`: where
   * probes are named, as far as they were read.
   */
  readonly names: (text: string, headers: readonly Span[]) => readonly OwnName[];
  /** What is offered to scripts besides the table of builtins. */
  readonly words?: () => readonly EditingWord[];
  /**
   * In what stands outside of braces in front of an offset: where the probe begins that is being written; undefined where
   * that is a predicate or a declaration.
   */
  readonly probeStart: (before: string) => number | undefined;
  /** How a probe may go on; absent where they are written as strobe's own, `kind:part:part`. */
  readonly probes?: (written: string) => OfferedProbes;
  /** What a probe is called with are names with a `$`. */
  readonly targets?: true;
  /** Its scripts have none of the table of builtins, nor the kernel's types and constants; functions have any case. */
  readonly closed?: true;
  /** What begins a comment to the end of a line; `//` unless it says. */
  readonly lineComment?: string;
  /**
   * A whole script that reads `object.member`, or `member` where the object is "", of what an unfinished text names;
   * undefined where that names nothing which has members. Absent where a statement of its own reads it.
   */
  readonly reading?: (text: string, object: string, member: string) => string | undefined;
  /** The words in front of the name of what a script declares to be called. */
  readonly callables: readonly string[];
  /** The token at or behind an offset; the kind is "end" behind the last. */
  scan(text: string, at: number): EditingToken;
}

export interface EditingToken {
  /** Editors ask for "punctuation", "identifier", "string", "bad" (an open string or comment) and "end". */
  readonly kind: string;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export interface OwnName extends Span {
  readonly kind: "map" | "variable" | "function";
  /** As written, with its sigil: `@reads`, `$x`, `reads`. */
  readonly text: string;
  /** The same kind and text means the same within it. */
  readonly scope: Span;
  /** What it stands for, where no type says so. */
  readonly means?: string;
  /** The place that declares it. */
  readonly declares?: true;
}

export interface EditingWord {
  readonly name: string;
  readonly kind: "value" | "function" | "probe";
  /** `isdigit:long (str:string)` */
  readonly signature: string;
  readonly doc: string;
}

export interface OfferedProbes {
  readonly words: readonly Pick<EditingWord, "name" | "doc">[];
  /** What finds the machine's probes that fit, `kprobe:vfs_*`; absent where none can yet. */
  readonly pattern?: string;
  /** One that was found, as this language writes it. */
  readonly spelled?: (found: string) => string;
}
