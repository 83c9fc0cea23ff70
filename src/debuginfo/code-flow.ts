// Where control goes in a function: its instructions, and the edges between them. Edges that code does not show (a
// `switch`'s table, handlers of exceptions, code that the kernel patches) are told by whoever knows the file.
import { firstIndex } from "../base/first-index.ts";
import type { CodeRange } from "./function-ends.ts";
import { decode, isFiller, type Flow, type Instruction } from "./instructions.ts";
import { tableOf, type JumpTable } from "./jump-tables.ts";
import type { LandingPad } from "./landing-pads.ts";

/** What only the file around the code tells. Addresses are the file's own. */
export interface CodeSurroundings {
  /** The targets that a `switch` chooses from, as far as they are known: bytes of the file at an address. */
  readonly read?: (address: bigint, length: number) => Uint8Array | undefined;
  /** Whether the function at an address never returns to its caller. */
  neverReturns?(target: bigint): boolean;
  /** Whether a jump there is a return: kernels return through a thunk. */
  isReturn?(target: bigint): boolean;
  /** Where exceptions come to. */
  readonly landingPads?: readonly LandingPad[];
  /** Where instructions also lead to, that are patched or that fault. */
  readonly detours?: ReadonlyMap<bigint, readonly bigint[]>;
}

/** How control leaves the function at an instruction. */
export type Leaving = "return" | "jump";

/** Instructions are numbered in order of address. */
export interface CodeFlow {
  readonly addresses: readonly bigint[];
  readonly bytes: (index: number) => Uint8Array;
  readonly flows: readonly Flow[];
  readonly successors: readonly (readonly number[])[];
  readonly predecessors: readonly (readonly number[])[];
  /** Of instructions behind which the function is left, by a return or a jump to another one. */
  readonly leaving: ReadonlyMap<number, Leaving>;
  /** Where control comes from outside: the function's entry, and what no instruction leads to. */
  readonly roots: readonly number[];
  /** Instructions that may be come to from where nobody knows. */
  readonly unsure: ReadonlySet<number>;
  /** Instructions that exceptions come to: to leave for one is not to return. */
  readonly pads: ReadonlySet<number>;
  /** The number of the instruction at an address. */
  at(address: bigint): number | undefined;
}

