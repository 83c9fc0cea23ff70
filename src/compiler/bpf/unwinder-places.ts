// The rule for a call: the file that it is in, its place there, and what the file's search tree has for that place.
import type { Assembler, Label } from "../../bpf/assembler.ts";
import { Alu, FRAME, Jump } from "../../bpf/instruction.ts";
import type { MappedFiles } from "../kernel-structures/mapped-files.ts";
import {
  fileRows,
  mappingBytes,
  mappingEnd,
  mappingsKept,
  mappingShift,
  mappingTree,
  nodeKeys,
  nodeRowBytes,
} from "../layouts/unwind-layout.ts";
import { cutStack } from "../layouts/unwound-stack.ts";
import type { RelocationNote } from "./machine.ts";
import { area, last, MAPPINGS, MEMORY, slot, type UnwinderCode } from "./unwinder-code.ts";

/**
 * The rule of the call, into r1: of what the process has mapped, else of the file that the kernel names. `mappedFile`:
 * where `writeMappedFile` is.
 */
export function findRule(code: UnwinderCode, mappedFile: Label | undefined): void {
  const a = code.assembler;
  const [byFile, ruled, rooted] = [mappedFile === undefined ? code.pointer : a.label(), a.label(), a.label()];
  if (code.mayGoto) {
    // Most callers are in the same code.
    const elsewhere = a.label();
    code.load(3, slot.call);
    code.load(1, last.start);
    a.alu(Alu.SUB, true, 3, 1);
    code.load(1, last.size);
    a.jumpIf(Jump.JGE, true, 3, 1, elsewhere);
    code.load(0, slot.root);
    a.jumpIfImmediate(Jump.JEQ, true, 0, 0, elsewhere);
    code.load(1, last.shift);
    a.alu(Alu.ADD, true, 3, 1);
    code.store(slot.place, 3);
    a.jump(rooted);
    a.bind(elsewhere);
  }
  a.jumpIfImmediate(Jump.JEQ, true, MAPPINGS, 0, byFile);
  code.load(3, slot.call);
  code.move(2, MAPPINGS);
  findPlace(code, mappingsKept, byFile);
  if (mappedFile !== undefined) {
    a.jump(ruled);
    a.bind(byFile);
    findFile(code, mappedFile);
    findPlace(code, fileRows, code.pointer);
    a.bind(ruled);
  }
  loadNode(code);
  if (code.mayGoto) code.store(slot.root, 0);
  a.bind(rooted);
  for (let level = 0; level < 2; level++) {
    if (level > 0) loadNode(code);
    code.move(2, 0);
    code.load(3, slot.place);
    code.search(nodeKeys, nodeRowBytes, 4);
    a.load(4, false, 1, 2, 4);
  }
}

/** In rows at r2, that of r3: what to look for in which tree, which r1 gets. */
function findPlace(code: UnwinderCode, rows: number, outside: Label): void {
  const a = code.assembler;
  code.search(rows, mappingBytes, 8);
  a.load(8, false, 4, 2, 0);
  a.jumpIf(Jump.JLT, true, 3, 4, outside);
  a.load(8, false, 5, 2, mappingEnd);
  a.jumpIf(Jump.JGE, true, 3, 5, outside);
  a.alu(Alu.SUB, true, 3, 4);
  if (code.mayGoto) {
    a.alu(Alu.SUB, true, 5, 4);
    code.store(last.size, 5);
    code.load(1, slot.call);
    a.alu(Alu.SUB, true, 1, 3);
    code.store(last.start, 1);
  }
  a.load(4, false, 4, 2, mappingShift);
  if (code.mayGoto) code.store(last.shift, 4);
  a.alu(Alu.ADD, true, 3, 4);
  code.store(slot.place, 3);
  a.load(4, false, 1, 2, mappingTree);
}

/** The node of number r1, into r0. */
function loadNode(code: UnwinderCode): void {
  const a = code.assembler;
  a.store(4, FRAME, slot.key, 1);
  code.lookup(code.maps.nodes);
  a.jumpIfImmediate(Jump.JEQ, true, 0, 0, code.pointer);
}

/** The rows of the file that the call is in, into r2, and its place in the file, into r3. */
function findFile(code: UnwinderCode, mappedFile: Label): void {
  const a = code.assembler;
  const [find, found, nothing, strange] = [a.label(), a.label(), a.label(), a.label()];
  code.load(2, slot.call);
  code.load(1, area.start);
  a.jumpIf(Jump.JLT, true, 2, 1, find);
  code.load(1, area.end);
  a.jumpIf(Jump.JLT, true, 2, 1, found);
  a.bind(find);
  for (const at of [area.start, area.end, area.inode]) a.storeImmediate(8, MEMORY, at, 0);
  code.call("get_current_task_btf");
  code.move(1, 0);
  code.load(2, slot.call);
  a.functionAddress(3, mappedFile);
  // It is told where to write: what it writes to the stack, the verifier would follow.
  code.store(slot.words, MEMORY);
  code.addressOf(4, slot.words);
  code.set(5, 0);
  code.call("find_vma");
  a.bind(found);
  code.load(1, area.inode);
  a.jumpIfImmediate(Jump.JEQ, true, 1, 0, nothing);
  code.lookup(code.maps.files, area.inode);
  a.jumpIfImmediate(Jump.JEQ, true, 0, 0, strange);
  code.move(2, 0);
  code.load(3, slot.call);
  code.load(1, area.toFile);
  a.alu(Alu.ADD, true, 3, 1);
  const rows = a.label();
  a.jump(rows);
  // No file's, as what a just-in-time compiler writes; or nothing was found out, since someone changes the mappings, or
  // (with interrupts off) more than one question at a time was asked.
  a.bind(nothing);
  code.load(1, area.end);
  a.jumpIfImmediate(Jump.JNE, true, 1, 0, code.pointer);
  a.jumpIfImmediate(Jump.JNE, true, MAPPINGS, 0, code.pointer);
  a.bind(strange);
  a.storeImmediate(4, MEMORY, 4, cutStack.unknownProcess);
  a.jump(code.pointer);
  a.bind(rows);
}

/** A callback of bpf_find_vma: r2 is the memory area, r3 leads to the memory that gets its `area`. */
export function writeMappedFile(a: Assembler<RelocationNote>, files: MappedFiles): void {
  const anonymous = a.label();
  a.load(8, false, 4, 3, 0);
  a.load(8, false, 1, 2, files.area.start);
  a.store(8, 4, area.start, 1);
  a.load(8, false, 5, 2, files.area.end);
  a.store(8, 4, area.end, 5);
  a.load(8, false, 5, 2, files.area.page);
  a.aluImmediate(Alu.LSH, true, 5, pageShift);
  a.alu(Alu.SUB, true, 5, 1);
  a.store(8, 4, area.toFile, 5);
  a.load(8, false, 2, 2, files.area.file);
  a.jumpIfImmediate(Jump.JEQ, true, 2, 0, anonymous);
  a.load(8, false, 2, 2, files.inode);
  a.load(8, false, 1, 2, files.number);
  a.store(8, 4, area.inode, 1);
  a.load(8, false, 2, 2, files.superBlock);
  a.load(4, false, 1, 2, files.device);
  a.store(8, 4, area.device, 1);
  a.bind(anonymous);
  a.aluImmediate(Alu.MOV, true, 0, 0);
  a.exit();
}
/** vm_pgoff counts pages. */
const pageShift = 12;
