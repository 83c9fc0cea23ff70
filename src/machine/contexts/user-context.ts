// What handlers see at places in executables and libraries.
import { BPF_TRACE_UPROBE_MULTI } from "../../linux/bpf/bpf.ts";
import type { Context } from "../../language/context.ts";
import { kernelFeatures, kernelHas } from "../../base/kernel-features.ts";
import { u64 } from "../../language/types.ts";
import {
  fetchCallArguments,
  fetchRegister,
  fetchRegisters,
  hostMachine,
  registersOf,
  registersType,
} from "./registers.ts";
import type { Binary, System } from "../system.ts";

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
  const multi = kernelHas(system.capabilities.kernel, kernelFeatures.multipleUprobes);
  return {
    provider,
    program: {
      type: "kprobe",
      ...(multi ? { load: { attachType: BPF_TRACE_UPROBE_MULTI, btfId: 0 } } : {}),
      cookie: true,
    },
    inProgram: true,
    ...(returns
      ? { retval: { type: u64, fetch: fetchRegister(file, file.result) } }
      : { numbered: fetchCallArguments(file, "user") }),
    registers: fetchRegisters(file),
    contextType: registers ? { kind: "pointer", target: registers, space: "kernel" } : registersType(file),
    // Kernels without multi links do not tell programs on uprobes where they are.
    func: multi ? "user" : "site",
    defaultSpace: "user",
    stacks: true,
  };
}

/**
 * Where a symbol of the binary is, seen from a handler at `site`: as far from the probed instruction as in the file. A
 * return probe is elsewhere when it fires, so only fixed addresses will do there.
 */
export function symbolsSeenFrom(binary: Binary, site: bigint, returns: boolean): NonNullable<Context["userSymbol"]> {
  const file = registersOf(hostMachine);
  return (name) => {
    const symbol = binary.symbol(name);
    const here = binary.address(site);
    if (symbol === undefined || here === undefined) return undefined;
    const size = Number(symbol.size);
    if (binary.fixed) return { size, fetch: { kind: "constant", value: symbol.address } };
    if (returns) return "where code is loaded anywhere, only an entry probe can tell";
    return {
      size,
      fetch: {
        kind: "address",
        base: fetchRegister(file, hostMachine === "arm64" ? "pc" : "ip"),
        offset: Number(symbol.address - here),
      },
    };
  };
}
