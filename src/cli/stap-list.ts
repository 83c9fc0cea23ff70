// What `strobe stap -l` and `-L` list, in SystemTap's words, and its dumps.
import { thisMachine } from "../api/machine.ts";
import { words } from "../language/systemtap/editing.ts";
import { parse } from "../language/systemtap/parse.ts";
import { libraryHeads } from "../language/systemtap/tapset.ts";
import { renderDiagnostic } from "../language/render-diagnostic.ts";
import { listProbes, splitPattern } from "../providers/registry.ts";
import { print } from "./files.ts";

/** A line each; 1 when there are none. `verbose`: with the variables. */
export function listPoints(pattern: string, verbose: boolean): number {
  const source = { name: "-l", text: `probe ${pattern} { }` };
  const { program, diagnostics } = parse(source, { positional: [] });
  const wrong = diagnostics.filter(({ severity }) => severity === "error");
  for (const one of wrong) process.stderr.write(renderDiagnostic(source, one, { color: false }));
  const system = thisMachine();
  const lines = new Set<string>();
  for (const { specs } of wrong.length > 0 ? [] : program.probes) {
    for (const { provider, parts } of specs) {
      for (const { probe, details = [] } of listProbes([provider, ...parts].join(":"), system, { verbose }))
        lines.add(`${pointOf(probe)}${details.map(variable).join("")}`);
    }
  }
  print([...lines].map((line) => `${line}\n`).join(""));
  return lines.size === 0 ? 1 : 0;
}

/** A probe of the tree's kinds as a probe point. */
function pointOf(probe: string): string {
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
    default:
      return probe;
  }
}

/** `    int *x` as ` $x:int*`. */
function variable(detail: string): string {
  const [, type, stars, name] = /^\s*(.*?)\s*(\**)\s*(\w+)(?:\[.*\])?$/.exec(detail) ?? [];
  return name === undefined ? "" : ` $${name}:${type}${stars}`;
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
