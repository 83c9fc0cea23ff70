// docs/kernels.md, from what the suite found.

import { enginesTable } from "./engine-rows.ts";

/** `refused`: the machine's policy keeps it from us, which strobe says. */
export type Cell = "yes" | "no" | "refused";

export interface KernelColumn {
  /** The kernel's name, not its release: point releases come and go. */
  readonly name: string;
  /** By case; what was not tried is absent. */
  readonly cells: ReadonlyMap<string, Cell>;
  readonly probes: readonly string[];
  readonly language: readonly string[];
}

export function kernelsPage(unsorted: readonly KernelColumn[]): string {
  const columns = unsorted.toSorted((a, b) => numberOf(a) - numberOf(b));
  const titles = columns.map(({ name }) => (name === "own" ? "own kernel" : `Linux ${name}`));
  const rows = (columns[0]?.probes ?? []).map(
    (name) => `| ${name} | ${columns.map(({ cells }) => cells.get(name) ?? "").join(" | ")} |`,
  );
  const language = columns.map(({ cells, language }) => {
    const tried = language.filter((name) => cells.has(name));
    const held = tried.filter((name) => cells.get(name) === "yes").length;
    // Without the number of scripts, which every new one changes.
    return tried.length === 0 ? "" : held === tried.length ? "yes" : `all but ${tried.length - held}`;
  });
  return `# What works on which kernel

Written by the guest suite (\`STROBE_UPDATE=1 npm run test:guest\`), which boots Debian's cloud images and a kernel of its own
(\`npm run guest:kernel\`: 6.12, with debug information), and counts exactly what a known program does; the remaining column is
the machine that the suite ran on. *Refused*: its kernel is not to be instrumented that way, by its configuration or its policy,
and strobe says so before anything is attached. Empty: not tried.

| | ${titles.join(" | ")} |
|---|${titles.map(() => "---|").join("")}
${rows.join("\n")}
| scripts of the language's tests | ${language.join(" | ")} |

${enginesTable(["6.1", "6.12", "7", "own"])}`;
}

/** 6.12 is newer than 6.1; ours comes last. */
function numberOf({ name }: KernelColumn): number {
  if (name === "own") return Infinity;
  const [major = 0, minor = 0] = name.split(".").map(Number);
  return major * 1000 + minor;
}
