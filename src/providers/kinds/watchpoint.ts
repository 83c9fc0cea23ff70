// watchpoint: memory accesses, by the processor's breakpoint registers.
import { watchpoints } from "../../messages/watchpoints.ts";
import type { Message } from "../../messages/message.ts";
import { boundBy, type Argument, type Context } from "../../language/context.ts";
import { u64, voidType, type Type } from "../../language/types.ts";
import { LinuxError } from "../../linux/error.ts";
import { disablePerfEvent, PERF_TYPE_BREAKPOINT } from "../../linux/perf/perf.ts";
import { Attaching } from "../attaching/attachment.ts";
import { noBinary, unquote } from "../../machine/binaries/binaries.ts";
import { inMemory } from "../../machine/values/locations.ts";
import { attachEverywhere } from "../attaching/perf-sampling.ts";
import { perfEventContext, watchedAddress } from "../../machine/contexts/perf-context.ts";
import type { Attachment, AttachRequest, Provider, Resolution, ResolveOptions } from "../provider.ts";
import type { ProbeSpec } from "../../language/probe-spec.ts";
import { parseCount } from "../quantity.ts";
import { missing, refused, resolved, wrongParts } from "../resolution.ts";
import type { Binary, System } from "../../machine/system.ts";
import { ArmedWatchpoints, type Armed, type ArmedSite } from "../attaching/armed-watchpoints.ts";
import { unsigned, watchedVariable } from "../places/watched-variable.ts";
import { WatchedProcesses, type VariableSite } from "../attaching/watched-processes.ts";
import { hasWildcard } from "../../machine/wildcard.ts";
import { refusalHints, attempts } from "../../messages/on-demand.ts";

// HW_BREAKPOINT_ bits (include/uapi/linux/hw_breakpoint.h). x86 cannot watch reads alone.
const modes: Readonly<Record<string, number>> =
  process.arch === "x64" ? { w: 2, rw: 3, x: 4 } : { r: 1, w: 2, rw: 3, x: 4 };

/** An address, a variable of a file, which each process has elsewhere, or what handlers say. */
type WatchSite =
  | { readonly address: bigint; readonly length: number; readonly mode: number }
  | VariableSite
  | ArmedSite;

type Name = "watchpoint" | "asyncwatchpoint";

function watch(name: Name, alias: string): Provider {
  const usage = `${name}:ADDRESS:LENGTH:MODE or ${name}:BINARY:VARIABLE[:LENGTH]:MODE or ${name}:NAME:LENGTH:MODE`;
  return {
    name,
    aliases: [alias],
    usage,
    doc: "When memory is written (w), read or written (rw) or executed (x).",
    followsProcess: true,
    followsCommand: true,
    list: () => [],
    resolve(spec, system, options) {
      const parts = spec.parts.map(unquote);
      const modeText = parts.at(-1) ?? "";
      if (parts.length < 3) return wrongParts(spec, usage);
      const mode = modes[modeText.split("").sort().join("")];
      if (mode === undefined)
        return refused(spec, watchpoints.invalidWatchpointMode(modeText, Object.keys(modes).join(", ")));
      const address = parseCount(parts[0]);
      if (address === undefined && parts.length === 3 && parseCount(parts[1]) !== undefined)
        return ofHandlers(name, spec, parts, mode, system);
      if (address === undefined) return ofVariable(name, spec, parts.slice(0, -1), mode, system, options);
      if (parts.length > 3) return wrongParts(spec, usage);
      const length = lengthOf(parts[1], address, mode);
      if (typeof length !== "number") return refused(spec, length);
      // An instruction is watched where it begins, however long it is; the kernel wants the size of a long.
      const data: WatchSite = { address, length: mode === modes["x"] ? 8 : length, mode };
      return resolved({
        context: watchContext(name, system),
        provider: name,
        sites: [{ name: `${name}:${spec.parts.join(":")}`, data }],
      });
    },
    attach: (request) => attachWatchpoints(request, name),
  };
}

/**
 * Threads and processes inherit no cookies: each watchpoint has a program of its own where handlers ask which it is.
 */
