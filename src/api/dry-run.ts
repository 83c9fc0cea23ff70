// `strobe run --dry-run`: what trace() is asked for is compiled and said, and never attached.
import type { Source, Span } from "../language/diagnostic.ts";
import type { ResolvedProbe } from "../language/resolved-probe.ts";

interface DryRun {
  readonly print: (text: string) => void;
  /** Every call of trace() that was made has been said. */
  readonly ended: () => void;
}

let dryRun: DryRun | undefined;
/** Calls of trace() that have not been said yet. */
let open = 0;

/** From now on no call of trace() attaches anything, nor returns. */
export function startDryRun(how: DryRun): void {
  dryRun = how;
}

/** trace() was called. */
export function countCall(): void {
  if (dryRun !== undefined) open++;
}

/** What `compile` gives, as it is; of a dry run, it is said, and the call that waits for it never goes on. */
export async function unlessDry<Compiled extends { readonly stages: { readonly probes: readonly ResolvedProbe[] } }>(
  compile: () => Compiled | Promise<Compiled>,
  sourceOf: (compiled: Compiled, span: Span) => { readonly source: Source; readonly span: Span },
): Promise<Compiled> {
  if (dryRun === undefined) return compile();
  const { print, ended } = dryRun;
  const compiled = await compile();
  print(compiled.stages.probes.map((one) => linesOf(one, sourceOf(compiled, one.probe.span))).join(""));
  // Those that the program makes at the same time come first.
  setImmediate(() => --open === 0 && ended());
  return new Promise(() => {});
}

/** Where the handler is, its probes, and below them the places, unless there is one that is called the same. */
function linesOf(
  { probe, variants }: ResolvedProbe,
  { source, span }: { readonly source: Source; readonly span: Span },
): string {
  const names = probe.specs.map(({ text }) => text).join(", ");
  const line = source.text.slice(0, span.start).split("\n").length;
  const sites = variants.flatMap((variant) => variant.sites.map(({ name }) => name));
  const shown = sites.length === 1 && sites[0] === names ? [] : sites;
  return `${source.name}:${line}: ${names}\n${shown.map((name) => `  ${name}\n`).join("")}`;
}
