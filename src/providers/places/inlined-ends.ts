// Where the inlined copies of functions begin and end in a binary, as probes see it.
import { flowOf, type CodeFlow, type CodeSurroundings } from "../../debuginfo/code-flow.ts";
import { continuations, edgesOf, onlyJumpTo, type Copy, type CopyEdges } from "../../debuginfo/copy-edges.ts";
import { functionEnds, type CodeRange } from "../../debuginfo/function-ends.ts";
import { kprobeRefusal } from "../../debuginfo/kprobe-refusals.ts";
import { uprobeRefusal } from "../../debuginfo/uprobe-refusals.ts";
import type { Fetch } from "../../language/context.ts";
import { namesIn } from "./function-code.ts";
import { fetchRegister, hostMachine, registersOf } from "../../machine/contexts/registers.ts";
import { groupBy } from "../resolution.ts";
import type { Binary } from "../../machine/system.ts";
import { debugInfoOf, type InlinedCopy } from "../../machine/values/user-variables.ts";
import { Failure } from "../../base/failure.ts";

/** What of its surroundings a binary does not tell by itself. */
export type Surroundings = Pick<CodeSurroundings, "detours" | "isReturn">;

/** Code in one piece that is larger than this is damaged debug information. */
const largestFunction = 1n << 24n;

/** Of one call: more are copies of their own. */
const mostPieces = 16;

/** Never returns, as far as names of other files' functions tell. */
const neverReturning = new RegExp(
  `^(?:${[
    "_?_?abort",
    "_?exit",
    "_Exit",
    "quick_exit",
    "__(?:stack_chk|chk|fortify|assert|assert_perror)_fail",
    "__libc_fatal",
    "pthread_exit",
    "thrd_exit",
    "_Unwind_Resume(?:_or_Rethrow)?",
    "__cxa_(?:throw|rethrow|bad_cast|bad_typeid|throw_bad_array_(?:new_)?length|call_terminate|call_unexpected)",
    "(?:_|sig|__sig|__)?longjmp(?:_chk)?",
    "v?errx?",
    "_ZSt9terminatev",
    "_ZSt\\d+__throw_\\w+",
    "rust_begin_unwind",
    "rust_panic",
    "_ZN4core9panicking\\w+",
    "_ZN\\w*(?:unwrap_failed|expect_failed|handle_alloc_error|capacity_overflow|slice_\\w+_fail)\\w*",
    "panic",
    "do_exit",
    "do_group_exit",
    "make_task_dead",
    "__ubsan_handle_builtin_unreachable",
    "rcu_stall_panic",
    "machine_real_restart",
  ].join("|")})(?:@.*)?$`,
);

export interface CopyEnds {
  readonly copy: InlinedCopy;
  readonly edges: CopyEdges | undefined;
}

/** Tells where copies begin and end. */
export class InlinedEnds {
  readonly #binary: Binary;
  readonly #around: Surroundings;
  readonly #names: ReturnType<typeof namesIn>;
  readonly #never = new Map<bigint, boolean>();
  readonly #flows = new Map<bigint, CodeFlow | undefined>();
  readonly #kernel: boolean;

  constructor(binary: Binary, kernel?: Surroundings) {
    this.#binary = binary;
    this.#kernel = kernel !== undefined;
    this.#around = kernel ?? {};
    this.#names = namesIn(binary);
  }

  /** What is said of each copy; undefined where its code does not agree with what debug information says of it. */
  of(copies: readonly InlinedCopy[]): CopyEnds[] {
    const found: CopyEnds[] = [];
    for (const group of groupBy(copies, ({ instance }) => `${instance.caller?.entry}`).values()) {
      const { caller } = group[0].instance;
      const flow = caller && this.#flow(caller);
      const beginnings = new Set(group.map(({ instance }) => instance.entry));
      if (flow === undefined) {
        for (const copy of group) found.push({ copy, edges: undefined });
        continue;
      }
      const ends = wholes(flow, group).map(([copy, ...more]): CopyEnds => {
        const ranges = [copy, ...more].flatMap(({ instance }) => instance.ranges);
        return { copy, edges: this.#edges(flow, copy, ranges, beginnings) };
      });
      found.push(...ends.filter(({ copy }) => !isMerged(flow, copy, ends)));
    }
    return found;
  }

  #edges(
    flow: CodeFlow,
    { instance: { entry, entryTold } }: InlinedCopy,
    ranges: Copy["ranges"],
    beginnings: ReadonlySet<bigint>,
  ): CopyEdges | undefined {
    return edgesOf(
      flow,
      { ranges, ...(entryTold === true ? { entry } : {}) },
      {
        beginnings,
        sameStatement: (one, other) => this.#positionAt(one) === this.#positionAt(other),
        allowed: (code) => (this.#kernel ? kprobeRefusal(code) : uprobeRefusal(code)) === undefined,
      },
    );
  }

  #flow({ entry, ranges }: NonNullable<InlinedCopy["instance"]["caller"]>): CodeFlow | undefined {
    if (!this.#flows.has(entry)) {
      const pieces = ranges.map(({ low, high }) => this.#code(low, high));
      const whole = pieces.filter((piece) => piece !== undefined);
      this.#flows.set(
        entry,
        whole.length === 0 || whole.length < pieces.length
          ? undefined
          : flowOf(whole, entry, {
              ...this.#around,
              read: (address, length) => this.#bytes(address, length),
              neverReturns: (target) => this.#neverReturns(target),
              landingPads: ranges.flatMap(({ low }) => this.#binary.landingPads?.(low) ?? []),
            }),
      );
    }
    return this.#flows.get(entry);
  }

  #positionAt(address: bigint): string {
    const info = debugInfoOf(this.#binary);
    const position = info instanceof Failure ? undefined : info.framesAt(address)[0]?.position;
    return position === undefined ? `${address}` : `${position.file}:${position.line}`;
  }

  #code(low: bigint, high: bigint): CodeRange | undefined {
    if (high <= low || high - low > largestFunction) return undefined;
    const bytes = this.#bytes(low, Number(high - low));
    return bytes === undefined ? undefined : { address: low, bytes };
  }

