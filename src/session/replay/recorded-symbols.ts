// Names of a recording's addresses, as they were found when it was made.
import { unreadableNames, writtenNames, type WrittenFrame, type WrittenLine } from "../../recordings/written-names.ts";
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

export class RecordedSymbols implements SymbolResolver {
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
  readonly #stacks = new TakenStacks();

  /** @throws RecordingError */
  constructor(texts: Iterable<string>) {
    for (const names of writtenNames(texts)) {
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
  }

  /** The number of a stack, by which stack() finds it. */
  take(addresses: BigUint64Array, limit: number): number {
    return this.#stacks.take(addresses, limit);
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
    const stack = this.#stacks.stack(id);
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
    return this.#calls.get(number) ?? "Unknown syscall";
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
