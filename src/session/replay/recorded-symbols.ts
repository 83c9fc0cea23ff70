// Names of a recording's addresses, as they were found when it was made.
import { InternalError } from "../../base/internal-error.ts";
import { RecordingError } from "../../recordings/damaged-recording.ts";
import type { WrittenFrame, WrittenNames } from "../../recordings/written-names.ts";
import type { BuildIdFrame, Frame, SymbolResolver } from "../events.ts";
import { TakenStacks } from "../taken-stacks.ts";

export function writtenFrame({ address, symbol, offset, module, language, mark }: Frame): WrittenFrame {
  return [String(address), symbol ?? null, offset ?? null, module ?? null, language ?? null, mark ?? null];
}

function frameOf([address, symbol, offset, module, language, mark]: WrittenFrame): Frame {
  return {
    address: BigInt(address),
    ...(symbol === null ? {} : { symbol }),
    ...(offset === null ? {} : { offset }),
    ...(module === null ? {} : { module }),
    ...(language === undefined || language === null ? {} : { language }),
    ...(mark === undefined || mark === null ? {} : { mark }),
  };
}

export class RecordedSymbols implements SymbolResolver {
  readonly #kernel = new Map<string, Frame>();
  readonly #user = new Map<string, Frame>();
  readonly #users = new Map<number, string>();
  readonly #cgroups = new Map<string, string>();
  readonly #calls = new Map<number, string>();
  /** Stacks that handlers have taken, by their number. */
  readonly #stacks = new TakenStacks();

  /** @throws RecordingError */
  constructor(texts: Iterable<string>) {
    for (const text of texts) {
      try {
        const { kernel, user, users, cgroups, calls } = JSON.parse(text) as WrittenNames;
        for (const [address, frame] of kernel) this.#kernel.set(address, frameOf(frame));
        for (const [kind, pid, address, frame] of user) this.#user.set(`${kind} ${pid} ${address}`, frameOf(frame));
        for (const [uid, name] of users) this.#users.set(uid, name);
        for (const [id, path] of cgroups) this.#cgroups.set(id, path);
        for (const [number, name] of calls) this.#calls.set(number, name);
      } catch {
        throw new RecordingError("the names of its addresses cannot be read");
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

  buildIdStack(): readonly BuildIdFrame[] | undefined {
    throw new InternalError("a recording has no stacks of build ids");
  }

  place(): BuildIdFrame | undefined {
    return undefined;
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
