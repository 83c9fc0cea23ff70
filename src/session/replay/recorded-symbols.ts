// Names of a recording's addresses, as they were found when it was made.
import {
  unreadableNames,
  writtenNames,
  type WrittenFrame,
  type WrittenLine,
  type WrittenNames,
} from "../../recordings/written-names.ts";
import type { FileMapping, Frame, SymbolResolver } from "../events.ts";
import { TakenStacks } from "../taken-stacks.ts";

export function writtenFrame({ address, symbol, offset, module, language, mark, source }: Frame): WrittenFrame {
  const frame = [
    String(address),
    symbol ?? null,
    offset ?? null,
    module ?? null,
    language ?? null,
    mark ?? null,
  ] as const;
  return source === undefined ? frame : [...frame, source.file, source.line];
}

function frameOf([address, symbol, offset, module, language, mark, file, line = 0]: WrittenFrame): Frame {
  return {
    address: BigInt(address),
    ...(symbol === null ? {} : { symbol: textOf(symbol) }),
    ...(offset === null ? {} : { offset: numberOf(offset) }),
    ...(module === null ? {} : { module: textOf(module) }),
    ...(language === undefined || language === null ? {} : { language }),
    ...(mark === undefined || mark === null ? {} : { mark: textOf(mark) }),
    ...(file === undefined || file === null ? {} : { source: { file: textOf(file), line: numberOf(line) } }),
  };
}

/** Names of one machine's. */
class MachineNames implements SymbolResolver {
  readonly #kernel = new Map<string, Frame>();
  readonly #user = new Map<string, Frame>();
  readonly #users = new Map<number, string>();
  readonly #cgroups = new Map<string, string>();
  readonly #calls = new Map<number, string>();
  /** Of each process, in the order that they were met. */
  readonly #mappings = new Map<number, FileMapping[]>();
  /** By place in a file. */
  readonly #lines = new Map<string, readonly WrittenLine[]>();
  /** Stacks that handlers have taken, by their number. */
  readonly stacks = new TakenStacks();

  /** @throws RecordingError */
  add(names: WrittenNames): void {
    try {
      const { kernel, user, users, cgroups, calls, mappings = [], lines = [] } = names;
      for (const [address, frame] of kernel) this.#kernel.set(address, frameOf(frame));
      for (const [kind, pid, address, frame] of user) this.#user.set(`${kind} ${pid} ${address}`, frameOf(frame));
      for (const [uid, name] of users) this.#users.set(uid, textOf(name));
      for (const [id, path] of cgroups) this.#cgroups.set(id, textOf(path));
      for (const [number, name] of calls) this.#calls.set(number, textOf(name));
      for (const [pid, start, end, offset, path, buildId] of mappings)
        this.#mapped(pid).push({
          start: BigInt(start),
          end: BigInt(end),
          offset: BigInt(offset),
          path: textOf(path),
          buildId: buildId === null ? undefined : textOf(buildId),
        });
      for (const [path, buildId, offset, functions] of lines)
        this.#lines.set(placeName(path, buildId, BigInt(offset)), functions.map(lineOf));
    } catch {
      throw unreadableNames();
    }
  }

  /** Whether it has a name for an address in the kernel, or in a process. */
  knows(address: bigint, pid?: number): boolean {
    return pid === undefined ? this.#kernel.has(String(address)) : this.#user.has(`user ${pid} ${address}`);
  }

  kernel(address: bigint): Frame {
    return this.#kernel.get(String(address)) ?? { address };
  }

  user(address: bigint, pid: number): Frame {
    return this.#user.get(`user ${pid} ${address}`) ?? { address };
  }

  signalReturn(address: bigint, pid: number): Frame | undefined {
    return this.#user.get(`signalReturn ${pid} ${address}`);
  }

  interpreted(address: bigint, pid: number): Frame | undefined {
    return this.#user.get(`interpreted ${pid} ${address}`);
  }

  stack(id: bigint): readonly bigint[] | undefined {
    const stack = this.stacks.stack(id);
    return stack && [...stack];
  }

  #mapped(pid: number): FileMapping[] {
    let mappings = this.#mappings.get(pid);
    if (mappings === undefined) this.#mappings.set(pid, (mappings = []));
    return mappings;
  }

  code(address: bigint, pid: number): FileMapping | undefined {
    return this.#mappings.get(pid)?.findLast(({ start, end }) => address >= start && address < end);
  }

  inlined(address: bigint, pid: number): readonly Frame[] {
    const frame = this.user(address, pid);
    const mapping = this.code(address, pid);
    if (mapping === undefined) return [frame];
    const { path, buildId = null, start, offset } = mapping;
    const functions = this.#lines.get(placeName(path, buildId, address - start + offset)) ?? [];
    if (functions.length === 0) return [frame];
    return functions.map(([symbol, file, line]) => {
      const source = file === null ? {} : { source: { file, line } };
      if (symbol === null) return { ...frame, ...source };
      const { module } = frame;
      return { address, symbol, inlined: true, ...source, ...(module === undefined ? {} : { module }) };
    });
  }

  userName(uid: number): string {
    return this.#users.get(uid) ?? String(uid);
  }

  cgroupPath(id: bigint): string {
    return this.#cgroups.get(String(id)) ?? "";
  }

  systemCallName(number: number): string {
    return this.#calls.get(number) ?? unknownCall;
  }
}

