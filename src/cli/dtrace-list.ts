// What `strobe dtrace -l` lists.
import { compileScript } from "../api/compile.ts";
import { thisMachine } from "../api/machine.ts";
import type { Source } from "../language/diagnostic.ts";
import { findLanguage } from "../language/registry.ts";
import { listProbes } from "../providers/registry.ts";
import { print, tell } from "./files.ts";

const fixed = ["dtrace:::BEGIN", "dtrace:::END", "dtrace:::ERROR"];

const heads = ["ID", "PROVIDER", "MODULE", "FUNCTION", "NAME"];

function row(cells: readonly string[]): string {
  return `${cells[0].padStart(5)} ${cells[1].padStart(10)} ${cells[2].padStart(17)} ${cells[3].padStart(33)} ${cells[4]}\n`;
}

/** The probes of a script, or all that have a name in D; a line each. */
export function listDtrace(source: Source | undefined): number {
  const names = source === undefined ? all() : ofScript(source);
  if (names.length === 0) {
    print(row(heads));
    for (const { name } of source?.parts ?? []) tell(`dtrace: failed to match ${name}: No probe matches description\n`);
    return 0;
  }
  const lines = names.map((name, at) => {
    const id = fixed.indexOf(name) + 1 || fixed.length + 1 + at;
    const [provider = "", module = "", of = "", last = ""] = name.split(":");
    return row([String(id), provider, module, of, last]);
  });
  print(row(heads) + lines.join(""));
  return 0;
}

function ofScript(source: Source): string[] {
  const language = findLanguage("d");
  const { stages } = compileScript(source, { language, unsafe: true });
  const names = stages.probes
    .filter(({ probe }) => probe.span.start < source.text.length)
    .flatMap(({ variants }) => variants.flatMap(({ sites }) => sites.map(({ name }) => name)));
  return [...new Set(names)];
}

function all(): string[] {
  const spelling = findLanguage("d")?.rules.spelling;
  const names = new Set(fixed);
  for (const { probe } of listProbes(undefined, thisMachine(), { verbose: false })) {
    const name = spelling?.probe?.(probe) ?? probe;
    if (name.split(":").length === 4) names.add(name);
  }
  return [...names];
}
