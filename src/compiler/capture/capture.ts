// Handlers that the kernel cannot run to their end: it takes what depends on the moment into a record, and the host goes
// on from there. Which handlers these are, which maps live on the host for them, and their parts.
import type { Span } from "../../language/diagnostic.ts";
import { ScriptError, type Source } from "../../language/diagnostic.ts";
import type { CheckedHandler } from "../../language/checked-program.ts";
import { hostText } from "../../language/host-texts.ts";
import type { Message } from "../../messages/message.ts";
import type { Instruction, IrFunction, IrMap, IrModule } from "../ir/ir.ts";
import { placeIn } from "../lower/script-places.ts";
import type { SchemaDraft } from "../lower/state.ts";
import { CapturedHandler } from "./captured-handler.ts";
import { isForHost, type Homes } from "./host-part.ts";
import { partsOf } from "./parts.ts";

/** What lowering made, which is changed: functions are replaced and added, maps move, kinds of records are added. */
export interface Lowered {
  readonly source: Source;
  readonly functions: IrFunction[];
  readonly maps: IrMap[];
  readonly schemas: SchemaDraft[];
  readonly handlers: readonly { readonly handler: CheckedHandler; readonly function: number }[];
  /** Where in the script instructions are from. */
  readonly places: WeakMap<Instruction, Span>;
  /** Maps that are strobe's own. */
  readonly own: ReadonlySet<number>;
}

/** A handler that is captured: the kernel's part, the host's, and the kind of record between them. */
export interface Captured {
  readonly handler: CheckedHandler;
  readonly kernel: number;
  readonly host: number;
  readonly schema: number;
  /** What of it needs the host, and where that is in the script; or a map that lives there. Neither: it was asked for. */
  readonly because: Reason;
}

type Reason = { readonly what: string; readonly span: Span } | { readonly map: number } | undefined;

/** A map that lives on the host, and what in the script says so. */
export interface HostMap {
  readonly map: number;
  readonly span?: Span | undefined;
}

export interface Capture {
  readonly handlers: readonly Captured[];
  readonly maps: readonly HostMap[];
}

/** `of`: all handlers are captured and maps of these names live on the host, whether they need to or not. */
export function capture(lowered: Lowered, of: ((map: string) => boolean) | undefined): Capture {
  const { functions, maps, schemas, places, source } = lowered;
  const module: IrModule = { functions, maps, probeNames: [] };
  const hasMemory = functions.some(({ blocks }) =>
    blocks.some(({ instructions }) => instructions.some((i) => i.op === "host-text" && hostText(i.name).onMemory)),
  );
  const homes: Homes = { maps: new Map(), late: new Set(), hasMemory };
  if (of !== undefined) {
    maps.forEach(({ name, stacks }, map) => {
      if (stacks === undefined && !lowered.own.has(map) && of(name)) homes.maps.set(map, undefined);
    });
  }
  const refuse = (at: Instruction, because: Instruction | undefined, said: (because: string) => Message): never => {
    const span = places.get(at) ?? { start: 0, end: 0 };
    const other = because === undefined ? undefined : places.get(because);
    const message = said(other === undefined ? "" : asPlace(source, other));
    throw new ScriptError(source, [{ severity: "error", span, ...message }]);
  };
  const remade = (made: Instruction, from: Instruction): void => {
    const span = places.get(from);
    if (span !== undefined) places.set(made, span);
  };

  const found = new Map<number, { readonly part: CapturedHandler; readonly because: Reason }>();
  const consider = (): void => {
    for (const { handler, function: index } of lowered.handlers) {
      if (handler.placement === "host" || found.has(index)) continue;
      const fn = functions[index];
      const own = handler.placement === "captured" ? handler.needsHost : undefined;
      const used = usedMap(module, fn, homes);
      if (own === undefined && used === undefined && of === undefined) continue;
      const part = new CapturedHandler(fn, module, refuse, remade);
      found.set(index, { part, because: own ?? (used === undefined ? undefined : { map: used }) });
    }
  };
  // Maps move until no handler moves any more of them, and so do handlers that use them.
  for (let before = -1; before !== homes.maps.size + homes.late.size + found.size;) {
    before = homes.maps.size + homes.late.size + found.size;
    consider();
    for (const { part } of found.values()) part.analyze(homes);
  }
  for (const map of homes.maps.keys()) maps[map] = { ...maps[map], host: true };
  const captured: Captured[] = [];
  for (const [index, { part, because }] of found) {
    const handler = lowered.handlers.find((one) => one.function === index)!.handler;
    const parts = partsOf(part, part.analyze(homes), module, schemas.length);
    if (parts === undefined) continue;
    functions[index] = parts.kernel;
    functions.push(...parts.callbacks);
    const host = functions.push(parts.host) - 1;
    const schema =
      schemas.push({
        action: { kind: "captured", source: "" },
        fields: parts.fields,
        span: handler.probe.span,
        probe: probeOf(handler),
      }) - 1;
    captured.push({ handler, kernel: index, host, schema, because });
  }
  return {
    handlers: captured,
    maps: [...homes.maps].map(([map, because]) => ({
      map,
      span: because === undefined ? undefined : places.get(because),
    })),
  };
}

/** A map on the host that a handler, or a loop in it, works on. */
function usedMap(module: IrModule, fn: IrFunction, homes: Homes): number | undefined {
  for (const { instructions } of fn.blocks) {
    for (const i of instructions) {
      if (i.op === "for-each") {
        const inner = homes.maps.has(i.map) ? i.map : usedMap(module, module.functions[i.callback], homes);
        if (inner !== undefined) return inner;
      } else if ("map" in i && homes.maps.has(i.map) && isForHost(module, i, homes)) return i.map;
    }
  }
  return undefined;
}

function probeOf({ sites, probe }: CheckedHandler): string {
  return sites.length === 1 ? sites[0].name : probe.specs.map(({ text }) => text).join(",");
}

/** What stands somewhere in the script, as far as it fits a message. */
function asPlace(source: Source, span: Span): string {
  const text = source.text.slice(span.start, span.end).replace(/\s+/g, " ");
  return `\`${text.length > mostShown ? `${text.slice(0, mostShown)}…` : text}\` in line ${placeIn(source, span).line}`;
}
const mostShown = 60;
