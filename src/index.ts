// The library. `trace` compiles and runs a script; the rest is for whoever wants the stages.
export { trace } from "./api/start.ts";
export type { Trace, TraceEvent, TraceOptions } from "./api/trace.ts";
export type { Stamp } from "./output/stamp.ts";
export { compileScript, type CompiledScript, type ScriptOptions } from "./api/compile.ts";
export type { Bucket, SeriesPoint, MapTable, Stack, Value } from "./api/values.ts";
export type { Language } from "./language/language.ts";
export { findLanguage } from "./language/registry.ts";
export type { Rules } from "./language/rules.ts";
export { ScriptError, type Diagnostic, type DiagnosticCode, type Source, type Span } from "./language/diagnostic.ts";
export { InternalError } from "./base/internal-error.ts";
export { LinuxError } from "./linux/error.ts";
export { AttachError } from "./session/live/attachments.ts";
export type { SessionEnd } from "./session/session.ts";
export type { Frame, Trouble } from "./session/events.ts";
export type { HandlerCost, SessionStats } from "./session/stats.ts";

// Static probes of the program itself.
export {
  usdtProvider,
  type UsdtDefinitions,
  type UsdtProbe,
  type UsdtProvider,
  type UsdtType,
  type UsdtValue,
} from "./api/usdt-provider.ts";
export {
  userEvent,
  type UserEvent,
  type UserEventFields,
  type UserEventOptions,
  type UserEventType,
  type UserEventValues,
} from "./api/user-event.ts";

// Probes in TypeScript. Declarations of this machine merge into the interfaces, which only works through a whole-module
// export.
export type * from "./api/declarations.ts";
export { withCaptures, type Place } from "./api/captures.ts";
export type { ProbeOptions } from "./api/probe-trace.ts";
export type { Settings } from "./api/settings.ts";
export {
  begin,
  end,
  fentry,
  fexit,
  hardware,
  interval,
  iter,
  kprobe,
  kretprobe,
  probe,
  profile,
  rawTracepoint,
  software,
  tracepoint,
  uprobe,
  uretprobe,
  usdt,
  type Captures,
  type Handler,
  type Probe,
} from "./api/probes.ts";
export {
  map,
  threadLocal,
  Snapshot,
  type EveryOptions,
  type MapOptions,
  type StrobeMap,
  type ThreadLocal,
} from "./api/maps.ts";
export type { Aggregation, Received, Stats, Stored } from "./api/map-types.ts";
export { stampOf } from "./api/stamped.ts";
export { dateOf } from "./api/dates.ts";
export { programOptions, type ProgramOption, type ProgramOptions, type ProgramTakes } from "./cli/program-options.ts";
export { event, type Emitted, type EventHandle, type EventOptions } from "./api/events.ts";
export {
  aligned,
  arrayOf,
  bits,
  enumeration,
  pointerTo,
  struct,
  union,
  type CastTo,
  type CStruct,
  type CType,
  type SeenAs,
  type StructLayout,
  type TypeLike,
} from "./api/own-types.ts";
export * from "./api/builtins.ts";
// Said by name, since both have them: casts here, types there.
export { i16, i32, i64, i8, u16, u32, u64, u8 } from "./api/builtins.ts";
