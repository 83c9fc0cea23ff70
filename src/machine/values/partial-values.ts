// Values of which an optimiser kept a part: the members that are there are shown, and of the others is said why they
// are not.
import type { Argument, Piece } from "../../language/context.ts";
import { sizeOf } from "../../language/layout.ts";
import type { Member, StructType, Type } from "../../language/types.ts";
import { variableReasons } from "../../messages/on-demand.ts";
import type { Reason } from "../../base/failure.ts";

/** What an argument is without its name. */
export type Value = Omit<Argument, "name">;

export function absent(type: Type, reason: Reason = variableReasons().optimisedOutHere()): Value {
  return { type, fetch: { kind: "constant", value: 0n }, absent: reason };
}

/** Bytes of a value that are nowhere. */
export interface Gap {
  readonly offset: number;
  readonly size: number;
  readonly reason: Reason;
}

/** What a type is where bytes of it are nowhere; a reason where no part of it is left that could be shown alone. */
export function withoutGaps(type: Type, gaps: readonly Gap[]): Type | { readonly reason: Reason } {
  const size = sizeOf(type);
  const inside = gaps.filter((gap) => gap.offset < size && gap.offset + gap.size > 0 && gap.size > 0);
  const [first] = inside;
  if (first === undefined) return type;
  const whole = covered(inside) >= size;
  if (!whole && type.kind === "struct" && type.members.length > 0) {
    const members = type.members.map((member) => partOf(member, inside));
    // What lies between members is of no account.
    if (members.every((member, i) => member === type.members[i])) return type;
    if (isPlainStruct(type) && members.some((member) => member.absent === undefined))
      return { ...type, members, partial: lackingOf(members).join() };
  }
  return {
    reason: whole || !first.reason.startsWith("optimised out") ? first.reason : variableReasons().partly(first.reason),
  };
}

/** A value put together from pieces, some of which are missing. */
export function assembledFrom(type: Type, pieces: readonly Piece[], gaps: readonly Gap[]): Value {
  const there = withoutGaps(type, gaps);
  if ("reason" in there) return absent(type, there.reason);
  if (pieces.length === 0) return absent(type);
  return { type: there, fetch: { kind: "constant", value: 0n }, pieces };
}

/** Members of others say what is there: of a variant of an enum, of text. */
function isPlainStruct(type: StructType): boolean {
  return !type.union && type.shape === undefined && type.variants === undefined;
}

function partOf(member: Member, gaps: readonly Gap[]): Member {
  const { offset, bitOffset = 0, bitWidth } = member;
  const start = bitWidth === undefined ? offset : offset + (bitOffset >> 3);
  const size = bitWidth === undefined ? sizeOf(member.type) : Math.ceil(((bitOffset & 7) + bitWidth) / 8);
  const here = gaps.filter((gap) => gap.offset < start + size && gap.offset + gap.size > start);
  const [first] = here;
  if (first === undefined) return member;
  const type =
    bitWidth === undefined
      ? withoutGaps(
          member.type,
          here.map((gap) => ({ ...gap, offset: gap.offset - start })),
        )
      : { reason: first.reason };
  return "reason" in type
    ? { ...member, type: member.type, absent: type.reason }
    : type === member.type
      ? member
      : { ...member, type };
}

/** Bytes that gaps, which do not overlap, take of what they are in. */
function covered(gaps: readonly Gap[]): number {
  return gaps.reduce((sum, { offset, size }) => sum + size + Math.min(0, offset), 0);
}

function lackingOf(members: readonly Member[]): string[] {
  return members.flatMap(({ name, type, absent: reason }) => {
    if (reason !== undefined) return [name];
    return type.kind === "struct" && type.partial !== undefined ? [`${name}.(${type.partial})`] : [];
  });
}
