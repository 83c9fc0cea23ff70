// Functions of JavaScript in a stack: V8 keeps frame pointers, and at each the function. (V8's
// src/execution/frame-constants.h; what is where in its objects, its binary tells.) All memory of the process is read
// as if it were hostile.
import type { Label } from "../../bpf/assembler.ts";
import { Alu, Jump } from "../../bpf/instruction.ts";
import {
  functionAt,
  functionTexts,
  interpreterAt,
  interpreterKind,
  v8,
  v8FunctionAt,
  v8InferredRoom,
  v8ScopeWords,
  interpretedAt,
} from "../layouts/unwind-layout.ts";
import { cutStack } from "../layouts/unwound-stack.ts";
import { mixIn } from "./stack-hash.ts";
import { COUNT, kept, MAPPINGS, MEMORY, noteAddress, slot, wordOf, type UnwinderCode } from "./unwinder-code.ts";

/**
 * From a tagged pointer: the map of an object; in a map the type (u16); in a string its hash and length, in one of
 * others the first.
 */
const object = { map: -1, type: 11, lengthWord: 7, part: 15, secondPart: 23 } as const;
/** Types of strings are below. */
const firstNoString = 0x80;
/** Of a string's type: the representation. */
const representation = { mask: 7, cons: 1, thin: 5 } as const;
/**
 * Of a scope's description (src/objects/scope-info.tq): its flags, whether a class's variable was saved; names kept in
 * a table of their own.
 */
const scope = { flags: 8, savedBit: 10, inlinedLocals: 75, mostLocals: 1 << 12, nameBits: 3 << 12 } as const;

/**
 * Where a frame pointer is to be followed: if it may lead to a function's frame, has the next round tell that first.
 * The next round, since ways to here are many, and the verifier would walk all that telling takes for each.
 */
export function meetJavascript(code: UnwinderCode): void {
  const { assembler: a } = code;
  const [over, told] = [a.label(), a.label()];
  a.jumpIfImmediate(Jump.JEQ, true, MAPPINGS, 0, over);
  a.load(8, false, 1, MAPPINGS, interpreterAt + v8.kind);
  a.jumpIfImmediate(Jump.JNE, true, 1, interpreterKind.v8, over);
  code.load(1, kept.telling);
  a.jumpIfImmediate(Jump.JNE, true, 1, 0, told);
  a.storeImmediate(8, MEMORY, kept.telling, 1);
  a.jump(code.next);
  a.bind(told);
  a.storeImmediate(8, MEMORY, kept.telling, 0);
  a.bind(over);
}

