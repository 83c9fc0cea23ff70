// Probes inside kernel functions: by kprobe, at addresses, one perf event each.
import type { CodeRange } from "../debuginfo/function-ends.ts";
import type { SiteRef } from "../language/check/checked.ts";
import type { Context } from "../language/context.ts";
import { u64, type Type } from "../language/types.ts";
import { scalarArgument } from "./function-arguments.ts";
import { findFunctions, functionPattern, functionTargets } from "./kernel-functions.ts";
import type { KprobeSite } from "./kernel-functions.ts";
import { fetchRegister, fetchRegisters, hostMachine, registersOf, registersType } from "./registers.ts";
import type { KernelCode, System } from "./system.ts";

/** What a handler sees inside a kernel function; with `returns` at its return instructions, typed as BTF has the result. */
export function insideKernelFunction(provider: string, system: System, returns?: { readonly name: string }): Context {
  const file = registersOf(hostMachine);
  const registers = system.types.find("pt_regs", "struct");
  return {
    provider,
    programType: "kprobe",
    ...(returns ? { retval: scalarArgument("retval", resultType(system.kernelFunction(returns.name)?.result), fetchRegister(file, file.result)) } : {}),
    registers: fetchRegisters(file),
    contextType: registers ? { kind: "pointer", target: registers, space: "kernel" } : registersType(file),
    func: "site",
    defaultSpace: "kernel",
    stacks: true,
    cookie: true,
  };
}

/** What the result's register holds is a number or a pointer that the verifier knows nothing of. */
function resultType(type: Type | undefined): Type {
  switch (type?.kind) {
    case "integer":
    case "enum":
    case "boolean": return type;
    case "pointer": return { kind: "pointer", target: type.target, space: type.space };
    default: return u64;
  }
}

/** The code of the kernel functions of a name or wildcard. `problem`: why that of the last one that is missing cannot be had. */
export function kernelFunctions(wanted: string, system: System): { readonly found: readonly KernelCode[]; readonly problem?: string } {
  const found: KernelCode[] = [];
  let problem: string | undefined;
  const pattern = functionPattern([wanted]);
  for (const { name, address } of functionTargets(findFunctions(pattern, system), pattern, system)) {
    const code = system.kernelCode?.(name, address) ?? "this machine's kernel has no code to read";
    if (typeof code === "string") problem = code;
    else found.push(code);
  }
  return { found, ...(problem === undefined ? {} : { problem }) };
}

export function kernelSite(name: string, code: KernelCode, range: CodeRange, offset: number, wildcard?: string): SiteRef {
  const data: KprobeSite = { offset: range.address + BigInt(offset), ...(wildcard === undefined ? {} : { wildcard }) };
  return { name, func: code.name, data };
}
