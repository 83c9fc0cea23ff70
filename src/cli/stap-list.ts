// What `strobe stap -l` and `-L` list, in SystemTap's words, and its dumps.
import { thisMachine } from "../api/machine.ts";
import { words } from "../language/systemtap/editing.ts";
import { parse } from "../language/systemtap/parse.ts";
import { libraryHeads } from "../language/systemtap/tapset.ts";
import { renderDiagnostic } from "../language/render-diagnostic.ts";
import { listProbes, splitPattern } from "../providers/registry.ts";
import type { Diagnostic, Source } from "../language/diagnostic.ts";
import { wildcard } from "../language/systemtap/wildcard.ts";
import { print } from "./files.ts";

/** A line each; 1 when there are none. `verbose`: with the variables, but for aliases of the library. */
export function listPoints(pattern: string, verbose: boolean): number {
  const system = thisMachine();
  const isAlias = wildcard(pattern);
  const aliases = libraryHeads()
    .probes.map(({ name }) => name)
    .filter((name) => isAlias.test(name) && listed(name, false, system, () => {}).length > 0);
  const tell = (source: Source, one: Diagnostic): void => {
    process.stderr.write(renderDiagnostic(source, one, { color: false }));
  };
  const lines = new Set(aliases.length > 0 ? aliases.toSorted() : listed(pattern, verbose, system, tell));
  print([...lines].map((line) => `${line}\n`).join(""));
  return lines.size === 0 ? 1 : 0;
}

function listed(
  pattern: string,
  verbose: boolean,
  system: ReturnType<typeof thisMachine>,
  tell: (source: Source, one: Diagnostic) => void,
): string[] {
  const source = { name: "-l", text: `probe ${pattern} { }` };
  const { program, diagnostics } = parse(source, { positional: [] });
  const wrong = diagnostics.filter(({ severity }) => severity === "error");
  for (const one of wrong) tell(source, one);
  return (wrong.length > 0 ? [] : program.probes).flatMap(({ specs }) =>
    specs.flatMap(({ provider, parts }) =>
      Array.from(
        listProbes([provider, ...parts].join(":"), system, { verbose }),
        ({ probe, details = [] }) => `${pointOf(probe, pattern)}${details.map(variable).join("")}`,
      ),
    ),
  );
}

/** A probe of the tree's kinds as a probe point; the point itself where that is one probe. */
function pointOf(probe: string, point: string): string {
  const [kind, first = "", ...rest] = splitPattern(probe);
  const name = JSON.stringify(rest.join(":"));
  const program = `process(${JSON.stringify(first)})`;
  switch (kind) {
    case "uprobe":
      return `${program}.${/:\d+$/.test(rest.join(":")) ? "statement" : "function"}(${name})`;
    case "uretprobe":
      return `${program}.function(${name}).return`;
    case "usdt":
      return `${program}.provider(${JSON.stringify(rest[0] ?? "")}).mark(${JSON.stringify(rest.slice(1).join(":"))})`;
    case "plt":
      return `${program}.plt(${name})`;
    case "kprobe":
      return rest.length === 0
        ? `kernel.function(${JSON.stringify(first)})`
        : `module(${JSON.stringify(first)}).function(${name})`;
    case "kretprobe":
      return `kernel.function(${JSON.stringify([first, ...rest].at(-1))}).return`;
    case "rawtracepoint":
      return `kernel.trace(${JSON.stringify([first, ...rest].join(":"))})`;
    case "tracepoint": {
      const [, family] = /^((?:nd_|tp_)?syscall)\./.exec(point) ?? [];
      const [, when, call] = /^sys_(enter|exit)_(.*)$/.exec(rest.join(":")) ?? [];
      if (family !== undefined && call !== undefined) return `${family}.${call}${when === "exit" ? ".return" : ""}`;
      return `kernel.trace(${JSON.stringify([first, ...rest].join(":"))})`;
    }
    case "process":
    case "thread":
      return `process${first === "*" ? "" : `(${JSON.stringify(first)})`}.${kind === "thread" ? "thread." : ""}${rest.join(":")}`;
    case "begin":
    case "end":
    case "interval":
    case "profile":
      return point;
    default:
      return probe;
  }
}

/** `    int *x` as ` $x:int*`. */
function variable(detail: string): string {
  // Where the function is written is no variable.
  if (/^\s*at /.test(detail)) return "";
  const [, type, stars, name] = /^\s*(.*?)\s*(\**)\s*(\w+)(?:\[.*\])?$/.exec(detail) ?? [];
  if (name === undefined) return "";
  return ` $${name === "retval" ? "return" : name}:${type}${stars}`;
}

/** `pid:long ()`, a line each. */
export function dumpFunctions(): number {
  print(
    words()
      .filter(({ kind }) => kind === "function")
      .map(({ signature }) => signature)
      .toSorted()
      .map((head) => `${head}\n`)
      .join(""),
  );
  return 0;
}

/** `scheduler.wakeup = kernel.trace("sched_wakeup")`, a line each. */
export function dumpAliases(): number {
  print(
    libraryHeads()
      .probes.map(({ head }) => `${head}\n`)
      .toSorted()
      .join(""),
  );
  return 0;
}