/** Notes the function of the frame at the frame pointer, if it is one of JavaScript. Goes on behind. */
export function tellJavascript(code: UnwinderCode, functions: number): void {
  const { assembler: a } = code;
  const [over, noScript, identified, known, full] = [a.label(), a.label(), a.label(), a.label(), a.label()];
  const field = (register: number, at: number): void => a.load(8, false, register, MAPPINGS, interpreterAt + at);
  code.load(3, slot.bp);
  code.add(3, -16);
  code.readUser(kept.words, 16, over);
  // Other frames have a small number where functions' have the context.
  code.load(1, kept.words + 8);
  ifNoObject(code, 1, over);
  code.load(3, kept.words);
  ifNoObject(code, 3, over);
  code.store(kept.word, 3);
  typeOf(code, over);
  field(2, v8.functionType);
  a.alu(Alu.SUB, true, 1, 2);
  field(2, v8.functionTypes);
  a.jumpIf(Jump.JGE, true, 1, 2, over);
  code.load(3, kept.word);
  read(code, v8.shared, over);
  code.load(3, kept.words);
  ifNoObject(code, 3, over);
  code.store(interpretedAt + functionAt.object, 3);
  read(code, v8.name, over);
  code.load(1, kept.words);
  code.store(interpretedAt + functionAt.names, 1);
  code.load(3, interpretedAt + functionAt.object);
  read(code, v8.literal, over);
  a.load(4, false, 1, MEMORY, kept.words);
  code.store(interpretedAt + functionAt.firstLine, 1);
  code.load(3, interpretedAt + functionAt.object);
  read(code, v8.script, over);
  code.load(3, kept.words);
  code.store(interpretedAt + functionAt.names + 8, 3);
  // Objects move: a script's number and the function's in it stay. Those without a script are V8's own, and so are
  // their names.
  a.storeImmediate(8, MEMORY, interpretedAt + functionAt.names + 16, 0);
  a.storeImmediate(8, MEMORY, interpretedAt + functionAt.names + 24, 0);
  ifNoObject(code, 3, noScript);
  typeOf(code, noScript);
  field(2, v8.scriptType);
  a.jumpIf(Jump.JNE, true, 1, 2, noScript);
  code.load(3, interpretedAt + functionAt.names + 8);
  read(code, v8.scriptName, over);
  code.load(1, kept.words);
  code.store(interpretedAt + functionAt.names + 16, 1);
  code.load(3, interpretedAt + functionAt.names + 8);
  read(code, v8.scriptId, over);
  code.load(1, kept.words);
  code.store(interpretedAt + functionAt.names + 24, 1);
  a.jump(identified);
  a.bind(noScript);
  code.load(1, interpretedAt + functionAt.names);
  code.store(interpretedAt + functionAt.names + 24, 1);
  a.bind(identified);

  code.load(1, kept.pid);
  for (const at of [functionAt.names + 24, functionAt.firstLine]) {
    code.load(3, interpretedAt + at);
    mixIn(a, 1, 3, 2);
  }
  wordOf(code);
  code.lookup(functions, kept.key);
  a.jumpIfImmediate(Jump.JNE, true, 0, 0, known);
  code.load(1, kept.pid);
  a.store(4, MEMORY, interpretedAt + functionAt.pid, 1);
  field(1, v8.version);
  a.store(4, MEMORY, interpretedAt + functionAt.version, 1);
  for (const at of [
    functionAt.qualifiedName,
    functionAt.file,
    v8FunctionAt.inferred,
    v8FunctionAt.inferredRest,
    functionAt.names + 24,
  ])
    a.storeImmediate(8, MEMORY, interpretedAt + at, 0);
  for (let word = 0; word < v8ScopeWords * 2; word++)
    a.storeImmediate(8, MEMORY, interpretedAt + v8FunctionAt.scope + word * 8, 0);
  copyString(code, functionAt.names + 16, functionAt.file, functionTexts.file);
  copyScope(code);
  copyString(code, functionAt.names, functionAt.qualifiedName, functionTexts.qualifiedName);
  code.keepFunction(functions, full);
  a.bind(known);
  code.load(3, kept.key);
  noteAddress(code, 3);
  code.add(COUNT, 1);
  a.store(4, MEMORY, 0, COUNT);
  a.jump(over);
  a.bind(full);
  a.storeImmediate(4, MEMORY, 4, cutStack.functions);
  a.bind(over);
}

/** Tagged pointers end in 01. */
function ifNoObject({ assembler: a }: UnwinderCode, register: number, to: Label): void {
  const object = a.label();
  a.alu(Alu.MOV, true, 0, register);
  a.aluImmediate(Alu.AND, true, 0, 3);
  a.jumpIfImmediate(Jump.JEQ, true, 0, 1, object);
  a.jump(to);
  a.bind(object);
}

/** A word of the object at r3, at the offset that the process's entry has, into `kept.words`. */
function read(code: UnwinderCode, at: number, failed: Label): void {
  const { assembler: a } = code;
  a.load(8, false, 1, MAPPINGS, interpreterAt + at);
  a.alu(Alu.ADD, true, 3, 1);
  code.readUser(kept.words, 8, failed);
}

/** The type of the object at r3, into r1. */
function typeOf(code: UnwinderCode, failed: Label): void {
  const { assembler: a } = code;
  code.add(3, object.map);
  code.readUser(kept.words, 8, failed);
  code.load(3, kept.words);
  code.add(3, object.type);
  code.readUser(kept.words, 8, failed);
  a.load(2, false, 1, MEMORY, kept.words);
}

/**
 * Copies the string that the word at `from` points at, as far as there is room; leaves nothing where there is none.
 * `second`: for the word of its second part.
 */