const unknownCall = "Unknown syscall";

/**
 * Names of a recording's. Of one that was merged of several machines' they are kept apart: a stack has those of its own
 * machine; a number alone has a name where all machines that know it call it the same.
 */
export class RecordedSymbols implements SymbolResolver {
  readonly #machines: readonly MachineNames[];
  /** Of each part that it was merged of, its machine. */
  readonly #machineOf: readonly number[];

  /** `parts`: the machines of the recordings that it was merged of. @throws RecordingError */
  constructor(texts: Iterable<string>, parts: readonly { readonly name: string }[] = [{ name: "" }]) {
    const names = [...new Set(parts.map(({ name }) => name))];
    this.#machines = names.map(() => new MachineNames());
    this.#machineOf = parts.map(({ name }) => names.indexOf(name));
    for (const written of writtenNames(texts)) {
      const machine = this.#machineOf[written.part ?? 0];
      if (machine === undefined) throw unreadableNames();
      this.#machines[machine].add(written);
    }
  }

  /** The number of a stack of a part's, by which stack() finds it. */
  take(addresses: BigUint64Array, limit: number, part = 0): number {
    const machine = this.#machineOf[part];
    return this.#machines[machine].stacks.take(addresses, limit) * this.#machines.length + machine;
  }

  ofStack(id: bigint): SymbolResolver {
    return this.#machines[Number(BigInt.asUintN(64, id) % BigInt(this.#machines.length))];
  }

  stack(id: bigint): readonly bigint[] | undefined {
    return id < 0n ? undefined : this.ofStack(id).stack(id / BigInt(this.#machines.length), 0);
  }

  /** What the machines that know of something call it, where that is one thing. */
  #only(knows: (machine: MachineNames) => boolean): MachineNames | undefined {
    if (this.#machines.length === 1) return this.#machines[0];
    const those = this.#machines.filter(knows);
    return those.length === 1 ? those[0] : undefined;
  }

  /** A name that all who have one agree about. */
  #agreed(name: (machine: MachineNames) => string, none: string): string {
    const names = new Set(this.#machines.map(name).filter((one) => one !== none));
    return names.size === 1 ? [...names][0] : none;
  }

  kernel(address: bigint): Frame {
    return this.#only((machine) => machine.knows(address))?.kernel(address) ?? { address };
  }

  user(address: bigint, pid: number): Frame {
    return this.#only((machine) => machine.knows(address, pid))?.user(address, pid) ?? { address };
  }

  inlined(address: bigint, pid: number): readonly Frame[] {
    return this.#only((machine) => machine.knows(address, pid))?.inlined(address, pid) ?? [{ address }];
  }

  code(address: bigint, pid: number): FileMapping | undefined {
    return this.#only((machine) => machine.code(address, pid) !== undefined)?.code(address, pid);
  }

  userName(uid: number): string {
    return this.#agreed((machine) => machine.userName(uid), String(uid));
  }

  cgroupPath(id: bigint): string {
    return this.#agreed((machine) => machine.cgroupPath(id), "");
  }

  systemCallName(number: number): string {
    return this.#agreed((machine) => machine.systemCallName(number), unknownCall);
  }
}

/** The file may be anybody's. @throws RecordingError for what is no text */
function textOf(value: unknown): string {
  if (typeof value !== "string") throw unreadableNames();
  return value;
}

function numberOf(value: unknown): number {
  if (typeof value !== "number") throw unreadableNames();
  return value;
}

function lineOf([inlined, file, line]: WrittenLine): WrittenLine {
  return [inlined === null ? null : textOf(inlined), file === null ? null : textOf(file), numberOf(line)];
}

function placeName(path: string, buildId: string | null, offset: bigint): string {
  return `${path} ${buildId} ${offset}`;
}
