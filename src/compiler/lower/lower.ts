// From the checked tree to IR: one function a handler, schemas for what it sends, storage for its maps.
import { compiler } from "../../messages/compiler.ts";
import { lazy } from "../../base/lazy.ts";
import type { Capture } from "../capture/capture.ts";
import { fetchValue } from "./fetch.ts";
import type { Capabilities } from "../../linux/kernel/capabilities.ts";
import type { Config } from "../../language/check/config.ts";
import type { CheckedHandler, CheckedMap, CheckedProgram } from "../../language/checked-program.ts";
import { ScriptError } from "../../language/diagnostic.ts";
import { fieldLayout, roundUp } from "../../language/layout.ts";
import type { Expression, Program } from "../../language/program.ts";
import type { Rules, Spelling } from "../../language/rules.ts";
import type { Type } from "../../language/types.ts";
import type { IrFunction, IrMap, IrModule } from "../ir/ir.ts";
import type { EventSchema } from "../plan.ts";
import type { CountedLoop, WatchedPlace } from "../layouts/counted-places.ts";
import { usedBuiltins } from "../../language/check/uses.ts";
import { Watches } from "../layouts/watches.ts";
import { headerSize, type HeaderField } from "../layouts/record-header.ts";
import * as expressions from "./expressions.ts";
import { looked } from "./faults.ts";
import { keepCall, recallCall } from "./kept-calls.ts";
import { probeNames } from "./probe-names.ts";
import { lineAt, placeIn } from "./script-places.ts";
import { statement } from "./statements.ts";
import type { ModuleState, SchemaDraft, Walk } from "./state.ts";
import { FunctionState } from "./state.ts";

export interface LowerSettings {
  /** Load through pointers the verifier knows; by default yes. */
  readonly directLoads?: boolean | undefined;
  /** What records of events begin with. */
  readonly header?: readonly HeaderField[] | undefined;
  /** Counts reads and look-ups that fail (watches.ts). */
  readonly watch?: boolean | undefined;
  /**
   * Handlers go on at the host whether they need to or not, and maps of these names live there: for tests and the bench.
   */
  readonly captureOf?: ((map: string) => boolean) | undefined;
}

export interface LoweredProgram {
  readonly module: IrModule;
  readonly schemas: readonly EventSchema[];
  readonly watches: readonly WatchedPlace[];
  readonly loops: readonly CountedLoop[];
  readonly timeFormats: readonly string[];
  readonly packetFiles: readonly string[];
  readonly captured: Capture;
  /** The function of each checked handler: index into `module.functions`. */
  readonly handlers: readonly { readonly handler: CheckedHandler; readonly function: number }[];
}

// Loaded when a handler is captured.
const capture = lazy<typeof import("../capture/capture.ts")>(() => require("../capture/capture.ts"));
const nothingCaptured: Capture = { handlers: [], maps: [] };

const walk: Walk = {
  value: expressions.value,
  locate: expressions.locate,
  into: expressions.into,
  source: expressions.source,
  condition: expressions.condition,
  entry: expressions.entry,
  statement,
  looked,
};

/** Throws ScriptError for what cannot be compiled. */
export function lower(
  checked: CheckedProgram,
  capabilities: Capabilities,
  settings: LowerSettings = {},
): LoweredProgram {
  const { header = [] } = settings;
  const captures =
    settings.captureOf !== undefined || checked.handlers.some(({ placement }) => placement === "captured");
  const module: ModuleState = {
    checked,
    options: {
      header,
      capabilities,
      directLoads: settings.directLoads ?? true,
    },
    walk,
    maps: checked.maps.map((map) => irMap(map, checked.config, checked.program.rules.spelling)),
    functions: [],
    schemas: [],
    timeFormats: [],
    packetFiles: [],
    loops: [],
    kept: new Map(),
    // Of those that ask which probe they are at: a wildcard may have ten thousand names.
    probeNames: probeNames(
      checked.handlers.filter(
        ({ probe }) => header.includes("probe") || usedBuiltins(probe, checked.program.functions).has("probe"),
      ),
    ),
    ...(settings.watch ? { watches: new Watches() } : {}),
    ...(captures ? { places: new WeakMap() } : {}),
  };
  const handlers = checked.handlers.map((handler) => ({ handler, function: lowerHandler(module, handler) }));
  const captured =
    module.places === undefined
      ? nothingCaptured
      : capture().capture(
          {
            ...module,
            source: checked.program.source,
            handlers,
            places: module.places,
            own: new Set(module.kept.values()),
          },
          settings.captureOf,
        );
  return {
    module: { functions: module.functions, maps: module.maps, probeNames: module.probeNames },
    schemas: module.schemas.map((draft) => laidOut(draft, checked.program, header)),
    timeFormats: module.timeFormats,
    packetFiles: module.packetFiles,
    watches: (module.watches?.list ?? []).map(({ span, call }) => ({
      call,
      place: placeIn(checked.program.source, span),
      line: lineAt(checked.program.source, span),
    })),
    loops: module.loops.map(({ span, unkept }) => ({
      place: placeIn(checked.program.source, span),
      line: lineAt(checked.program.source, span),
      ...(unkept === undefined ? {} : { unkept }),
    })),
    captured,
    handlers,
  };
}

