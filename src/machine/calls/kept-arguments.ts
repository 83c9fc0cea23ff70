// What a function was called with, kept from its entry on: for where it returns its arguments, as long as the call
// takes; for its instructions what variables are by what registers had been. Pointers are kept, and what is behind them
// is read when somebody looks.
import {
  boundBy,
  type Argument,
  type Context,
  type Fetch,
  type KeptCalls,
  type Piece,
} from "../../language/context.ts";
import { sizeOf } from "../../language/layout.ts";
import { fetchRegister, hostMachine, registersOf } from "../contexts/registers.ts";
import { usesNumbered } from "../../language/check/uses.ts";
import { variableReasons } from "../../messages/on-demand.ts";

/** Bytes of one argument that are kept: a larger struct on the stack is not. */
const mostBytes = 512;

/** Whether a handler at returns asks for arguments. */
export function wantsArguments(uses: ReadonlySet<string>): boolean {
  return uses.has("args") || usesNumbered(uses);
}

export interface CallEnds {
  /** What is seen at the entry: `args` and `numbered` are the ones to keep. */
  readonly entry: Context;
  readonly returned: Context;
  /** At its return instruction the return address is still on the stack. */
  readonly inPlace: boolean;
  /** Go's: stacks move, and threads change. */
  readonly goroutine?: { readonly id: Fetch; readonly stack: { readonly low: Fetch; readonly high: Fetch } };
  /** The same handler is at several functions, which the kernel tells apart by where they begin. */
  readonly several?: boolean;
}

/** The contexts of both ends, with what the handler at the return uses of the arguments. */
export function keepArguments(
  { entry, returned, inPlace, goroutine, several = false }: CallEnds,
  uses: ReadonlySet<string>,
): { readonly entry: Context; readonly returned: Context } {
  const words = new Words(goroutine?.stack);
  const args = entry.args?.map((argument): Argument =>
    uses.has("args.*") || uses.has(`args.${argument.name}`)
      ? words.argument(argument)
      : { ...argument, absent: argument.absent ?? variableReasons().notKept() },
  );
  const numbered = usesNumbered(uses) ? entry.numbered?.map((fetch) => words.value(fetch)) : undefined;
  if (words.all.length === 0) words.all.push({ kind: "constant", value: 0n });
  const at = (popped: boolean): Fetch[] => [
    ...(goroutine === undefined
      ? [stackPointer(popped)]
      : [goroutine.id, difference(goroutine.stack.high, stackPointer(false))]),
    ...(several ? [{ kind: "function" } as const] : []),
  ];
  const calls: KeptCalls = {
    words: words.all,
    atEntry: at(false),
    atUse: at(!inPlace),
    ofProcess: goroutine !== undefined,
  };
  const { args: _, numbered: __, retval: ___, ...plain } = entry;
  return {
    entry: { ...plain, kept: { at: "entry", calls } },
    returned: {
      // While the session lets go of its probes, entries are gone before returns.
      ...boundBy(returned, { leavesLate: true }),
      kept: { at: "return", calls },
      ...(args === undefined || !uses.has("args") ? {} : { args }),
      ...(numbered === undefined ? {} : { numbered }),
    },
  };
}

/** What is kept of a call for a place inside it. */
export interface CallSoFar {
  /** Where the function is entered. */
  readonly entry: bigint;
  /** The call's canonical frame address, at the place. */
  readonly frame: Fetch;
  /** Fetched at the entry. */
  readonly words: readonly Fetch[];
}

/**
 * The contexts of a function's entry and of a place inside it. An address of a stack is one call's in all of a process, in whichever
 * thread it goes on.
 * @param without what is seen there of calls that nothing was kept of; left out: those are
 */
export function keepForInside(
  entry: Context,
  inside: Context,
  without: Context | undefined,
  { frame, words }: CallSoFar,
): { readonly entry: Context; readonly inside: readonly Context[] } {
  // A call on x86-64 puts the return address below the frame's end.
  const began: Fetch =
    registers.machine === "x86-64"
      ? { kind: "binary", operator: "+", left: frame, right: { kind: "constant", value: -8n } }
      : frame;
  const calls: KeptCalls = { words, atEntry: [stackPointer(false)], atUse: [began], ofProcess: true };
  // While the session lets go of its probes, entries are gone before what is inside.
  return {
    entry: { ...entry, kept: { at: "entry", calls } },
    inside: [
      {
        ...boundBy(inside, { leavesLate: true }),
        kept: { at: "inside", calls, ...(without === undefined ? {} : { shared: true }) },
      },
      ...(without === undefined
        ? []
        : [{ ...boundBy(without, { leavesLate: true }), kept: { at: "without", calls } } as const]),
    ],
  };
}

const registers = registersOf(hostMachine);

const difference = (left: Fetch, right: Fetch): Fetch => ({ kind: "binary", operator: "-", left, right });

/**
 * Where the stack pointer was at the entry. On x86-64 a call that has returned has taken its return address off the
 * stack.
 */
function stackPointer(popped: boolean): Fetch {
  const base = fetchRegister(registers, registers.stackPointer);
  return popped && registers.machine === "x86-64" ? { kind: "address", base, offset: -8 } : base;
}

