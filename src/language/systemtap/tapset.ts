// The library that is written in SystemTap's own language (tapset/*.stp): of it only what a script uses is parsed.
// oxlint-disable-next-line typescript/triple-slash-reference -- modules that are no TypeScript are declared for every compiler of ours
/// <reference path="./tapset/stp.d.ts" />
import type { Source, Span } from "../diagnostic.ts";
import type { MachineGiven } from "../language.ts";
import { libraryFunction, printers } from "./library.ts";
import { parseScript } from "./parse-script.ts";
import { visit } from "./names.ts";
import type { Alias, FunctionDefinition, Global, Point, ProbeDefinition, Script } from "./syntax.ts";
import calls from "./tapset/calls.stp";
import conversions from "./tapset/conversions.stp";
import counters from "./tapset/counters.stp";
import errors from "./tapset/errors.stp";
import files from "./tapset/files.stp";
import indentation from "./tapset/indentation.stp";
import interrupts from "./tapset/interrupts.stp";
import memory from "./tapset/memory.stp";
import network from "./tapset/network.stp";
import once from "./tapset/once.stp";
import paths from "./tapset/paths.stp";
import processes from "./tapset/processes.stp";
import queues from "./tapset/queues.stp";
import scheduler from "./tapset/scheduler.stp";
import signals from "./tapset/signals.stp";
import sockets from "./tapset/sockets.stp";
import tasks from "./tapset/tasks.stp";
import terminal from "./tapset/terminal.stp";
import terminals from "./tapset/terminals.stp";
import texts from "./tapset/texts.stp";
import timing from "./tapset/timing.stp";

/** A function, a global or an alias of the library, as text. */
interface Definition {
  readonly doc: string;
  readonly text: string;
}

/** By its name; of functions with several numbers of parameters each. */
interface Index {
  readonly functions: ReadonlyMap<string, readonly Definition[]>;
  readonly globals: ReadonlyMap<string, readonly Definition[]>;
  readonly probes: ReadonlyMap<string, readonly Definition[]>;
}

let own: Index | undefined;

/** Definitions begin a line; what is said of one stands before it. */
function indexed(all: readonly string[]): Index {
  const found = { function: new Map<string, Definition[]>(), global: new Map(), probe: new Map() };
  for (const text of all) {
    for (const [, doc = "", definition = "", kind = "", name = ""] of text.matchAll(
      /((?:^\/\/.*\n)*)^((function|global|probe) ([\w.]+)(?:(?!^(?:\/\/|function|global|probe)).*\n?)*)/gm,
    )) {
      const names = found[kind as keyof typeof found];
      // A line may have several globals.
      for (const each of kind === "global" ? (definition.match(/\w+/g) ?? []).slice(1) : [name]) {
        const others = names.get(each) ?? [];
        others.push({
          doc: doc.replaceAll(/^\/\/ ?/gm, "").trim(),
          text: kind === "global" ? `global ${each}\n` : definition,
        });
        names.set(each, others);
      }
    }
  }
  return { functions: found.function, globals: found.global, probes: found.probe };
}

function index(): Index {
  return (own ??= indexed([
    calls,
    conversions,
    counters,
    errors,
    files,
    indentation,
    interrupts,
    memory,
    network,
    once,
    paths,
    processes,
    queues,
    scheduler,
    signals,
    sockets,
    tasks,
    terminal,
    terminals,
    texts,
    timing,
  ]));
}

/** What was taken of the library, as if it stood behind the script: its spans are behind the script's own. */
export class Taken {
  readonly functions: FunctionDefinition[] = [];
  readonly globals: Global[] = [];
  /** Probes that functions need beside the script's own. */
  readonly probes: ProbeDefinition[] = [];
  readonly #machine: MachineGiven | undefined;
  readonly #source: Source;
  #text: string;
  readonly #parts: { readonly start: number; readonly end: number; readonly at: Span }[] = [];

  constructor(source: Source, machine: MachineGiven | undefined) {
    this.#machine = machine;
    this.#source = source;
    this.#text = source.text;
  }

  /** The script with what was taken. */
  get source(): Source {
    if (this.#parts.length === 0) return this.#source;
    const { name, parts = [{ name, start: 0 }] } = this.#source;
    return {
      name,
      text: this.#text,
      parts: [...parts, ...this.#parts.map(({ start }) => ({ name: "the library", start }))],
    };
  }

  /** Where something is told that is wrong with a part of the library: where that is used. */
  told(span: Span): Span {
    return this.#parts.find(({ start, end }) => start <= span.start && span.start <= end)?.at ?? span;
  }

  /** Aliases that a point may mean. */
  aliasesOf({ components: [first], span }: Point): readonly Alias[] {
    return [...index().probes]
      .filter(([name]) => name.split(".")[0] === first.name)
      .flatMap(([, definitions]) => definitions)
      .flatMap((one) => this.#parse(one, span).aliases);
  }

  /** The functions that a script's handlers call and it has not, and those that they call. */
  functionsOf(script: Pick<Script, "functions" | "globals">, handlers: unknown): void {
    const known = new Set([...printers, ...script.functions.map(({ name }) => name)]);
    const stored = new Set(script.globals.map(({ name }) => name));
    const take = (nodes: unknown, at?: Span): void =>
      visit(nodes, ({ kind, name, span }) => {
        const place = at ?? this.told(span);
        if (kind === "call" && !known.has(name) && libraryFunction(name) === undefined) {
          known.add(name);
          const added = (index().functions.get(name) ?? []).flatMap((one) => this.#parse(one, place).functions);
          this.functions.push(...added);
          const beside = (index().probes.get(`__with_${name}`) ?? []).flatMap((one) => this.#parse(one, place).aliases);
          this.probes.push(...beside.map(({ points, body, span }) => ({ points, body, span })));
          take([added, beside], place);
        } else if ((kind === "name" || kind === "element") && !stored.has(name) && name.startsWith("__")) {
          stored.add(name);
          this.globals.push(...(index().globals.get(name) ?? []).flatMap((one) => this.#parse(one, place).globals));
        }
      });
    take([script.functions, handlers]);
  }

  #parse({ text }: Definition, at: Span): Script {
    const start = this.#text.length + 1;
    // The text before it is white: its places are those that it has in the whole.
    const { script } = parseScript(
      { name: "the library", text: text.padStart(start + text.length) },
      [],
      this.#machine,
    );
    this.#text += `\n${text}`;
    this.#parts.push({ start, end: start + text.length, at });
    return script;
  }
}

/** A definition's first line, and what is said of it. */
interface Head {
  readonly name: string;
  readonly head: string;
  readonly doc: string;
}

/** What the library offers to scripts: `isdigit:long (str:string)`, `softirq.entry = kernel.trace("softirq_entry")`. */
export function libraryHeads(): { readonly functions: readonly Head[]; readonly probes: readonly Head[] } {
  const heads = (of: ReadonlyMap<string, readonly Definition[]>): Head[] =>
    [...of]
      .filter(([name]) => !name.startsWith("__"))
      .flatMap(([name, all]) =>
        all.map(({ text, doc }) => ({
          name,
          doc,
          head: text
            .slice(0, text.indexOf(" {"))
            .replace(/^(?:function|probe) /, "")
            .replace(/(?<=^[\w:]+)\(/, " ("),
        })),
      );
  return { functions: heads(index().functions), probes: heads(index().probes) };
}