/** A map of the script's. */
function irMap({ name, keys, value, entries, storage }: CheckedMap, config: Config, spelling: Spelling): IrMap {
  const larger = spelling.sizedMap?.(name, 5000);
  return {
    name,
    shown: spelling.map(name),
    ...(larger === undefined ? {} : { larger }),
    keys,
    value: widened(value),
    entries: keys.length === 0 ? 1 : (entries ?? config.maxMapKeys),
    ...(storage === "lruhash" || storage === "percpulruhash" ? { evicts: true } : {}),
  };
}

/** Integers in maps are 64 bits wide. */
function widened(type: Type): Type {
  return type.kind === "integer" || type.kind === "enum" ? { ...type, bits: 64 } : type;
}

function lowerHandler(module: ModuleState, handler: CheckedHandler): number {
  const index = module.functions.length;
  const { context, placement } = handler;
  const dispatches = context !== "host" && context.program.dispatch !== undefined;
  const shell: IrFunction = {
    name: functionName(handler),
    kind: "handler",
    placement: placement === "host" ? placement : "kernel",
    ...(context === "host" ? {} : { context }),
    matches: dispatches ? handler.sites.flatMap((site) => (site.match === undefined ? [] : [site.match])) : [],
    values: [],
    slots: [],
    blocks: [],
  };
  module.functions.push(shell);
  const f = new FunctionState(module, handler, { variables: handler.variables, homes: new Map() });
  const onlyIf = (condition: Expression): void => {
    const [on, out] = [f.build.newBlock(), f.build.newBlock()];
    f.condition(condition, on, out);
    f.build.seal(out);
    f.build.start(out);
    f.build.return();
    f.build.seal(on);
    f.build.start(on);
  };
  if (handler.guard !== undefined) onlyIf(handler.guard);
  const { requires, kept } = context === "host" ? {} : context;
  if (requires !== undefined) {
    const { then, otherwise } = f.build.branch(fetchValue(f, requires));
    f.build.start(otherwise);
    f.build.return();
    f.build.start(then);
  }
  if (kept?.at === "entry") keepCall(f, kept.calls);
  else if (kept !== undefined) recallCall(f, kept);
  if (handler.predicate !== undefined) onlyIf(handler.predicate);
  f.beginVariables();
  f.run(handler.body);
  f.build.return();
  module.functions[index] = { ...shell, ...f.build.finish() };
  return index;
}

/** A name that the kernel takes: letters, digits and `_`, at most 15. The end of a probe's name tells most. */
function functionName(handler: CheckedHandler): string {
  const name = handler.sites[0]?.name ?? handler.probe.specs[0]?.text ?? handler.provider;
  const last =
    name
      .split(":")
      .filter((part) => part !== "")
      .pop() ?? handler.provider;
  return last.replace(/[^A-Za-z0-9_]/g, "_").slice(0, 15) || "handler";
}

function isBare({ action }: SchemaDraft, { bareMessages }: Rules): boolean {
  return bareMessages === true && action.kind === "printf" && (action.to === "error" || action.to === "warning");
}

/** Far more than any ring of events has room for; the verifier takes up to 512 MiB. */
const mostRecordBytes = 1 << 28;

function laidOut(draft: SchemaDraft, { source, rules }: Program, asked: readonly HeaderField[]): EventSchema {
  // Events that the host makes of it have what was asked for.
  const header = draft.action.kind === "captured" ? [] : asked;
  const headerBytes = headerSize(header);
  const { offsets, size } = fieldLayout(draft.fields.map((field) => field.type));
  if (size > mostRecordBytes) {
    throw new ScriptError(source, [
      { severity: "error", span: draft.span, ...compiler.recordTooLarge(size, mostRecordBytes) },
    ]);
  }
  return {
    action: draft.action,
    fields: draft.fields.map((field, i) => ({ ...field, offset: headerBytes + offsets[i] })),
    ...(header.length === 0 ? {} : { header }),
    size: headerBytes + roundUp(size, 8),
    ...(isBare(draft, rules) ? {} : { place: placeIn(source, draft.span) }),
    probe: draft.probe,
  };
}
