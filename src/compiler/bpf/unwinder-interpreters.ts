// Frames of Python's functions, in a stack behind the frame of the function that interprets them: a round for each. All
// memory of the process is read as if it were hostile: what cannot be read or does not fit ends the interpreted frames,
// and the walk goes on without them.
import type { Label } from "../../bpf/assembler.ts";
import { Alu, Jump } from "../../bpf/instruction.ts";
import {
  functionAt,
  functionTexts,
  interpreter,
  interpreterAt,
  interpreterKind,
  interpretedAt,
} from "../layouts/unwind-layout.ts";
import { cutStack, interpreted } from "../layouts/unwound-stack.ts";
import { mixIn } from "./stack-hash.ts";
import { COUNT, kept, MAPPINGS, MEMORY, noteAddress, slot, wordOf, UnwinderCode } from "./unwinder-code.ts";
import { tellJavascript } from "./unwinder-v8.ts";

const unknown = 1;
/** Bytes of a frame that tell all: every version's frames are longer. */
const headerBytes = 80;
/**
 * glibc (nptl/descr.h, struct pthread): its first block of thread-specific values, pairs of a sequence number and the
 * value.
 */
const specific = { first: 0x310, bytes: 16, value: 8, most: 32 } as const;
/** The interpreter function has not taken its frame over before this many bytes of it. */
const prologue = 16;

/** `threadPointer`: offset in task_struct. `follow`: where a native frame's caller is found. */
export interface InterpreterSteps {
  readonly threadPointer: number;
  readonly follow: Label;
  readonly functions: number;
}

/** Once, with the process's number in the key. */
export function beginInterpreted(code: UnwinderCode): void {
  const { assembler: a } = code;
  a.load(4, false, 1, 10, slot.key);
  code.store(kept.pid, 1);
  a.storeImmediate(8, MEMORY, kept.frame, unknown);
  a.storeImmediate(8, MEMORY, kept.telling, 0);
}

/** At the beginning of a round: tells an interpreted frame, if there is one to be told. Else goes on behind. */
export function tellInterpreted(code: UnwinderCode, steps: InterpreterSteps): void {
  const { assembler: a } = code;
  const [native, over, failed, entered, emit, going] = [
    a.label(),
    a.label(),
    a.label(),
    a.label(),
    a.label(),
    a.label(),
  ];
  a.jumpIfImmediate(Jump.JEQ, true, MAPPINGS, 0, native);
  code.load(1, kept.telling);
  a.jumpIfImmediate(Jump.JEQ, true, 1, 0, native);
  const python = a.label();
  a.load(8, false, 1, MAPPINGS, interpreterAt + interpreter.kind);
  a.jumpIfImmediate(Jump.JNE, true, 1, interpreterKind.v8, python);
  tellJavascript(code, steps.functions);
  a.jump(steps.follow);
  a.bind(python);
  code.load(3, kept.frame);
  a.jumpIfImmediate(Jump.JEQ, true, 3, 0, over);
  code.readUser(kept.header, headerBytes, failed);
  fromHeader(code, 1, interpreter.previous, 8);
  code.store(kept.frame, 1);
  fromHeader(code, 4, interpreter.owner, 1);
  a.load(8, false, 1, MAPPINGS, interpreterAt + interpreter.kind);
  a.jumpIfImmediate(Jump.JEQ, true, 1, interpreterKind.pythonEntered, entered);
  // FRAME_OWNED_BY_CSTACK, or FRAME_OWNED_BY_INTERPRETER since 3.14
  a.jumpIfImmediate(Jump.JGE, true, 4, 3, over);
  a.jump(emit);
  a.bind(entered);
  a.jumpIfImmediate(Jump.JEQ, true, 4, 0, emit);
  a.storeImmediate(8, MEMORY, kept.telling, 0);
  a.bind(emit);
  tellFunction(code, steps.functions, failed);
  code.load(1, kept.telling);
  a.jumpIfImmediate(Jump.JNE, true, 1, 0, going);
  a.jump(steps.follow);
  a.bind(going);
  a.jump(code.next);

  a.bind(failed);
  a.storeImmediate(8, MEMORY, kept.frame, 0);
  a.bind(over);
  a.storeImmediate(8, MEMORY, kept.telling, 0);
  a.jump(steps.follow);
  a.bind(native);
}

