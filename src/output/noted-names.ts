// Names that a recording needs of what its events have: each is asked for once, when its block is written, and kept as
// text for the file.
import type { UserKind, WrittenNames } from "../recordings/written-names.ts";
import type { FileMapping, Frame, SymbolResolver } from "../session/events.ts";
import { writtenFrame } from "../session/replay/recorded-symbols.ts";

type Writable<T> = {
  -readonly [key in keyof T]-?: NonNullable<T[key]> extends readonly (infer Each)[] ? Each[] : never;
};

type Noted = Writable<Omit<WrittenNames, "part">>;

/** Above every number of a system call. */
const mostCalls = 1024;
/** Numbers remembered as looked at. */
const mostSeen = 1 << 20;
/**
 * The upper half of addresses of the kernel's code, and the least lower half with it: of x86-64 all code is in the last
 * 2 GB (Documentation/arch/x86/x86_64/mm.rst), elsewhere anywhere in the kernel's part.
 */
const codeHigh = process.arch === "x64" ? 0xffff_ffff : 0xffff_0000;
const codeLow = process.arch === "x64" ? 0x8000_0000 : 0;
/** No program has code below (vm.mmap_min_addr). */
const leastUser = 0x1_0000;
/** Upper halves of addresses of programs are below. */
const userHigh = 0x1_0000;

export class NotedNames implements SymbolResolver {
  readonly #of: SymbolResolver;
  readonly #known = new Set<string>();
  #noted: Noted = nothingNoted();
  /** Numbers that were looked up in the kernel's symbols. */
  readonly #looked = new Set<number>();
  /** Where code is of processes whose stacks have names: first addresses, and those behind the last. */
  readonly #ranges = new Map<number, Float64Array>();
  /** One address of each place in a file that has a name. */
  readonly #places = new Map<string, { readonly address: bigint; readonly pid: number }>();

  constructor(of: SymbolResolver) {
    this.#of = of;
    // What numbers of system calls mean is the machine's.
    for (let number = 0; number < mostCalls; number++) {
      const name = of.systemCallName(number);
      if (name !== "Unknown syscall") this.#noted.calls.push([number, name]);
    }
  }

  /** What was noted since the last call, as text; undefined where nothing was. */
  take(): string | undefined {
    const noted = this.#noted;
    this.#noted = nothingNoted();
    return Object.values(noted).every((list) => list.length === 0) ? undefined : JSON.stringify(noted);
  }

