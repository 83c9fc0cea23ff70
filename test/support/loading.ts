// One script through the verifier, at each kind of probe and by the ways that the command has when a program is refused
// (src/api/open.ts).
import { tooComplex } from "../../src/api/too-complex.ts";
import { renderDiagnostic } from "../../src/language/render-diagnostic.ts";
import { parse } from "../../src/language/bpftrace/parse.ts";
import { memberOffset } from "../../src/language/layout.ts";
import type { Program } from "../../src/language/program.ts";
import type { Context } from "../../src/language/context.ts";
import { i32, i8, type StructType, type Type } from "../../src/language/types.ts";
import { createMap, loadProgram } from "../../src/linux/bpf/bpf.ts";
import { E2BIG, LinuxError } from "../../src/linux/error.ts";
import type { Capabilities } from "../../src/linux/kernel/capabilities.ts";
import { Features } from "../../src/linux/kernel/features.ts";
import { closeFd } from "../../src/linux/ffi.ts";
import { compile, type Compiled } from "../../src/compiler/compile.ts";
import type { Plan } from "../../src/compiler/plan.ts";
import { liveSystem } from "../../src/machine/live-system.ts";
import { userContext } from "../../src/machine/contexts/user-context.ts";
import type { System, TaskOfCpu } from "../../src/machine/system.ts";
import { relocated } from "../../src/session/live/relocate.ts";
import { bareSystem } from "./bare-system.ts";

export type Place = "rawtracepoint" | "uprobe";
export const places: readonly Place[] = ["rawtracepoint", "uprobe"];

export interface Loaded {
  /**
   * "too complex": said as it is documented to be, and for which loop. "no script": what the checker refuses rightly,
   * a constant that no type holds or a text that grows at every event.
   */
  readonly outcome: "loaded" | "recompiled" | "too complex" | "no script" | "rejected" | "crash" | "refused";
  readonly instructions: number;
  readonly detail: string;
}

const BPF_PROG_TYPE = { kprobe: 2, raw_tracepoint: 17 } as const;
/** Of a verifier's log, its end. */
const mostDetail = 4000;

/** What a kernel has of its tasks, by which pid, tid and comm are read: plain data, from one kernel to another. */
export interface Tasks {
  readonly ofCpu: TaskOfCpu | undefined;
  /** Where struct task_struct has them. */
  readonly members: readonly { readonly name: "pid" | "tgid" | "comm"; readonly offset: number }[];
}

/** Of the kernel that runs. */
export function tasksHere(): Tasks {
  const live = liveSystem();
  const struct = live.types.find("task_struct", "struct");
  const names = ["pid", "tgid", "comm"] as const;
  return {
    ofCpu: live.taskOfCpu?.(),
    members: names.flatMap((name) => {
      const offset = memberOffset(struct, name);
      return offset === undefined ? [] : [{ name, offset }];
    }),
  };
}

/** A machine with nothing on it but tasks. */
function systemOf(capabilities: Capabilities, { ofCpu, members }: Tasks): System {
  const task: StructType = {
    kind: "struct",
    union: false,
    name: "task_struct",
    size: Math.max(0, ...members.map(({ offset }) => offset)) + 16,
    members: members.map((member) => ({ ...member, type: member.name === "comm" ? comm : i32 })),
  };
  const { types } = bareSystem;
  return {
    ...bareSystem,
    capabilities,
    taskOfCpu: () => ofCpu,
    types: { ...types, find: (name, tag) => (name === task.name && tag === "struct" ? task : types.find(name, tag)) },
  };
}
const comm: Type = { kind: "array", element: i8, length: 16 };

let capabilities: Capabilities | undefined;
let tasks: Tasks | undefined;

const numbered = Array.from(
  { length: 6 },
  (_, i) => ({ kind: "context", offset: i * 8, size: 8, signed: false }) as const,
);

function contextOf(place: Place, system: System): Context {
  return place === "uprobe"
    ? userContext({ provider: "uprobe", returns: false, system, uses: new Set() })
    : {
        provider: "rawtracepoint",
        program: { type: "raw_tracepoint", cookie: false },
        defaultSpace: "kernel",
        stacks: true,
        numbered,
      };
}

