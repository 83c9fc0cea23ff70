// A variable as a watchpoint names it: `counter`, `config.mode`, `table[3]`, `app::Server::live`, `counter@net.c`.
// Where it is in its binary, and what is there.
import type { DebugInfo, DebugMember, DebugType, Variable } from "../../debuginfo/dwarf/facts.ts";
import type { Type } from "../../language/types.ts";
import { integer } from "../../language/types.ts";
import { behindTypedefs, bytesOfDebugType } from "../../machine/values/debug-types.ts";
import { parseCount } from "../quantity.ts";
import { didYouMean } from "../resolution.ts";
import type { Binary } from "../../machine/system.ts";
import { debugInfoOf, isFile, userTypeOf } from "../../machine/values/user-variables.ts";
import { watchpoints } from "../../messages/watchpoints.ts";
import type { Problem } from "./places.ts";
import { Failure } from "../../base/failure.ts";

export interface WatchedVariable {
  /** The binary's own address. */
  readonly address: bigint;
  /** In bytes. */
  readonly size: number;
  readonly type: Type;
}

/** Members of members are no deeper. */
const deepest = 64;

/** The variable that a binary has by that name, or the part of it. */
export function watchedVariable(binary: Binary, wanted: string): WatchedVariable | Problem {
  const [, name, path] = /^([^.[]+)(.*)$/s.exec(wanted) ?? ["", wanted, ""];
  const info = debugInfoOf(binary);
  const found = info instanceof Failure ? [] : variablesNamed(info, name);
  if (info instanceof Failure || found.length === 0) {
    const symbol = binary.symbol(name);
    if (symbol?.kind === "object" && path !== "") {
      const reason = info instanceof Failure ? info.reason : "no debug information tells its type";
      return { problem: watchpoints.membersUnknown(name, reason) };
    }
    if (symbol?.kind === "object")
      return { address: symbol.address, size: Number(symbol.size), type: unsigned(Number(symbol.size)) };
    if (symbol !== undefined) return { problem: watchpoints.isFunction(name) };
    const [, func, argument] = /^(\w+)\+(arg\d)$/.exec(name) ?? [];
    if (func !== undefined) return { problem: watchpoints.argumentOfFunction(binary.shownPath, name, func, argument) };
    const objects = [...binary.symbols()].filter(({ kind }) => kind === "object").map((each) => each.name);
    return { problem: watchpoints.noVariable(binary.shownPath, name, didYouMean(name, objects)) };
  }
  const places = new Map<bigint, Variable>();
  for (const variable of found) {
    const location = variable.location(0n);
    if (location.kind === "memory" && location.address.kind === "static")
      places.set(location.address.address, variable);
  }
  const [first, ...others] = places;
  if (first === undefined) {
    const [{ kind }] = found;
    return { problem: kind === "thread-local" ? watchpoints.threadLocal(name) : watchpoints.noAddress(name) };
  }
  if (others.length > 0) {
    const choices = [...places.values()].map(
      ({ declared }) => `${name.replace(/@.*/s, "")}@${declared.file.split("/").at(-1)}`,
    );
    return { problem: watchpoints.several(name, choices.slice(0, 4)) };
  }
  const [address, variable] = first;
  return part(info, variable.type, path, address, name);
}

function variablesNamed(info: DebugInfo, name: string): readonly Variable[] {
  const [plain, file] = name.split("@", 2);
  return info
    .globalsNamed(plain)
    .filter(
      ({ kind, declared }) =>
        kind !== "parameter" && kind !== "local" && (file === undefined || isFile(declared.file, file)),
    );
}

/** What `.member` and `[index]` lead to. */
function part(
  info: DebugInfo,
  declared: DebugType,
  path: string,
  from: bigint,
  name: string,
): WatchedVariable | Problem {
  let type = behindTypedefs(declared);
  let address = from;
  let shown = name;
  for (const [step, member, index] of path.matchAll(/\.([^.[\]]+)|\[(\w+)\]|.+/gs)) {
    if (type.kind === "struct" && type.declaration) {
      const whole = info.typeNamed(type.name, type.tag === "union" ? "union" : "struct");
      if (whole !== undefined) type = behindTypedefs(whole);
    }
    if (member !== undefined && type.kind === "struct") {
      const at = memberOf(type, member);
      if (at === undefined) {
        const help = didYouMean(
          member,
          type.members().map((each) => each.name),
        );
        return { problem: watchpoints.noMember(shown, member, help) };
      }
      if (at.member.bitWidth !== undefined) return { problem: watchpoints.bitField(shown, member) };
      type = behindTypedefs(at.member.type());
      address += BigInt(at.offset);
    } else if (index !== undefined && type.kind === "array") {
      const [length, ...inner] = type.lengths;
      const number = parseCount(index);
      if (number === undefined || (length > 0 && number >= BigInt(length)))
        return { problem: watchpoints.noElement(shown, length - 1, index) };
      const element = type.element();
      type = inner.length > 0 ? { kind: "array", lengths: inner, element: () => element } : behindTypedefs(element);
      address += number * BigInt(bytesOfDebugType(type));
    } else {
      return { problem: type.kind === "pointer" ? watchpoints.pointer(shown) : watchpoints.noPart(shown, step) };
    }
    shown += step;
  }
  const size = bytesOfDebugType(type);
  return { address, size, type: userTypeOf(info, type) };
}

/** Of the type, of its base classes and of its members without names. */
function memberOf(
  type: Extract<DebugType, { kind: "struct" }>,
  name: string,
  depth = 0,
): { readonly member: DebugMember; readonly offset: number } | undefined {
  if (depth > deepest) return undefined;
  for (const member of type.members()) {
    if (member.name === name && member.base !== true) return { member, offset: member.offset };
    if (member.base !== true && member.name !== "") continue;
    const inner = behindTypedefs(member.type());
    const found = inner.kind === "struct" ? memberOf(inner, name, depth + 1) : undefined;
    if (found !== undefined) return { member: found.member, offset: member.offset + found.offset };
  }
  return undefined;
}

/** Of a symbol alone. */
export function unsigned(size: number): Type {
  return size === 1 || size === 2 || size === 4 ? integer((size * 8) as 8 | 16 | 32, false) : integer(64, false);
}