function watchContext(name: Name, system: System, type: Type = voidType): Context {
  const address = watchedAddress();
  const pointer: Argument = { name: "address", type: { kind: "pointer", target: type, space: "user" }, fetch: address };
  const args =
    type.kind === "void" ? [pointer] : [pointer, { name: "value", ...inMemory(type, address, { space: "user" }) }];
  return { ...boundBy(perfEventContext(name, system), { cookie: false }), defaultSpace: "user", args };
}

/** Bytes, or why not; `help` where it is no length of a watchpoint. */
function lengthOf(text: string, address: bigint, mode: number, help?: string): number | Message {
  const length = Number(parseCount(text) ?? 0n);
  if (![1, 2, 4, 8].includes(length)) return watchpoints.invalidLength(text, help);
  return mode !== modes["x"] && address % BigInt(length) !== 0n ? watchpoints.unaligned(length) : length;
}

/** `NAME:LENGTH:MODE`: the addresses that handlers give to watch(). */
function ofHandlers(
  name: Name,
  spec: ProbeSpec,
  [armed, lengthText]: readonly string[],
  mode: number,
  system: System,
): Resolution {
  const argument = /^(.+)\+(arg\d+)$/.exec(armed);
  if (argument !== null) {
    const [, func, value] = argument;
    return refused(
      spec,
      watchpoints.whatArgumentPointsWatchedHandler(func, value, name, lengthText, spec.parts.at(-1)),
    );
  }
  const length = lengthOf(lengthText, 0n, mode);
  if (typeof length !== "number") return refused(spec, length);
  const data: WatchSite = { armed, length: mode === modes["x"] ? 8 : length, mode };
  // The program's memory or the kernel's: what is not there reads as 0.
  const address = watchedAddress();
  const type = unsigned(length);
  const [user, kernel] = (["user", "kernel"] as const).map((space) => inMemory(type, address, { space }).fetch);
  const args: readonly Argument[] = [
    { name: "address", type: u64, fetch: address },
    { name: "value", type, fetch: { kind: "binary", operator: "|", left: user, right: kernel } },
  ];
  const context: Context = { ...watchContext(name, system), args, watchName: armed };
  return resolved({ context, provider: name, sites: [{ name: `${name}:${spec.parts.join(":")}`, data }] });
}

function ofVariable(
  name: Name,
  spec: ProbeSpec,
  parts: readonly string[],
  mode: number,
  system: System,
  options: ResolveOptions,
): Resolution {
  const [target = "", ...rest] = parts;
  if (mode === modes["x"]) return refused(spec, watchpoints.variableNotExecuted());
  if (hasWildcard(target)) return refused(spec, watchpoints.watchpointOneBinary());
  const lengthText = rest.length > 1 && parseCount(rest.at(-1) ?? "") !== undefined ? rest.at(-1) : undefined;
  const wanted = (lengthText === undefined ? rest : rest.slice(0, -1)).join(":");
  const binary = system.binary(target, options.pid);
  if (binary === undefined) return missing(spec, options, watchpoints.noBinary(noBinary(target)));
  const variable = watchedVariable(binary, wanted);
  if ("problem" in variable) return missing(spec, options, variable.problem);
  const { address, size, type } = variable;
  const copied = copyElsewhere(binary, wanted, system, options);
  if (copied !== undefined)
    return refused(spec, watchpoints.useCopy(wanted, binary.shownPath, copied, name, spec.parts.slice(1).join(":")));
  const part = `watch a part of it, as in \`${wanted}${partOf(type)}\`, or say a length, ${name}:${target}:${wanted}:8:w`;
  const help = lengthText === undefined ? `\`${wanted}\` has ${size} bytes: ${part}` : undefined;
  const length = lengthOf(lengthText ?? `${size}`, address, mode, help);
  if (typeof length !== "number") return refused(spec, length);
  const [code] = binary.code ?? [];
  const begin = code === undefined ? undefined : binary.address(code.low);
  if (code === undefined || begin === undefined)
    return refused(spec, watchpoints.noCodeWhichTellsWhere(binary.shownPath));
  const data: WatchSite = { path: binary.path, code: { offset: code.low, address: begin }, address, length, mode };
  const site = { name: `${name}:${binary.shownPath}:${spec.parts.slice(1).join(":")}`, data };
  return resolved({
    context: watchContext(name, system, lengthText === undefined || length === size ? type : voidType),
    provider: name,
    sites: [site],
  });
}