function copyString(code: UnwinderCode, from: number, to: number, room: number, second?: number): void {
  const { assembler: a } = code;
  const [none, whole, parts] = [a.label(), a.label(), a.label()];
  const type = (): void => {
    code.load(3, interpretedAt + from);
    ifNoObject(code, 3, none);
    typeOf(code, none);
    a.jumpIfImmediate(Jump.JGE, true, 1, firstNoString, none);
  };
  type();
  code.load(3, interpretedAt + from);
  code.store(kept.word, 1);
  code.add(3, object.lengthWord);
  code.readUser(kept.words, 8, none);
  code.load(1, kept.words);
  a.aluImmediate(Alu.RSH, true, 1, 32);
  code.store(kept.header, 1);
  code.load(1, kept.word);
  a.aluImmediate(Alu.AND, true, 1, representation.mask);
  a.jumpIfImmediate(Jump.JEQ, true, 1, representation.thin, parts);
  a.jumpIfImmediate(Jump.JNE, true, 1, representation.cons, whole);
  if (second !== undefined) {
    code.load(3, interpretedAt + from);
    code.add(3, object.secondPart);
    code.readUser(interpretedAt + second, 8, none);
  }
  a.bind(parts);
  code.load(3, interpretedAt + from);
  code.add(3, object.part);
  code.readUser(interpretedAt + from, 8, none);
  type();
  code.store(kept.word, 1);
  a.bind(whole);
  code.copyText(to, from, -1, room);
  code.load(1, kept.word);
  a.store(4, MEMORY, interpretedAt + to, 1);
  code.load(1, kept.header);
  a.store(4, MEMORY, interpretedAt + to + 4, 1);
  a.bind(none);
}

/** Where the function has a description of its scope instead of a name: what of that tells its name and its place. */
function copyScope(code: UnwinderCode): void {
  const { assembler: a } = code;
  const [over, inlined] = [a.label(), a.label()];
  code.load(3, interpretedAt + functionAt.names);
  ifNoObject(code, 3, over);
  typeOf(code, over);
  a.load(8, false, 2, MAPPINGS, interpreterAt + v8.scopeType);
  a.jumpIf(Jump.JNE, true, 1, 2, over);
  code.load(3, interpretedAt + functionAt.names);
  code.add(3, object.map);
  code.readUser(interpretedAt + v8FunctionAt.scope, v8ScopeWords * 8, over);
  flags(code);
  code.load(2, interpretedAt + v8FunctionAt.scope + 24);
  a.aluImmediate(Alu.RSH, true, 2, 32);
  a.jumpIfImmediate(Jump.JGE, true, 2, scope.mostLocals, over);
  // Each variable has a name and a word, but many have their names in one table.
  code.move(3, 2);
  a.jumpIfImmediate(Jump.JLT, true, 2, scope.inlinedLocals, inlined);
  code.set(3, 1);
  a.bind(inlined);
  a.alu(Alu.ADD, true, 3, 2);
  code.move(2, 1);
  a.aluImmediate(Alu.RSH, true, 2, scope.savedBit);
  a.aluImmediate(Alu.AND, true, 2, 1);
  a.alu(Alu.ADD, true, 3, 2);
  a.load(8, false, 2, MAPPINGS, interpreterAt + v8.scopeNames);
  a.alu(Alu.ADD, true, 3, 2);
  a.aluImmediate(Alu.LSH, true, 3, 3);
  code.load(1, interpretedAt + functionAt.names);
  a.alu(Alu.ADD, true, 3, 1);
  code.add(3, 7);
  code.readUser(interpretedAt + v8FunctionAt.scopeName, v8ScopeWords * 8, over);
  // The inferred name, where there is one: behind the name, which is two words, or instead.
  flags(code);
  a.aluImmediate(Alu.AND, true, 1, scope.nameBits);
  const own = a.label();
  code.load(2, interpretedAt + v8FunctionAt.scopeName);
  code.store(interpretedAt + functionAt.names, 2);
  a.jumpIfImmediate(Jump.JEQ, true, 1, 0, own);
  code.load(2, interpretedAt + v8FunctionAt.scopeName + 16);
  a.bind(own);
  code.store(interpretedAt + functionAt.names + 16, 2);
  copyString(code, functionAt.names + 16, v8FunctionAt.inferred, v8InferredRoom, functionAt.names + 24);
  copyString(code, functionAt.names + 24, v8FunctionAt.inferredRest, v8InferredRoom);
  a.bind(over);
}

/** Of the scope, into r1: a small number, in the upper half of its word, or since V8 13 half a word. */
function flags(code: UnwinderCode): void {
  code.load(1, interpretedAt + v8FunctionAt.scope + scope.flags);
  code.move(2, 1);
  code.assembler.aluImmediate(Alu.RSH, true, 2, 32);
  code.assembler.alu(Alu.OR, true, 1, 2);
}
