// What differs in functions that Go compiled: where arguments are, and that r14 points to the goroutine.
// (src/cmd/compile/abi-internal.md: the amd64 register ABI, since Go 1.17)
import type { Context, Fetch } from "../../language/context.ts";
import { fetchRegister, registersOf } from "./registers.ts";
import type { Binary } from "../system.ts";

/** Integer arguments and results of functions, in order; on amd64. */
const goRegisters = ["ax", "bx", "cx", "di", "si", "r8", "r9", "r10", "r11"] as const;
/** Words on the stack that argN reaches in functions of the old convention. */
const stackWords = 10;

/** Assembly, and the doors to it from C-like code, keep arguments on the stack; linkers mark their symbols. */
const stackAbi = /\.abi0$/;

export interface GoPlace {
  readonly context: Context;
  /** Equal for equal contexts. */
  readonly key: string;
}

/** The context of a place in a binary, as Go's conventions have it where Go compiled the function that it is in. */
export function asGoHasIt(context: Context, binary: Binary, offset: bigint): GoPlace {
  const { go } = binary;
  const address = binary.address(offset);
  const found = go === undefined || address === undefined || binary.machine !== "x86-64" ? undefined : go.at(address);
  if (go === undefined || found === undefined) return { context, key: "" };
  const onStack = !go.registers || stackAbi.test(binary.functionAt(offset)?.name ?? found.name);
  const { numbered, ...rest } = context;
  const goroutine = onStack ? undefined : goroutineId(go.goroutineId);
  return {
    context: {
      ...rest,
      ...(numbered === undefined ? {} : { numbered: onStack ? stackArguments() : registerArguments() }),
      ...(goroutine === undefined ? {} : { goroutine }),
    },
    key: onStack ? "go stack" : `go ${go.goroutineId}`,
  };
}

function registerArguments(): Fetch[] {
  const file = registersOf("x86-64");
  return goRegisters.map((name) => fetchRegister(file, name));
}

function stackArguments(): Fetch[] {
  const base = fetchRegister(registersOf("x86-64"), "sp");
  // The return address is in front of them.
  return Array.from({ length: stackWords }, (_, i): Fetch => ({
    kind: "pointed",
    base,
    offset: 8 + i * 8,
    size: 8,
    signed: false,
    space: "user",
  }));
}

/**
 * The ends of the running goroutine's stack, which is moved as it grows. (`stack.lo` and `stack.hi` are the first words
 * of runtime.g)
 */
export const goStack: { readonly low: Fetch; readonly high: Fetch } = {
  low: wordOfGoroutine(0),
  high: wordOfGoroutine(8),
};

function wordOfGoroutine(offset: number): Fetch {
  return {
    kind: "pointed",
    base: fetchRegister(registersOf("x86-64"), "r14"),
    offset,
    size: 8,
    signed: false,
    space: "user",
  };
}

function goroutineId(offset: number | undefined): Fetch | undefined {
  return offset === undefined ? undefined : wordOfGoroutine(offset);
}
