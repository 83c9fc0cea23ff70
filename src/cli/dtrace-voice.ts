// What dtrace says beside the script's own output: which probes were matched, and what is wrong.
import { dDescriptions } from "../messages/d-descriptions.ts";
import { dExpressions } from "../messages/d-expressions.ts";
import { dNames } from "../messages/d-names.ts";
import { lazy } from "../base/lazy.ts";
import type { CompiledScript } from "../api/compile.ts";
import type { Diagnostic, Source } from "../language/diagnostic.ts";
import type { Voice } from "./options.ts";
import { print, tell } from "./files.ts";

// Loaded for -v.
const attributes = lazy<typeof import("./dtrace-attributes.ts")>(() => require("./dtrace-attributes.ts"));

/** A program of the command line: `-n TEXT`, `-s FILE` and so on; `L` is a library in front of them. */
export interface DtraceProgram {
  readonly letter: string;
  /** What was written behind the letter. */
  readonly name: string;
  text: string;
  /** Where it begins in the text of all. */
  start?: number;
}

/** Mistakes that DTrace finds while it reads an action list say so, where no line tells. */
const inActions = new Set([
  "D_IDENT_UNDEF",
  "D_VAR_UNDEF",
  "D_ARGS_IDX",
  "D_AGG_FUNC",
  "D_AGG_REDEF",
  "D_OP_INCOMPAT",
  "D_OP_LVAL",
  "D_PROTO_LEN",
  "D_PROTO_ARG",
]);

const cTypes: Readonly<Record<string, string>> = {
  int8: "char",
  uint8: "unsigned char",
  int16: "short",
  uint16: "unsigned short",
  int32: "int",
  uint32: "unsigned int",
  int64: "long",
  uint64: "unsigned long",
  kstack_t: "dt_stack_t",
  ustack_t: "dt_stack_t",
};

/** A type of the checker's, as C has it. */
function cType(type: string): string {
  const [, name = type, behind = ""] = /^(\w+)((?: ?[*]+)?)$/.exec(type) ?? [];
  if (/^string\[\d+\]$/.test(type)) return "string";
  return `${Object.hasOwn(cTypes, name) ? cTypes[name] : name}${behind}`;
}

/** What the checker and the providers say of all languages, in DTrace's words. */
function inWordsOfD(one: Diagnostic, text: string): Diagnostic {
  const { tag, about, span } = one;
  if (tag !== undefined || about === undefined) return one;
  const written = text.slice(span.start, span.end).trim();
  const [, provider, pid, module = "", of = ""] =
    /^([A-Za-z_]\w*?)(\$target|\d+):([^:]*):([^:]*):[^:]*$/.exec(written) ?? [];
  const isOwn = module === "" || module === "a.out";
  switch (about.kind) {
    case "symbol":
      // With its module, as it is written.
      return { ...one, ...dNames.unknownSymbol(/^\w*`[\w`]+$/.test(written) ? written : `\`${about.name}`) };
    case "types":
      return { ...one, ...dExpressions.incompatible(cType(about.left), about.operator, cType(about.right)) };
    case "function":
      return pid === undefined
        ? one
        : { ...one, ...dDescriptions.offsetOutside(written.split(":").at(-1) ?? "", about.name) };
    case "program":
      if (pid === undefined) return one;
      return { ...one, ...(isOwn ? dDescriptions.processGrabbed(pid) : dDescriptions.provider(written)) };
    case "probes": {
      const isFunction = provider === "pid" && module !== "" && !/[*?[]/.test(of);
      return { ...one, ...(isFunction ? dDescriptions.functionOf(module, of) : dDescriptions.provider(written)) };
    }
  }
}

/** A probe that a description means; the description where there is none. */
function meant(written: string, variants: CompiledScript["stages"]["probes"][number]["variants"]): string {
  const names = variants.flatMap(({ sites }) => sites.map(({ name }) => name));
  const last = written.split(":").at(-1) ?? "";
  return names.find((name) => name.endsWith(`:${last}`)) ?? names.at(0) ?? written;
}

export class DtraceVoice implements Voice {
  readonly #programs: readonly DtraceProgram[];
  readonly #settings: ReadonlyMap<string, string>;
  readonly #flags: ReadonlySet<string>;

  constructor(programs: readonly DtraceProgram[], settings: ReadonlyMap<string, string>, flags: ReadonlySet<string>) {
    this.#programs = programs;
    this.#settings = settings;
    this.#flags = flags;
  }

