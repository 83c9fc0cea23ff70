// Whether a function whose result is in memory gives its address back in rax, as the calling convention wants it
// (System V ABI, AMD64 supplement, section 3.2.3). LLVM leaves that out where it knows all callers.
import { iced } from "./instructions.ts";
import type { CodeRange } from "./function-ends.ts";

/** What an instruction does with rax. */
interface Step {
  readonly reads: boolean;
  readonly writes: boolean;
  /** It moves a whole register or a word of the frame there, as one does to give it back. */
  readonly moves: boolean;
  readonly flow: "next" | "return" | "other" | "call";
  /** Bytes from the start of the code, of jumps in it. */
  readonly target?: number;
  readonly offset: number;
}

/**
 * True where every return instruction has what was moved to rax for it, and that no other instruction used; false where
 * one has not.
 */
export function givesAddressBack(ranges: readonly CodeRange[]): boolean {
  let returns = 0;
  for (const { bytes } of ranges) {
    const steps = stepsOf(bytes);
    if (steps === undefined) return false;
    const targets = new Set(steps.flatMap(({ target }) => target ?? []));
    for (const [i, { flow }] of steps.entries()) {
      if (flow !== "return") continue;
      returns++;
      if (!movedBefore(steps, i, targets)) return false;
    }
  }
  return returns > 0;
}

function movedBefore(steps: readonly Step[], end: number, targets: ReadonlySet<number>): boolean {
  for (let i = end - 1; i >= 0; i--) {
    const { reads, writes, moves, flow } = steps[i];
    if (flow !== "next" || targets.has(steps[i + 1].offset)) return movedAtFirst(steps);
    if (moves) return true;
    if (reads || writes) return false;
  }
  return false;
}

/** It is moved in the beginning, and nothing uses rax from then on. */
function movedAtFirst(steps: readonly Step[]): boolean {
  const first = steps.findIndex(({ reads, writes, flow }) => reads || writes || flow !== "next");
  return (
    first >= 0 &&
    steps[first].moves &&
    steps.slice(first + 1).every(({ reads, writes, flow }) => !reads && !writes && flow !== "call")
  );
}

function stepsOf(code: Uint8Array): readonly Step[] | undefined {
  const {
    Decoder,
    DecoderOptions,
    FlowControl,
    Instruction,
    InstructionInfoFactory,
    Mnemonic,
    OpAccess,
    OpKind,
    Register,
    RegisterExt,
  } = iced();
  const decoder = new Decoder(64, code, DecoderOptions.None);
  const factory = new InstructionInfoFactory();
  const current = new Instruction();
  const base = 1n << 40n;
  decoder.ip = base;
  const writing = new Set([OpAccess.Write, OpAccess.CondWrite, OpAccess.ReadWrite, OpAccess.ReadCondWrite]);
  const reading = new Set([OpAccess.Read, OpAccess.CondRead, OpAccess.ReadWrite, OpAccess.ReadCondWrite]);
  const steps: Step[] = [];
  try {
    while (decoder.canDecode) {
      const offset = decoder.position;
      decoder.decodeOut(current);
      if (current.isInvalid) return undefined;
      let [reads, writes] = [false, false];
      const info = factory.info(current);
      for (const used of info.usedRegisters()) {
        if (RegisterExt.fullRegister(used.register) === Register.RAX) {
          reads ||= reading.has(used.access);
          writes ||= writing.has(used.access);
        }
        used.free();
      }
      info.free();
      const fromFrame =
        current.op1Kind === OpKind.Memory &&
        (current.memoryBase === Register.RSP || current.memoryBase === Register.RBP) &&
        current.memoryIndex === Register.None;
      const moves =
        current.mnemonic === Mnemonic.Mov &&
        current.op0Kind === OpKind.Register &&
        current.op0Register === Register.RAX &&
        (current.op1Kind === OpKind.Register || fromFrame);
      const { flowControl } = current;
      const flow =
        flowControl === FlowControl.Next
          ? "next"
          : flowControl === FlowControl.Return
            ? "return"
            : flowControl === FlowControl.Call || flowControl === FlowControl.IndirectCall
              ? "call"
              : "other";
      const target = current.op0Kind === OpKind.NearBranch64 ? Number(current.nearBranchTarget - base) : undefined;
      steps.push({ reads, writes, moves, flow, offset, ...(target === undefined ? {} : { target }) });
    }
    return steps;
  } finally {
    current.free();
    factory.free();
    decoder.free();
  }
}
