// `write_memory()`: assignments to members and elements in memory of the script's own, as D has them.
import type { Call, Expression, IndexAccess, MemberAccess, Unary } from "../../language/program.ts";
import type { Type } from "../../language/types.ts";
import type { HostTextName } from "../../language/host-texts.ts";
import { compiler } from "../../messages/compiler.ts";
import { sizeOf } from "../../language/layout.ts";
import type { Instruction, Value } from "../ir/ir.ts";
import { locateAccess } from "./access.ts";
import { orFails } from "./faults.ts";
import { addressOf, copy } from "./memory.ts";
import { isSigned, widthOf } from "./registers.ts";
import { convert } from "./scalars.ts";
import type { FunctionState, Located } from "./state.ts";

/** Goes on where the memory could be written: it is of the scripts' own. */
function writes(f: FunctionState, e: Call, i: { name: HostTextName; args: HostTextArguments }, address: Value): void {
  const done = f.build.give((result) => ({ op: "host-text", ...i, result }));
  orFails(f, "read", () => done, "cannot write memory", e.span, address);
}

type HostTextArguments = Extract<Instruction, { op: "host-text" }>["args"];

/** Of a number: what the place holds then. */
export function writtenNumber(f: FunctionState, e: Call): Value {
  const [target, given] = e.args as [MemberAccess | IndexAccess | Unary, Expression];
  const { build } = f;
  const { type } = target;
  const bits = target.kind === "member" ? target.path : undefined;
  const located = memoryOf(f, target);
  const value = convert(f, f.value(given), given.type, type);
  const address = addressOf(f, located);
  if (bits?.bitWidth === undefined) {
    const args = [address, value, ...[widthOf(type), 0, 0].map((one) => build.constant(BigInt(one)))];
    writes(f, e, { name: "writtenNumber", args }, address);
    return value;
  }
  const { bitOffset = 0, bitWidth } = bits;
  const skip = Math.floor(bitOffset / 8);
  const first = bitOffset - skip * 8;
  const where = build.binary("add", address, build.constant(BigInt(skip)));
  const size = Math.ceil((first + bitWidth) / 8);
  const args = [where, value, ...[size, first, bitWidth].map((one) => build.constant(BigInt(one)))];
  writes(f, e, { name: "writtenNumber", args }, where);
  const up = build.binary("shl", value, build.constant(BigInt(64 - bitWidth)));
  return build.binary(isSigned(type) ? "ashr" : "lshr", up, build.constant(BigInt(64 - bitWidth)));
}

/** Of anything else. */
export function writtenBytes(f: FunctionState, e: Call): Located {
  const [target, given] = e.args as [MemberAccess | IndexAccess | Unary, Expression];
  const { type } = target;
  const size = sizeOf(type);
  const place = f.slotOf("written", Math.max(1, size));
  const value = f.locate(given);
  const asArray: Type =
    type.kind === "array" && given.type.kind === "string" ? { kind: "string", capacity: size } : type;
  copy(f, value, given.type, asArray, place);
  const address = addressOf(f, memoryOf(f, target));
  writes(f, e, { name: "writtenBytes", args: [address, { text: place, capacity: size }] }, address);
  return { at: "place", place };
}

function memoryOf(f: FunctionState, target: MemberAccess | IndexAccess | Unary): Located & { at: "memory" } {
  const located = locateAccess(f, target);
  return located.at === "memory" ? located : f.refuse(target.span, compiler.noAddress());
}