  /** The first mistake; like DTrace's compiler, which goes no further. */
  wrong({ text }: Source, all: readonly Diagnostic[]): string {
    const first = all.find(({ code }) => code !== "unsafe") ?? all.at(0);
    if (first === undefined) return "";
    if (first.code === "unsafe") return "dtrace: could not enable tracing: Destructive actions not allowed\n";
    const { span, message, tag } = inWordsOfD(first, text);
    const program = this.#of(span.start);
    const shown = this.#settings.has("errtags") && tag !== undefined ? `[${tag}] ` : "";
    if (tag === "D_ACT_RETURN") return `dtrace: could not enable tracing: ${shown}${message}\n`;
    const region = tag !== undefined && inActions.has(tag) ? "in action list: " : "";
    // Libraries are read for the first program.
    const isLibrary = program.letter === "L";
    const { letter, name } = isLibrary ? this.#programs.find((one) => one.letter !== "L")! : program;
    const place = this.#place(program, span.start);
    const where = isLibrary ? `"${program.name}", ${place}: ` : letter === "s" ? `${place}: ` : region;
    const what =
      letter === "s"
        ? `failed to compile script ${name}: ${shown}${where}`
        : `invalid probe specifier ${name}: ${shown}${where}`;
    return `dtrace: ${what}${message}\n`;
  }

  compiled({ stages, diagnostics, program: { source } }: CompiledScript): boolean {
    // DTrace has no such thing: what it does and strobe does not yet, and what is not there yet.
    for (const { severity, code, message, help } of diagnostics) {
      if (severity !== "warning") continue;
      if (code === "feature") tell(`dtrace: warning: ${message}\n`);
      if (code === "name" && !this.#flags.has("Z")) tell(`dtrace: warning: ${message}${help ? `: ${help}` : ""}\n`);
    }
    if (this.#flags.has("v")) this.#describe(stages.probes, source);
    if (this.#flags.has("e")) return false;
    const quiet = this.#settings.has("quiet") || /^\s*#pragma\s+D\s+option\s+quiet\b/m.test(source.text);
    const counts = this.#programs.map(() => 0);
    for (const { probe, variants } of stages.probes) {
      const at = this.#programs.indexOf(this.#of(probe.span.start));
      // What the language adds of its own stands behind the text.
      if (probe.span.start >= source.text.length) continue;
      counts[at] += variants.reduce((sum, { sites }) => sum + new Set(sites.map(({ name }) => name)).size, 0);
    }
    if (!quiet)
      for (const [at, { letter, name }] of this.#programs.entries())
        if (letter !== "L")
          tell(
            `dtrace: ${letter === "s" ? "script" : "description"} '${letter === "s" ? name : name.split(/[{/]/, 1)[0]}' matched ${counts[at]} probe${counts[at] === 1 ? "" : "s"}\n`,
          );
    return true;
  }

  /** How stable what a program names is. */
  #describe(probes: CompiledScript["stages"]["probes"], { text }: Source): void {
    for (const [at, { letter, name, start = 0 }] of this.#programs.entries()) {
      const end = this.#programs.at(at + 1)?.start ?? text.length;
      const clauses = probes
        .filter(({ probe: { span } }) => span.start >= start && span.start < end)
        .map(({ probe: { span, specs }, variants }) => ({
          text: text.slice(span.start, span.end),
          descriptions: new Map(specs.map(({ text: written }) => [written, meant(written, variants)])),
        }));
      if (clauses.length === 0) continue;
      const title = letter === "s" ? `script ${name}` : `description ${name.split(/[{/]/, 1)[0]}`;
      print(attributes().describedProgram(title, clauses, this.#flags.has("e")));
    }
  }

  #of(offset: number): DtraceProgram {
    return this.#programs.findLast(({ start = 0 }) => start <= offset) ?? this.#programs[0];
  }

  /** `line 5`; `"other.d", line 5` behind a line that says so. */
  #place({ name, text, start = 0 }: DtraceProgram, offset: number): string {
    const before = text.slice(0, offset - start);
    const marks = [...before.matchAll(/^[ \t]*#[ \t]*(line[ \t]+)?(\d+)(?:[ \t]+"((?:[^"\\\n]|\\.)*)")?[^\n]*\n/gm)];
    const last = marks.at(-1);
    if (last === undefined) return `line ${before.split("\n").length}`;
    // Behind `#line 5` as a script has it the lines go on with 6, behind the preprocessor's `# 5` with 5.
    const line =
      Number(last[2]) +
      (last[1] === undefined ? 0 : 1) +
      before.slice(last.index + last[0].length).split("\n").length -
      1;
    const file = marks.findLast((mark) => mark[3] !== undefined)?.[3];
    return file === undefined || file === name ? `line ${line}` : `"${file}", line ${line}`;
  }
}