  /**
   * Adds places in the source of the code noted since the last call, until a time (as performance.now() has it); gives
   * how many were left out.
   */
  addLines(until: number): number {
    let without = 0;
    for (const { address, pid } of this.#places.values()) {
      if (performance.now() >= until) {
        without++;
        continue;
      }
      const frames = this.#of.inlined?.(address, pid) ?? [];
      const mapping = this.#of.code(address, pid);
      if (mapping === undefined || frames.every(({ source, inlined }) => source === undefined && !inlined)) continue;
      this.#noted.lines.push([
        mapping.path,
        mapping.buildId ?? null,
        String(address - mapping.start + mapping.offset),
        frames.map(({ symbol, source, inlined }) => [
          inlined === true ? (symbol ?? "") : null,
          source?.file ?? null,
          source?.line ?? 0,
        ]),
      ]);
    }
    this.#places.clear();
    return without;
  }

  /** Whether a number of a program's may be a place in its code: known of processes whose stacks are recorded. */
  get knowsCode(): boolean {
    return this.#ranges.size > 0;
  }

  /** Numbers of 64 bits, in halves, that may be addresses of code; `pids`: of each its process, where programs' code is asked for. */
  noteNumbers(lows: Uint32Array, highs: Uint32Array, pids?: Uint32Array): void {
    for (let i = 0; i < highs.length; i++) {
      const high = highs[i];
      if (high >= codeHigh) {
        if (lows[i] >= codeLow) this.#kernelNumber(high, lows[i]);
      } else if (pids !== undefined && high < userHigh) {
        if (high === 0 && lows[i] < leastUser) continue;
        if (this.#isCode(high * 2 ** 32 + lows[i], pids[i])) this.user(wide(high, lows[i]), pids[i]);
      }
    }
  }

  #kernelNumber(high: number, low: number): void {
    const key = (high - 0xffff_0000) * 2 ** 32 + low;
    if (this.#looked.has(key)) return;
    if (this.#looked.size >= mostSeen) this.#looked.clear();
    this.#looked.add(key);
    const address = wide(high, low);
    if (this.#of.kernel(address).symbol !== undefined) this.kernel(address);
  }

  /** Addresses of programs are numbers below 2^48. */
  #isCode(value: number, pid: number): boolean {
    const ranges = this.#ranges.get(pid) ?? [];
    for (let i = 0; i < ranges.length; i += 2) if (value >= ranges[i] && value < ranges[i + 1]) return true;
    return false;
  }

  noteUser(uid: number): void {
    if (this.#isNew(`uid ${uid}`)) this.#noted.users.push([uid, this.#of.userName(uid)]);
  }

  noteCgroup(id: bigint): void {
    if (this.#isNew(`cgroup ${id}`)) this.#noted.cgroups.push([String(id), this.#of.cgroupPath(id)]);
  }

  #isNew(name: string): boolean {
    if (this.#known.has(name)) return false;
    this.#known.add(name);
    return true;
  }

  kernel(address: bigint): Frame {
    const frame = this.#of.kernel(address);
    if (this.#isNew(`kernel ${address}`)) this.#noted.kernel.push([String(address), writtenFrame(frame)]);
    return frame;
  }

  user(address: bigint, pid: number): Frame {
    const frame = this.#of.user(address, pid);
    if (!this.#isNew(`user ${pid} ${address}`)) return frame;
    this.#noted.user.push(["user", pid, String(address), writtenFrame(frame)]);
    const mapping = this.#of.code(address, pid);
    if (mapping === undefined) return frame;
    this.#mapping(mapping, pid);
    const place = `${mapping.path} ${mapping.buildId} ${address - mapping.start + mapping.offset}`;
    if (this.#isNew(`place ${place}`)) this.#places.set(place, { address, pid });
    return frame;
  }

  #mapping({ start, end, offset, path, buildId }: FileMapping, pid: number): void {
    if (!this.#isNew(`mapping ${pid} ${start} ${path}`)) return;
    const code = this.#of.codeOf?.(pid) ?? [];
    this.#ranges.set(pid, Float64Array.from(code.flatMap((range) => [Number(range.start), Number(range.end)])));
    this.#noted.mappings.push([pid, String(start), String(end), String(offset), path, buildId ?? null]);
  }

  signalReturn(address: bigint, pid: number): Frame | undefined {
    return this.#ofProcess("signalReturn", address, pid, this.#of.signalReturn?.(address, pid));
  }

  interpreted(address: bigint, pid: number): Frame | undefined {
    return this.#ofProcess("interpreted", address, pid, this.#of.interpreted?.(address, pid));
  }

  #ofProcess(kind: UserKind, address: bigint, pid: number, frame: Frame | undefined): Frame | undefined {
    if (frame !== undefined && this.#isNew(`${kind} ${pid} ${address}`))
      this.#noted.user.push([kind, pid, String(address), writtenFrame(frame)]);
    return frame;
  }

  code(address: bigint, pid: number): FileMapping | undefined {
    return this.#of.code(address, pid);
  }

  stack(id: bigint, map: number): readonly bigint[] | undefined {
    return this.#of.stack(id, map);
  }

  userName(uid: number): string {
    return this.#of.userName(uid);
  }

  cgroupPath(id: bigint): string {
    return this.#of.cgroupPath(id);
  }

  systemCallName(number: number): string {
    return this.#of.systemCallName(number);
  }
}

function wide(high: number, low: number): bigint {
  return (BigInt(high) << 32n) + BigInt(low);
}

function nothingNoted(): Noted {
  return { kernel: [], user: [], users: [], cgroups: [], calls: [], mappings: [], lines: [] };
}
