// The library. `trace` compiles and runs a script; the rest is for whoever wants the stages.
export { trace, type Trace, type TraceEvent, type TraceOptions } from "./api/trace.ts";
export { compileScript, type CompiledScript, type ScriptOptions } from "./api/compile.ts";
export type { MapTable, Stack, Value } from "./api/values.ts";
export { ScriptError, type Diagnostic, type DiagnosticCode, type Source, type Span } from "./language/diagnostic.ts";
export { LinuxError } from "./linux/error.ts";
export { AttachError, type SessionEnd } from "./session/session.ts";
export type { Frame, Trouble } from "./session/events.ts";

// Probes in TypeScript. Declarations of this machine merge into the interfaces, which only works through a whole-module export.
export type * from "./api/declarations.ts";
export { withCaptures, type Place } from "./api/captures.ts";