/** Behind a native frame's note: if it is the interpreter function's, its interpreted frames come next. */
export function meetInterpreter(code: UnwinderCode, { threadPointer, follow }: InterpreterSteps): void {
  const { assembler: a } = code;
  const [meets, looked, none] = [a.label(), a.label(), a.label()];
  const field = (register: number, at: number): void => a.load(8, false, register, MAPPINGS, interpreterAt + at);
  a.jumpIfImmediate(Jump.JEQ, true, MAPPINGS, 0, follow);
  field(1, interpreter.kind);
  a.jumpIfImmediate(Jump.JEQ, true, 1, 0, follow);
  a.jumpIfImmediate(Jump.JEQ, true, 1, interpreterKind.v8, follow);
  for (const [low, size] of [
    [interpreter.otherLow, interpreter.otherSize],
    [interpreter.low, interpreter.size],
  ] as const) {
    code.load(2, slot.call);
    field(1, low);
    a.alu(Alu.SUB, true, 2, 1);
    field(1, size);
    if (low === interpreter.low) {
      a.jumpIf(Jump.JGE, true, 2, 1, follow);
      // Where it was just called, the newest frame is still its caller's.
      a.jumpIfImmediate(Jump.JGT, true, COUNT, 1, meets);
      a.jumpIfImmediate(Jump.JLT, true, 2, prologue, follow);
    } else a.jumpIf(Jump.JLT, true, 2, 1, meets);
  }
  a.bind(meets);
  code.load(1, kept.frame);
  a.jumpIfImmediate(Jump.JEQ, true, 1, 0, follow);
  a.jumpIfImmediate(Jump.JNE, true, 1, unknown, looked);

  // The thread's state is a value of its own that the C library keeps.
  field(3, interpreter.key);
  code.readUser(kept.words, 8, none);
  a.load(4, false, 1, MEMORY, kept.words);
  a.jumpIfImmediate(Jump.JGE, true, 1, specific.most, none);
  a.aluImmediate(Alu.MUL, true, 1, specific.bytes);
  code.store(kept.word, 1);
  code.call("get_current_task_btf");
  a.load(8, false, 1, 0, threadPointer);
  code.load(3, kept.word);
  code.store(kept.word, 1);
  a.alu(Alu.ADD, true, 3, 1);
  code.add(3, specific.first + specific.value);
  code.readUser(kept.words, 8, none);
  code.load(3, kept.words);
  code.store(kept.frame, 3);
  // It must be this thread's.
  field(1, interpreter.threadId);
  a.alu(Alu.ADD, true, 3, 1);
  code.readUser(kept.words, 8, none);
  code.load(1, kept.words);
  code.load(2, kept.word);
  a.jumpIf(Jump.JNE, true, 1, 2, none);
  code.load(3, kept.frame);
  field(1, interpreter.frame);
  a.alu(Alu.ADD, true, 3, 1);
  code.readUser(kept.words, 8, none);
  const direct = a.label();
  code.load(3, kept.words);
  field(1, interpreter.inner);
  a.jumpIfImmediate(Jump.JSLT, true, 1, 0, direct);
  a.alu(Alu.ADD, true, 3, 1);
  code.readUser(kept.words, 8, none);
  code.load(3, kept.words);
  a.bind(direct);
  code.store(kept.frame, 3);
  a.bind(looked);
  a.storeImmediate(8, MEMORY, kept.telling, 1);
  a.jump(code.next);
  a.bind(none);
  a.storeImmediate(8, MEMORY, kept.frame, 0);
  a.jump(follow);
}