/** @param entry where the function is called at. The ranges are its body and its parts elsewhere. */
export function flowOf(ranges: readonly CodeRange[], entry: bigint, around: CodeSurroundings = {}): CodeFlow {
  const sorted = ranges.toSorted((a, b) => (a.address < b.address ? -1 : 1));
  const addresses: bigint[] = [];
  const flows: Flow[] = [];
  const pieces: Uint8Array[] = [];
  const decoded: {
    readonly instruction: Instruction;
    readonly range: CodeRange;
    readonly number: number;
    readonly last: boolean;
  }[] = [];
  const numbers = new Map<bigint, number>();
  const fillers = new Set<number>();
  for (const range of sorted) {
    const { instructions } = decode(range.bytes);
    for (const [i, instruction] of instructions.entries()) {
      const number = addresses.length;
      const address = range.address + BigInt(instruction.offset);
      if (numbers.has(address)) continue;
      if (isFiller(range.bytes, instructions, i)) fillers.add(number);
      numbers.set(address, number);
      addresses.push(address);
      flows.push(instruction.flow);
      pieces.push(range.bytes.subarray(instruction.offset, instruction.offset + instruction.length));
      decoded.push({ instruction, range, number, last: i === instructions.length - 1 });
    }
  }

  const successors = addresses.map((): number[] => []);
  const predecessors = addresses.map((): number[] => []);
  const link = (from: number, to: number): void => {
    if (successors[from].includes(to)) return;
    successors[from].push(to);
    predecessors[to].push(from);
  };
  const leaving = new Map<number, Leaving>();
  const unknown: number[] = [];
  const pads = new Set((around.landingPads ?? []).flatMap(({ pad }) => numbers.get(pad) ?? []));
  for (const { instruction, range, number, last } of decoded) {
    const target = instruction.target === undefined ? undefined : range.address + BigInt(instruction.target);
    const inside = target === undefined ? undefined : numbers.get(target);
    // Parts of a function may lie one behind the other.
    const behind = last ? numbers.get(range.address + BigInt(range.bytes.length)) : number + 1;
    const goOn = (): void => {
      if (behind !== undefined) link(number, behind);
    };
    switch (instruction.flow) {
      case "next":
      case "indirect-call":
        goOn();
        break;
      case "call":
        // In front of where exceptions come to there is nothing to return to.
        if (behind !== undefined && pads.has(behind)) break;
        if (target === undefined || inside !== undefined || around.neverReturns?.(target) !== true) goOn();
        break;
      case "branch":
        if (inside !== undefined) link(number, inside);
        else leaving.set(number, "jump");
        goOn();
        break;
      case "jump":
        if (inside !== undefined) link(number, inside);
        else leaving.set(number, target !== undefined && around.isReturn?.(target) === true ? "return" : "jump");
        break;
      case "return":
        leaving.set(number, "return");
        break;
      case "indirect-jump": {
        if (instruction.table !== true) {
          leaving.set(number, "jump");
          break;
        }
        const targets = tableTargets(tableOf(range, instruction.offset), around, numbers);
        if (targets.length === 0) unknown.push(number);
        for (const to of targets) link(number, to);
        break;
      }
      case "trap":
        break;
    }
  }
  for (const { from, to, pad } of around.landingPads ?? []) {
    const goal = numbers.get(pad);
    if (goal === undefined) continue;
    for (let i = firstFrom(addresses, from); i < addresses.length && addresses[i] < to; i++) {
      if (flows[i] === "call" || flows[i] === "indirect-call") link(i, goal);
    }
  }
  if (around.detours !== undefined) {
    for (const [source, address] of addresses.entries()) {
      for (const to of around.detours.get(address) ?? []) {
        const goal = numbers.get(to);
        if (goal !== undefined) link(source, goal);
      }
    }
  }

  const start = numbers.get(entry);
  const roots = new Set(start === undefined ? [] : [start]);
  const orphans = addresses.flatMap((_, i) =>
    predecessors[i].length === 0 && !roots.has(i) && !fillers.has(i) && !isNop(pieces[i]) ? [i] : [],
  );
  // The cases of a `switch` whose table was not found are among what nothing else leads to.
  if (unknown.length > 0) for (const from of unknown) for (const to of orphans) link(from, to);
  else for (const orphan of orphans) roots.add(orphan);
  const unsure = new Set([...roots, ...(unknown.length > 0 ? orphans : [])]);
  return {
    addresses,
    flows,
    successors,
    predecessors,
    leaving,
    roots: [...roots],
    unsure,
    pads,
    bytes: (index) => pieces[index],
    at: (address) => numbers.get(address),
  };
}

/** The first instruction that is not in front of an address. */
export function firstFrom(addresses: readonly bigint[], wanted: bigint): number {
  return firstIndex(addresses.length, (i) => addresses[i] >= wanted);
}

/** A table's entries as far as they lead to instructions of the function. */
function tableTargets(
  table: JumpTable | undefined,
  { read }: CodeSurroundings,
  numbers: ReadonlyMap<bigint, number>,
): number[] {
  if (table === undefined || read === undefined) return [];
  const targets: number[] = [];
  for (let i = 0; i < table.most; i++) {
    const bytes = read(table.address + BigInt(i * table.width), table.width);
    if (bytes === undefined || bytes.length < table.width) break;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const target =
      table.width === 4
        ? BigInt.asUintN(64, table.address + BigInt(view.getInt32(0, true)))
        : view.getBigUint64(0, true);
    const number = numbers.get(target);
    if (number === undefined) break;
    targets.push(number);
  }
  // An incomplete one is none.
  return table.exact && targets.length < table.most ? [] : targets;
}

function isNop(code: Uint8Array): boolean {
  let at = 0;
  while (at < code.length - 1 && (code[at] === 0x66 || code[at] === 0x2e)) at++;
  return code[at] === 0x90 || (code[at] === 0x0f && code[at + 1] === 0x1f);
}
