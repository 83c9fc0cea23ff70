// Scripts in D: probe descriptions, and arguments of probes, in DTrace's words and with its tags.
import { says, tagged, type Message } from "./message.ts";

export const dDescriptions = {
  /**
   * Shown with all four parts: those that are written are the last ones.
   *
   * @example nosuch:a:b:c { exit(0); }
   */
  provider: (text: string, help?: string): Message => {
    const whole = text.padStart(text.length + 4 - text.split(":").length, ":");
    return tagged("D_PDESC_ZERO", "name", `probe description ${whole} does not match any probes`, help);
  },
  /** @example pid1:a.out:main:xyz { exit(0); } */
  instructionName: (name: string): Message => tagged("D_PROC_NAME", "name", `'${name}' is an invalid probe name`),
  /** @example cpc:::cycles-user-1000 { exit(0); } */
  providerMissing: (text: string, why: string): Message =>
    tagged("D_PDESC_ZERO", "feature", `probe description ${text} does not match any probes: ${why}`),
  /** @example a:b:c:d:e { exit(0); } */
  invalidProbe: (text: string): Message =>
    tagged("D_PDESC_INVAL", "syntax", `invalid probe description "${text}": Overspecified probe description`),
  /** @example proc:::create { x = args[1]->pr_pid; } */
  noArgument: (number: number, probe: string, count: number): Message =>
    tagged(
      "D_ARGS_IDX",
      "arguments",
      `index ${number} is out of range for ${probe} args[ ]`,
      count === 0 ? "it has none" : `it has ${count}`,
    ),
  /** @example BEGIN { x = args[0]; } */
  noArgumentsHere: (number: number, probe: string): Message =>
    tagged("D_ARGS_IDX", "arguments", `index ${number} is out of range for ${probe} args[ ]`),
  /** @example proc::: { trace(args[0]); } */
  argumentsUnstable: (description: string): Message =>
    tagged(
      "D_ARGS_MULTI",
      "type",
      `args[ ] may not be referenced because probe description ${description} matches an unstable set of probes`,
    ),
  /** @example sched:::off-cpu, sched:::wakeup { x = args[0]->pr_pri; } */
  argumentsDiffer: (number: number, one: string, other: string): Message =>
    says("arguments", `args[${number}] is not the same of ${one} and ${other}`, "write a clause for each"),
  /** @example tcp:::state-change { x = args[0]->pkt_addr; } */
  argumentAbsent: (number: number, probe: string): Message =>
    says(
      "arguments",
      `args[${number}] of ${probe} is nothing: no ${/:(?:receive|accept-refused)$/.test(probe) ? "socket" : "packet"} is known there`,
    ),
  /** @example BEGIN { x = uregs[9999]; } */
  noSuchRegister: (index: bigint): Message => tagged("D_UNKNOWN", "name", `uregs[]: index out of bounds (${index})`),
  /** @example BEGIN { x = uregs[-1]; } */
  registerOutside: (index: bigint): Message =>
    tagged("D_REGS_IDX", "name", `index ${index} is out of range for array uregs`),
  /** @example kinst::f:4 { x = regs[pid]; } */
  unknownRegister: (): Message =>
    says(
      "name",
      "regs[ ] is indexed by a register's constant name",
      "as in regs[R_RDI]: R_RAX to R_R15, R_PC, R_SP, R_FP",
    ),
  /**
   * @example
   * #pragma D option amin=Stable/Stable/Common
   * syscall::read:entry { exit(0); }
   */
  tooUnstable: (what: string, attributes: string): Message =>
    tagged("D_ATTR_MIN", "name", `attributes for ${what} (${attributes}) are less than predefined minimum`),
  /** @example pid0:a.out:main:entry { exit(0); } */
  noPid: (provider: string): Message => tagged("D_PROC_BADPID", "name", `${provider} does not contain a valid pid`),
  /** Of DTrace's command, for a process that is not there. */
  processGrabbed: (pid: string): Message => tagged("D_PROC_GRAB", "name", `failed to grab process ${pid}`),
  /** Of DTrace's command, for an instruction behind the end of a function of a program. */
  offsetOutside: (offset: string, name: string): Message =>
    tagged("D_PROC_OFF", "arguments", `offset 0x${offset} outside of function '${name}'`),
  /** Of DTrace's command, for a function that a module does not have. */
  functionOf: (module: string, name: string): Message =>
    tagged("D_PROC_FUNC", "name", `failed to lookup '${name}' in module '${module}'`),
} as const;