/** For a kernel with these capabilities: compiled, or what became of the script before any kernel saw it. */
export function compileScript(
  text: string,
  place: Place,
  capabilities: Capabilities,
  easyToVerify: boolean | "calls" = false,
  tasks: Tasks = { ofCpu: undefined, members: [] },
): (Compiled & { readonly program: Program; readonly plan: Plan }) | Loaded {
  const { program, diagnostics } = parse({ name: "random.bt", text }, { positional: [] });
  const parsed = diagnostics.find(({ severity }) => severity === "error");
  if (parsed)
    return { outcome: "rejected", instructions: 0, detail: renderDiagnostic(program.source, parsed, { color: false }) };
  const system = systemOf(capabilities, tasks);
  const context = contextOf(place, system);
  const site = { name: `${place}:differential`, data: undefined };
  let compiled: Compiled;
  try {
    compiled = compile(program, system, {
      resolve: () => ({ variants: [{ context, provider: place, sites: [site] }], diagnostics: [] }),
      easyToVerify,
    });
  } catch (error) {
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { outcome: "crash", instructions: 0, detail };
  }
  const { plan } = compiled;
  if (plan !== undefined) return { ...compiled, program, plan };
  const errors = compiled.diagnostics.filter(({ severity }) => severity === "error");
  // What random arithmetic makes of constants, and random assignments of texts.
  const unwritable = errors.every(({ message }) =>
    /does not fit|outside of 64 bits|grows from its own value/.test(message),
  );
  const detail = errors.map((d) => renderDiagnostic(program.source, d, { color: false })).join("");
  return { outcome: unwritable ? "no script" : "rejected", instructions: 0, detail };
}

/** `whole`: what is told of a refused program is the verifier's whole log. */
export function loadScript(text: string, place: Place, whole = false): Loaded {
  capabilities ??= new Features().capabilities();
  tasks ??= tasksHere();
  let instructions = 0;
  for (const easyToVerify of [false, true, "calls"] as const) {
    const compiled = compileScript(text, place, capabilities, easyToVerify, tasks);
    if ("outcome" in compiled) return { ...compiled, instructions };
    const { plan } = compiled;
    instructions = plan.bpf.programs.reduce((sum, { code }) => sum + code.length / 8, 0);
    const refusal = refusalOf(plan, whole);
    if (refusal === undefined) return { outcome: easyToVerify ? "recompiled" : "loaded", instructions, detail: "" };
    if (refusal.code !== E2BIG)
      return {
        outcome: "refused",
        instructions,
        detail: `${refusal.message}\n${(refusal.log ?? "").slice(whole ? 0 : -mostDetail)}`,
      };
    if (easyToVerify === false || (easyToVerify === true && capabilities.mayGoto)) continue;
    const said = tooComplex(refusal, compiled);
    if (said === undefined) return { outcome: "refused", instructions, detail: refusal.message };
    return {
      outcome: "too complex",
      instructions,
      detail: said.diagnostics.map((d) => renderDiagnostic(compiled.program.source, d, { color: false })).join(""),
    };
  }
  throw new Error("neither loaded nor refused");
}

/** Why the kernel takes the plan's programs not; nothing when it takes them. */
export function refusalOf({ bpf }: Pick<Plan, "bpf">, whole = false): LinuxError | undefined {
  const maps: number[] = [];
  try {
    for (const map of bpf.maps) maps.push(createMap(map));
    for (const program of bpf.programs) {
      closeFd(
        loadProgram({
          name: program.name,
          type: BPF_PROG_TYPE[program.type as keyof typeof BPF_PROG_TYPE],
          license: "Dual MIT/GPL",
          subprograms: program.subprograms,
          ...(whole ? { logLevel: 1, logSize: 64 << 20 } : {}),
          code: relocated(program, {
            maps,
            childPid: 0,
            bootToWall: 0n,
            bootToTai: 0n,
            start: 0n,
            kernelVariable: () => undefined,
            kernelFunction: () => undefined,
          }),
        }),
      );
    }
    return undefined;
  } catch (error) {
    if (error instanceof LinuxError) return error;
    throw error;
  } finally {
    for (const map of maps) closeFd(map);
  }
}
