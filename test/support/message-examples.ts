// What is said of the examples in the tables of messages, on machines that are made up.
import { compile, type CompileOptions } from "../../src/compiler/compile.ts";
import { bpftrace } from "../../src/language/bpftrace/language.ts";
import type { Given, Parsed } from "../../src/language/language.ts";
import { languages } from "../../src/language/registry.ts";
import { typescript } from "../../src/language/typescript/language.ts";
import { ScriptError, type Diagnostic, type Source } from "../../src/language/diagnostic.ts";
import { parseProbes } from "../../src/language/typescript/parse.ts";
import { constructorNames, resolveSpec, spellingOf } from "../../src/providers/registry.ts";
import type { Resolution } from "../../src/providers/provider.ts";
import type { ProbeSpec } from "../../src/language/probe-spec.ts";
import type { Context } from "../../src/language/context.ts";
import { Failure } from "../../src/base/failure.ts";
import { u32, type StructType } from "../../src/language/types.ts";
import type { System } from "../../src/machine/system.ts";
import { probe } from "./handlers.ts";
import { madeUpCapabilities, madeUpSystem, resolveMadeUp } from "./made-up-system.ts";
import type { Entry } from "./messages.ts";
import { program, stripped } from "./made-up-program.ts";
import { smallMachine } from "./small-machine.ts";
import { reason } from "../../src/messages/message.ts";