/** A member of the frame that was read, into a register: at an offset that the process's entry has. */
function fromHeader({ assembler: a }: UnwinderCode, to: number, offset: number, bytes: 1 | 8): void {
  a.load(8, false, 2, MAPPINGS, interpreterAt + offset);
  a.aluImmediate(Alu.AND, true, 2, 127);
  a.alu(Alu.ADD, true, 2, MEMORY);
  a.load(bytes, false, to, 2, kept.header);
}

/** Notes the frame that was read; copies what names its function where that is new. */
function tellFunction(code: UnwinderCode, functions: number, failed: Label): void {
  const { assembler: a } = code;
  const [place, known] = [a.label(), a.label()];
  const field = (register: number, at: number): void => a.load(8, false, register, MAPPINGS, interpreterAt + at);
  fromHeader(code, 3, interpreter.executable, 8);
  // 3.14 marks borrowed references in the lowest bits.
  a.aluImmediate(Alu.AND, true, 3, -8);
  code.store(interpretedAt + functionAt.object, 3);
  fromHeader(code, 4, interpreter.instruction, 8);
  a.alu(Alu.SUB, true, 4, 3);
  field(1, interpreter.code);
  a.alu(Alu.SUB, true, 4, 1);
  a.aluImmediate(Alu.ARSH, true, 4, 1);
  code.set(5, interpreted.before);
  a.jumpIfImmediate(Jump.JSLT, true, 4, 0, place);
  code.set(5, interpreted.beyond);
  a.jumpIfImmediate(Jump.JGE, true, 4, interpreted.beyond, place);
  code.move(5, 4);
  a.bind(place);
  code.store(kept.word, 5);
  field(1, interpreter.names);
  a.alu(Alu.ADD, true, 3, 1);
  code.readUser(interpretedAt + functionAt.names, 32, failed);

  code.load(1, kept.pid);
  for (const at of [functionAt.object, functionAt.names, functionAt.names + 16, functionAt.names + 24]) {
    code.load(3, interpretedAt + at);
    mixIn(a, 1, 3, 2);
  }
  wordOf(code);
  code.lookup(functions, kept.key);
  a.jumpIfImmediate(Jump.JNE, true, 0, 0, known);
  copyFunction(code);
  const full = a.label();
  code.keepFunction(functions, full);
  a.bind(known);
  code.load(3, kept.key);
  code.load(1, kept.word);
  a.alu(Alu.OR, true, 3, 1);
  noteAddress(code, 3);
  code.add(COUNT, 1);
  a.store(4, MEMORY, 0, COUNT);
  const told = a.label();
  a.jump(told);
  a.bind(full);
  a.storeImmediate(4, MEMORY, 4, cutStack.functions);
  a.bind(told);
}

function copyFunction(code: UnwinderCode): void {
  const { assembler: a } = code;
  code.load(1, kept.pid);
  a.store(4, MEMORY, interpretedAt + functionAt.pid, 1);
  a.load(8, false, 1, MAPPINGS, interpreterAt + interpreter.version);
  a.store(4, MEMORY, interpretedAt + functionAt.version, 1);
  code.load(3, interpretedAt + functionAt.object);
  a.load(8, false, 1, MAPPINGS, interpreterAt + interpreter.firstLine);
  a.alu(Alu.ADD, true, 3, 1);
  // What cannot be read is zero.
  const next = a.label();
  code.readUser(interpretedAt + functionAt.firstLine, 8, next);
  a.bind(next);
  const texts = [
    [functionAt.qualifiedName, 16, functionTexts.qualifiedName],
    [functionAt.file, 0, functionTexts.file],
    [functionAt.lines, 24, functionTexts.lines],
  ] as const;
  for (const [to, pointer, most] of texts) code.copyText(to, functionAt.names + pointer, 0, most);
}
