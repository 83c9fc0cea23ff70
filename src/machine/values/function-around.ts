// The function that a place is in, as debug information has it, and its first instructions.
import { isUnset } from "../../debuginfo/entry-locations.ts";
import type { CodeRange } from "../../debuginfo/function-ends.ts";
import { framesIn } from "../../debuginfo/prologue.ts";
import type { DebugInfo, FunctionInstance, SourceFunction, Variable } from "../../debuginfo/dwarf/facts.ts";
import { isOnFrame, type Prologue } from "../calls/call-arguments.ts";
import { bytesOfDebugType } from "./debug-types.ts";
import type { Seen } from "./locations.ts";
import type { Binary } from "../system.ts";

export interface Around {
  readonly fn: SourceFunction;
  readonly instance: FunctionInstance | undefined;
  /** The place is where it begins. */ readonly entry: boolean;
  readonly clone: boolean;
  /** It may have lost its result as well. */ readonly reduced?: boolean;
}

/** What compilers call copies of a function with parameters of their own. */
const cloned = /\.(constprop|isra|part|llvm|cold)\b/;

/** The function at a place: what was compiled there, be it inlined. */
export function functionAround(info: DebugInfo, binary: Binary, offset: bigint, address: bigint): Around | undefined {
  const found = info.functionAt(address);
  if (found === undefined) return undefined;
  const { instance } = found;
  const symbol = binary.functionAt(offset)?.name ?? "";
  return {
    ...found,
    entry: instance.kind === "body" && instance.entry === address,
    clone: cloned.test(symbol),
    reduced: /\.isra\b/.test(symbol),
  };
}

/**
 * Whether a parameter has not been put yet where debug information has it: the place is among the function's first
 * instructions.
 */
export function isNotYet(variable: Variable, { instance }: Around, { address }: Seen, binary: Binary): boolean {
  if (variable.kind !== "parameter" || instance?.kind !== "body") return false;
  const location = variable.location(address);
  const length = Number(address - instance.entry);
  if (!isOnFrame(location) || length <= 0 || length > longestPrologue) return false;
  for (const { offset, frame } of framesIn(codeFrom(instance, binary, length))) {
    if (offset === length) return isUnset(location, bytesOfDebugType(variable.type), frame);
  }
  return false;
}

/** Prologues are short; a damaged line table could make one of a megabyte. */
export const longestPrologue = 4096;
/** Bytes of a function that are decoded. */
const largestFunction = 1n << 20n;

/** A function's instructions before its first statement. */
export function prologueOf(instance: FunctionInstance, info: DebugInfo, binary: Binary): Prologue | undefined {
  const { entry } = instance;
  const length = Number(info.prologueEnd(instance) - entry);
  return length <= 0 || length > longestPrologue ? undefined : { entry, code: codeFrom(instance, binary, length) };
}

export function codeOf({ instance }: Around, binary: Binary): CodeRange[] {
  return (instance?.ranges ?? []).flatMap(({ low, high }) => {
    const offset = binary.fileOffset(low);
    return offset === undefined || high - low > largestFunction
      ? []
      : [{ address: low, bytes: binary.read(offset, Number(high - low)) }];
  });
}

/** A function's first bytes, as many as it has. */
export function codeFrom({ entry, ranges }: FunctionInstance, binary: Binary, most: number): Uint8Array {
  const offset = binary.fileOffset(entry);
  const high = ranges.find((range) => range.low <= entry && entry < range.high)?.high ?? entry;
  return offset === undefined ? new Uint8Array() : binary.read(offset, Math.min(most, Number(high - entry)));
}