export interface Told {
  readonly source: Source;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Probes that only these examples name: a traced function whose packet the kernel knows, one that gives nothing, one
 * with variables, one whose file has no debug information, and a probe without arguments.
 */
const packet: StructType = {
  kind: "struct",
  union: false,
  name: "sk_buff",
  size: 64,
  members: [{ name: "len", type: u32, offset: 8 }],
};
const kernel = { defaultSpace: "kernel", stacks: true } as const;
const user = {
  provider: "uprobe",
  program: { type: "kprobe", cookie: true },
  defaultSpace: "user",
  stacks: true,
} as const;
const contexts: Readonly<Record<string, Context | undefined>> = {
  "fentry:packet_rcv": {
    provider: "fentry",
    program: { type: "tracing", cookie: true },
    kernelTypes: true,
    ...kernel,
    args: [
      {
        name: "skb",
        type: { kind: "pointer", target: packet, space: "kernel", typed: true },
        fetch: { kind: "context", offset: 0, size: 8, signed: false },
      },
    ],
  },
  "fexit:schedule": {
    provider: "fexit",
    program: { type: "tracing", cookie: true },
    kernelTypes: true,
    ...kernel,
    retval: { type: u32, fetch: { kind: "constant", value: 0n }, absent: reason("nothing: the function returns void") },
  },
  "uprobe:app:main": {
    ...user,
    variables: {
      find: (name) => (name === "gone" ? new Failure(reason("`gone` is optimised out here")) : undefined),
      inScope: [],
      names: () => ["count"],
    },
    userSymbol: (name) => (name === "version" ? "the symbols of app cannot be read" : undefined),
  },
  "uprobe:stripped:main": { ...user, variables: new Failure(reason("stripped has no debug information")) },
  "usdt:app:done": { ...user, provider: "usdt", numbered: [], stacks: false },
};

/** More probes than can be told apart. */
const everyEvent: Resolution = {
  variants: [
    {
      context: { provider: "rawtracepoint", program: { type: "raw_tracepoint", cookie: true }, ...kernel },
      provider: "rawtracepoint",
      sites: Array.from({ length: 1100 }, (_, i) => ({ name: `rawtracepoint:event${i}`, data: null })),
    },
  ],
  diagnostics: [],
};

interface Surroundings {
  readonly system?: System;
  readonly options?: CompileOptions;
  /** The example's, where it is not that of the table. */
  readonly language?: string;
  /** What the command line gives to a script. */
  readonly given?: Partial<Given>;
  /** The example is a handler's filter. */
  readonly filter?: boolean;
  /** The handler's file was read as it was loaded, so that every name around it is known. */
  readonly complete?: boolean;
}

const machine: System = {
  ...smallMachine,
  binary: (name) => (name === "/bin/app" || name === "app" ? program : name === "/bin/stripped" ? stripped : undefined),
};

/** Tables about what is on the machine: probes and places are those of the providers. */
const realTables = new Set(["places", "source-lines", "inlined-copies", "watchpoints"]);

/** What `@on` names, in the order of their use. */
const surroundings: Readonly<Record<string, Surroundings | undefined>> = {
  bare: { system: madeUpSystem },
  pid: { system: machine, options: { pid: 42 } },
  "without-btf": { system: { ...machine, capabilities: { ...madeUpCapabilities, btf: false } } },
  "old-kernel": { system: { ...madeUpSystem, capabilities: { ...madeUpCapabilities, kernel: [5, 4] } } },
  "linux-6.1": { system: { ...machine, capabilities: { ...madeUpCapabilities, kernel: [6, 1] } } },
  "without-code": {
    system: { ...machine, kernelCode: () => new Failure(reason("the kernel's code cannot be read")) },
  },
  "without-command": { options: { parameters: new Map() } },
  unsafe: { options: { unsafe: true } },
  "without-configuration": {
    given: {
      machine: { release: "6.12.0", arch: "x86_64", config: () => new Failure(reason("/boot is not readable")) },
    },
  },
  "small-kernel": {
    given: {
      machine: {
        release: "6.12.0",
        arch: "x86_64",
        config: () => undefined,
        hasModule: () => false,
        hasType: () => false,
      },
    },
  },
  argument: { given: { positional: ["one"] } },
  "large-argument": { given: { positional: ["18446744073709551616"] } },
  typescript: { language: "typescript" },
  systemtap: { language: "systemtap" },
  d: { language: "d" },
  filter: { filter: true },
  "loaded-file": { complete: true },
};

const madeUpKinds = new Set(["begin", "end", "interval", "tracepoint", "kprobe"]);

export function told({ file, on }: Entry, example: string): Told {
  const around = on === undefined ? {} : surroundings[on];
  if (around === undefined) throw new Error(`no surroundings are called ${on}`);
  if (file === "translation") return translated(example);
  const language = around.language ?? file.replace(/^d-.*/, "d");
  const { program, diagnostics } = language.startsWith("typescript")
    ? parseProbes([handlerOf(example, around)])
    : readScript(language, example, around);
  const { source } = program;
  if (diagnostics.some((d) => d.severity === "error")) return { source, diagnostics };
  // Other probes are there whatever they name.
  const real = file.endsWith("probes") || realTables.has(file);
  try {
    const compiled = compile(program, around.system ?? (real ? machine : madeUpSystem), {
      resolve: (spec, system, options) => (real ? undefined : madeUp(spec)) ?? resolveSpec(spec, system, options),
      ...around.options,
    });
    return { source, diagnostics: [...diagnostics, ...compiled.diagnostics] };
  } catch (error) {
    if (error instanceof ScriptError) return error;
    throw error;
  }
}

/** Scripts in SystemTap's language have all that the tree can say. */
function translated(text: string): Told {
  const { program } = readScript("systemtap", text, { given: { translated: true } });
  const { diagnostics } = typescript.translate!(program, { find: spellingOf, constructors: constructorNames() });
  return { source: program.source, diagnostics };
}

/** The scripts of a language's own table are in that language. */
function readScript(name: string, text: string, { given }: Surroundings): Parsed {
  const language = languages.find((one) => one.name === name && one.parse !== undefined) ?? bpftrace;
  return language.parse!(
    { name: `script${language.endings[0]}`, text },
    { positional: [], probes: spellingOf, ...given },
  );
}

/** What a spec means where only its handler matters; undefined for what is resolved as ever. */
function madeUp(spec: ProbeSpec): Resolution | undefined {
  const context = contexts[spec.text];
  if (context !== undefined) return resolvedTo(context, spec.text);
  if (spec.text === "rawtracepoint:*") return everyEvent;
  return madeUpKinds.has(spec.provider) ? resolveMadeUp(spec) : undefined;
}

const resolvedTo = (context: Context, name: string): Resolution => ({
  variants: [{ context, provider: context.provider, sites: [{ name, data: null }] }],
  diagnostics: [],
});

function handlerOf(example: string, { filter, complete }: Surroundings) {
  const made = filter === true ? probe("(args) => { m.count(); }", example) : probe(example);
  return complete === true ? { ...made, handler: { ...made.handler, complete } } : made;
}
