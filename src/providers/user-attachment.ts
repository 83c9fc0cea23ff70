// Attaching to places in executables and libraries: one uprobe-multi link a file, else a perf event a place.
import type { AttachRequest, Attachment } from "./provider.ts";
import { BPF_TRACE_UPROBE_MULTI, linkCreateUprobeMulti } from "../linux/bpf.ts";
import { cString } from "../linux/ffi.ts";
import { LinuxError } from "../linux/error.ts";
import { openPerfEvent } from "../linux/perf.ts";
import { pmuReturnBit, pmuType } from "../linux/tracefs.ts";
import type { Context } from "../language/context.ts";
import { kernelAtLeast } from "../language/kernel-version.ts";
import { u64 } from "../language/types.ts";
import { Attaching, attachToPerfEvent } from "./attachment.ts";
import { fetchCallArguments, fetchRegister, fetchRegisters, hostMachine, registersOf, registersType } from "./registers.ts";
import { groupBy } from "./resolution.ts";
import type { Binary, System } from "./system.ts";

/** A place in a file. `semaphore`: file offset of the counter that tells the program somebody is watching; 0 for none. */
export interface UserSite {
  readonly path: string;
  readonly offset: bigint;
  readonly semaphore: bigint;
  /** Of a probe on returns: the place itself is where something returns. */
  readonly inPlace?: boolean;
}

export interface UserContextOptions {
  readonly provider: string;
  readonly returns: boolean;
  readonly system: System;
  /** What the handler uses, where that is known. */
  readonly uses?: ReadonlySet<string>;
}

export function userContext({ provider, returns, system, uses }: UserContextOptions): Context {
  const file = registersOf(hostMachine);
  // Only asked for where it is of use: it takes the kernel's types.
  const registers = uses?.has("ctx") === false ? undefined : system.types.find("pt_regs", "struct");
  // Programs are loaded for one or the other: multi links came with Linux 6.6.
  const multi = kernelAtLeast(system.capabilities.kernel, 6, 6);
  return {
    provider,
    programType: "kprobe",
    ...(multi ? { load: { attachType: BPF_TRACE_UPROBE_MULTI, btfId: 0 } } : {}),
    ...(returns ? { retval: { type: u64, fetch: fetchRegister(file, file.result) } } : { numbered: fetchCallArguments(file, "user") }),
    registers: fetchRegisters(file),
    contextType: registers ? { kind: "pointer", target: registers, space: "kernel" } : registersType(file),
    // Kernels without multi links do not tell programs on uprobes where they are.
    func: multi ? "user" : "site",
    defaultSpace: "user",
    stacks: true,
    cookie: true,
  };
}

/**
 * Where a symbol of the binary is, seen from a handler at `site`: as far from the probed instruction as in the file. A return
 * probe is elsewhere when it fires, so only fixed addresses will do there.
 */
export function symbolsSeenFrom(binary: Binary, site: bigint, returns: boolean): NonNullable<Context["userSymbol"]> {
  const file = registersOf(hostMachine);
  return (name) => {
    const symbol = binary.symbol(name);
    const here = binary.address(site);
    if (symbol === undefined || here === undefined) return undefined;
    const size = Number(symbol.size);
    if (binary.fixed) return { size, fetch: { kind: "constant", value: symbol.address } };
    if (returns) return undefined;
    return { size, fetch: { kind: "address", base: fetchRegister(file, hostMachine === "arm64" ? "pc" : "ip"), offset: Number(symbol.address - here) } };
  };
}

export function attachToUserSites(request: AttachRequest, returns: boolean): Attachment {
  const attaching = new Attaching(request);
  if (request.binding.load) {
    const files = groupBy(request.sites.map((site, i) => ({ i, ...(site.data as UserSite) })), ({ path, inPlace = false }) => `${inPlace} ${path}`);
    for (const members of files.values()) {
      const [{ path, inPlace = false }] = members;
      attaching.together(members.map(({ i }) => i), (sites, cookies) => {
        const places = sites.map((site) => site.data as UserSite);
        const semaphores = places.some(({ semaphore }) => semaphore !== 0n) ? { refCtrOffsets: places.map(({ semaphore }) => semaphore) } : {};
        return linkCreateUprobeMulti(request.program, {
          path, offsets: places.map(({ offset }) => offset), ...semaphores, cookies, isReturn: returns && !inPlace,
          ...(request.pid === undefined ? {} : { pid: request.pid }),
        });
      });
    }
    return attaching.done();
  }
  const type = pmuType("uprobe");
  return attaching.each((site, cookie) => {
    const { path, offset, semaphore, inPlace = false } = site.data as UserSite;
    const returnBit = returns && !inPlace ? 1n << BigInt(pmuReturnBit("uprobe")) : 0n;
    if (type === undefined) throw new LinuxError({ call: "perf_event_open", code: 2, doing: `attach ${site.name}`, hint: "this kernel has no uprobes (CONFIG_UPROBE_EVENTS)" });
    const target = request.pid === undefined ? { pid: -1, cpu: 0 } : { pid: request.pid, cpu: -1 };
    // The semaphore's offset is in the upper half of config.
    const event = openPerfEvent({ type, config: returnBit | (semaphore << 32n), config1: cString(path), config2: offset, ...target });
    return attachToPerfEvent(request.program, event, cookie);
  }).done();
}