/**
 * Whether an address is one of the function's own frame, or of the arguments on the stack: what is there belongs to the
 * call.
 */
function isOnStack(address: Fetch): boolean {
  switch (address.kind) {
    case "context":
      return address.offset === registers.offsets.get(registers.stackPointer);
    case "address":
      return address.base !== "context" && isOnStack(address.base);
    case "binary":
      return isOnStack(address.left) || isOnStack(address.right);
    default:
      return false;
  }
}

/** The words that are kept, and the same fetches over them. */
class Words {
  readonly all: Fetch[] = [];
  readonly #known = new Map<string, number>();
  readonly #stack: { readonly low: Fetch; readonly high: Fetch } | undefined;

  /** `stack`: it may be somewhere else at the return, and what pointed into it points to the same there. */
  constructor(stack: { readonly low: Fetch; readonly high: Fetch } | undefined) {
    this.#stack = stack;
  }

  argument(argument: Argument): Argument {
    const { name, type, fetch, place, pieces, length, absent } = argument;
    if (absent !== undefined) return argument;
    if (pieces !== undefined) return { ...argument, pieces: pieces.flatMap((piece) => this.#piece(piece)) };
    if (place === undefined)
      return { ...argument, fetch: type.kind === "pointer" ? this.value(fetch) : this.#plain(fetch) };
    if (length !== undefined) return { ...argument, fetch: this.value(fetch), length: this.value(length) };
    if (!isOnStack(fetch)) return { ...argument, fetch: this.value(fetch) };
    const size = sizeOf(type);
    if (size > mostBytes) return { ...argument, absent: variableReasons().notKeptOnStack(size) };
    return {
      name,
      type,
      fetch: { kind: "constant", value: 0n },
      pieces: this.#memory(0, size, fetch, place === "kernel" ? "kernel" : "user"),
    };
  }

  /** A number, which points nowhere. */
  #plain(fetch: Fetch): Fetch {
    return fetch.kind === "context" ? this.#word(fetch) : this.value(fetch);
  }

  /**
   * Where a pointer of the entry points to now: as far as before from the end of the stack, where that is what it
   * pointed into.
   */
  #moved(pointer: Fetch): Fetch {
    if (this.#stack === undefined) return pointer;
    const [low, high] = [this.#word(this.#stack.low), this.#word(this.#stack.high)];
    const into = difference(pointer, low);
    const sign = (left: Fetch): Fetch => ({
      kind: "binary",
      operator: ">>",
      left,
      right: { kind: "constant", value: 63n },
    });
    const notBelow: Fetch = {
      kind: "binary",
      operator: "^",
      left: sign(into),
      right: { kind: "constant", value: -1n },
    };
    const inside: Fetch = {
      kind: "binary",
      operator: "&",
      left: sign(difference(into, difference(high, low))),
      right: notBelow,
    };
    return {
      kind: "binary",
      operator: "+",
      left: pointer,
      right: { kind: "binary", operator: "&", left: difference(this.#stack.high, high), right: inside },
    };
  }

  /** A value as it is at the entry; but memory behind a pointer is what it is at the return. */
  value(fetch: Fetch): Fetch {
    switch (fetch.kind) {
      case "constant":
      // The task and the function are the same at the return.
      case "task":
      case "function":
        return fetch;
      case "narrow":
        return { ...fetch, of: this.value(fetch.of) };
      case "binary":
        return { ...fetch, left: this.value(fetch.left), right: this.value(fetch.right) };
      case "address":
        return fetch.base === "context" ? this.#word(fetch) : { ...fetch, base: this.value(fetch.base) };
      case "pointed":
        if (isOnStack(fetch.base)) return this.#word(fetch);
        return {
          ...fetch,
          base: this.value(fetch.base),
          ...(fetch.index === undefined ? {} : { index: this.value(fetch.index) }),
        };
      case "context":
        return fetch.size === 8 ? this.#moved(this.#word(fetch)) : this.#word(fetch);
      default:
        return this.#word(fetch);
    }
  }

  #piece(piece: Piece): Piece[] {
    if (piece.kind === "value") return [{ ...piece, fetch: this.value(piece.fetch) }];
    return isOnStack(piece.address)
      ? this.#memory(piece.offset, piece.size, piece.address, piece.space)
      : [{ ...piece, address: this.value(piece.address) }];
  }

  /** Bytes of the stack, as words. */
  #memory(offset: number, bytes: number, base: Fetch, space: "kernel" | "user"): Piece[] {
    const pieces: Piece[] = [];
    for (let done = 0; done < bytes;) {
      const size = ([8, 4, 2, 1] as const).find((width) => width <= bytes - done) ?? 1;
      pieces.push({
        kind: "value",
        offset: offset + done,
        size,
        fetch: this.#word({ kind: "pointed", base, offset: done, size, signed: false, space }),
      });
      done += size;
    }
    return pieces;
  }

  #word(fetch: Fetch): Fetch {
    const key = JSON.stringify(fetch, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
    let word = this.#known.get(key);
    if (word === undefined) {
      word = this.all.push(fetch) - 1;
      this.#known.set(key, word);
    }
    return { kind: "kept", word };
  }
}