  #bytes(address: bigint, length: number): Uint8Array | undefined {
    const offset = this.#binary.fileOffset(address);
    const last = this.#binary.fileOffset(address + BigInt(length - 1));
    return offset === undefined || last !== offset + BigInt(length - 1) ? undefined : this.#binary.read(offset, length);
  }

  #neverReturns(target: bigint): boolean {
    let never = this.#never.get(target);
    if (never === undefined) this.#never.set(target, (never = this.#endless(target)));
    return never;
  }

  /** By its name; else a function of this file that has neither a return nor a jump to another one. */
  #endless(target: bigint): boolean {
    const name = this.#names(target);
    if (name?.offset !== 0) return false;
    if (neverReturning.test(name.name.replace(/@plt$/, ""))) return true;
    const symbol = name.name.endsWith("@plt") ? undefined : this.#binary.symbol(name.name);
    if (symbol === undefined || symbol.address !== target || symbol.size === 0n) return false;
    const code = this.#code(symbol.address, symbol.address + symbol.size);
    if (code === undefined) return false;
    const { returns, tailCalls, brokenAt } = functionEnds([code]);
    return returns.length === 0 && tailCalls.length === 0 && brokenAt === undefined;
  }
}

/** Whether nothing is left of a copy but a jump to where another one is seen: the compiler merged their code. */
function isMerged(flow: CodeFlow, { instance: { ranges } }: InlinedCopy, all: readonly CopyEnds[]): boolean {
  const goal = onlyJumpTo(flow, ranges);
  return goal !== undefined && all.some(({ edges }) => edges?.entries.some(({ address }) => address === goal) === true);
}

/**
 * LLVM takes a copy apart when it specialises a call before it inlines it: pieces of one call that follow each other
 * are one.
 */
function wholes(flow: CodeFlow, copies: readonly InlinedCopy[]): [InlinedCopy, ...InlinedCopy[]][] {
  const found: [InlinedCopy, ...InlinedCopy[]][] = [];
  const calls = groupBy(
    copies,
    ({ instance: { caller } }) => `${caller?.position.file} ${caller?.position.line} ${caller?.position.column}`,
  );
  for (const pieces of calls.values()) {
    const before =
      pieces.length === 1 || pieces.length > mostPieces
        ? new Map<number, number>()
        : continuations(
            flow,
            pieces.map(({ instance }) => instance.ranges),
            (piece) => pieces[piece].instance.entryTold === true,
          );
    const heads = new Map<number, [InlinedCopy, ...InlinedCopy[]]>(
      pieces.flatMap((piece, i) => (before.has(i) ? [] : [[i, [piece]]])),
    );
    for (const [i, piece] of pieces.entries()) {
      let head = before.get(i);
      for (let steps = 0; head !== undefined && before.has(head) && steps < mostPieces; steps++)
        head = before.get(head);
      const whole = head === undefined ? undefined : (heads.get(head) ?? [...heads.values()][0]);
      if (whole !== undefined) whole.push(piece);
      else if (head !== undefined) found.push([piece]);
    }
    found.push(...heads.values());
  }
  return found;
}

// EFLAGS (Intel SDM, volume 1, section 3.4.3).
const [CF, PF, ZF, SF, OF] = [0, 2, 6, 7, 11];

/** Not 0 when a condition holds, as x86 numbers them. */
export function conditionHolds(condition: number): Fetch {
  const flags = fetchRegister(registersOf(hostMachine), "flags");
  const flag = (bit: number): Fetch => ({
    kind: "binary",
    operator: ">>>",
    left: flags,
    right: { kind: "constant", value: BigInt(bit) },
  });
  const both = (operator: "|" | "^", left: Fetch, right: Fetch): Fetch => ({ kind: "binary", operator, left, right });
  const less = both("^", flag(SF), flag(OF));
  const conditions = [
    flag(OF),
    flag(CF),
    flag(ZF),
    both("|", flag(CF), flag(ZF)),
    flag(SF),
    flag(PF),
    less,
    both("|", flag(ZF), less),
  ];
  // Odd ones are the opposite of those before them (Intel SDM, volume 2, appendix B.1.4.7).
  const one: Fetch = { kind: "constant", value: 1n };
  const holds: Fetch = { kind: "binary", operator: "&", left: conditions[condition >> 1], right: one };
  return (condition & 1) === 0 ? holds : both("^", holds, one);
}