/** A part that could be watched. */
function partOf(type: Type): string {
  if (type.kind === "array") return "[0]";
  return type.kind === "struct" ? `.${type.members.find(({ name }) => name !== "")?.name ?? "member"}` : "";
}

/**
 * Executables have copies of variables of libraries, which all use in place of those (R_X86_64_COPY). The program that
 * has one.
 */
function copyElsewhere(
  binary: Binary,
  name: string,
  system: System,
  { pid, command }: ResolveOptions,
): string | undefined {
  const executable =
    pid !== undefined ? system.mappedBinaries(pid)[0] : command === undefined ? undefined : /^\S+/.exec(command)?.[0];
  const program = executable === undefined ? undefined : system.binary(executable, pid);
  if (program === undefined || program.path === binary.path || binary.symbol(name)?.kind !== "object") return undefined;
  const own = program.symbol(name);
  return own?.kind === "object" && own.address > 0n ? program.shownPath : undefined;
}

/** Watchpoints of ours that are in use, by the process that they are in. */
const inUse = new Map<number, string[]>();
const everywhere = -1;
/** x86-64 has DR0 to DR3; other processors' numbers are the kernel's to know. */
const registers = process.arch === "x64" ? 4 : 16;

function attachWatchpoints(request: AttachRequest, name: Name): Attachment {
  const { program, pid, report = () => {} } = request;
  const events = new Map<bigint, number[]>();
  const processes: WatchedProcesses[] = [];
  const armed: ArmedWatchpoints[] = [];
  const own: string[] = [];
  const used = inUse.get(pid ?? everywhere) ?? [];
  inUse.set(pid ?? everywhere, used);
  const attaching = new Attaching(request).each((site) => {
    const data = site.data as WatchSite;
    if ("armed" in data) {
      armed.push(new ArmedWatchpoints(program, site.name, data, report));
      return [];
    }
    if (used.length >= registers) {
      throw new LinuxError({
        call: "perf_event_open",
        code: 28,
        doing: attempts().watch(site.name),
        hint: refusalHints().watchedAlready(registers, used.join(", ")),
      });
    }
    let opened: number[] = [];
    if ("path" in data)
      processes.push(
        new WatchedProcesses({ program, name: site.name, site: data, report, ...(pid === undefined ? {} : { pid }) }),
      );
    else {
      const { address, length, mode } = data;
      const event = {
        type: PERF_TYPE_BREAKPOINT,
        config: 0,
        config1: address,
        config2: length,
        bpType: mode,
        samplePeriod: 1,
      };
      opened = attachEverywhere(program, event, 0n, pid);
      events.set(address, [...(events.get(address) ?? []), ...opened]);
    }
    used.push(site.name);
    own.push(site.name);
    return opened;
  });
  return attaching.done({
    unwatch: (address, process) => {
      for (const event of events.get(address) ?? []) disablePerfEvent(event);
      for (const one of processes) one.unwatch(address);
      for (const one of armed) one.unwatch(address, process);
    },
    ...(armed.length > 0
      ? {
          watch: (asked: Armed) => {
            for (const one of armed) one.watch(asked);
          },
        }
      : {}),
    ...(processes.length > 0 && name === "watchpoint"
      ? {
          executed: (process: number) => {
            for (const one of processes) one.executed(process);
          },
        }
      : {}),
    closed: () => {
      for (const one of [...processes, ...armed]) one[Symbol.dispose]();
      for (const one of own) used.splice(used.indexOf(one), 1);
    },
  });
}

export const watchpoint = watch("watchpoint", "w");
export const asyncWatchpoint = watch("asyncwatchpoint", "aw");
