// Variables: what an entry says of one, and where it is at an address.
import { AT, OP, TAG } from "./constants.ts";
import { DwarfError, signedAddress } from "./cursor.ts";
import { evaluate, locate, Unknowable, type Place } from "./expressions.ts";
import type { DebugType, Location, LocationExpression, SourcePosition, Variable } from "./facts.ts";
import { expressionAt } from "./locations.ts";
import { nameOf, qualifiedName } from "./names.ts";
import { rangesOf } from "./ranges.ts";
import { bodyAround } from "./scopes.ts";
import { bytesOf, typeOf } from "./types.ts";
import type { Entry } from "./units.ts";
import { damagedDwarf, variableReasons } from "../../messages/on-demand.ts";

/** What variables need to know of the file they are in. */
export interface Surroundings {
  readonly cfa: (address: bigint) => LocationExpression | undefined;
  readonly position: (entry: Entry) => SourcePosition;
  readonly threadLocal: (offset: bigint) => bigint;
}

const GONE: Location = { kind: "absent", reason: variableReasons().optimisedOut() };
const GONE_HERE: Location = { kind: "absent", reason: variableReasons().optimisedOutHere() };

export class EntryVariable implements Variable {
  readonly name: string;
  readonly entry: Entry;
  outer = false;
  readonly #around: Surroundings;
  #type: DebugType | undefined;
  #kind: Variable["kind"] | undefined;
  #declared: SourcePosition | undefined;

  constructor(entry: Entry, around: Surroundings) {
    this.entry = entry;
    this.#around = around;
    this.name = nameOf(entry) ?? "";
  }

  get type(): DebugType {
    return (this.#type ??= typeOf(this.entry));
  }

  get qualifiedName(): string {
    return qualifiedName(this.entry);
  }

  get declared(): SourcePosition {
    return (this.#declared ??= this.#around.position(this.entry));
  }

  get kind(): Variable["kind"] {
    return (this.#kind ??= kindOf(this.entry));
  }

  location(address: bigint): Location {
    const located = this.entry.withAttribute(AT.location);
    const value = located?.value(AT.location);
    if (located === undefined || value === undefined) return this.#constant();
    const bytes = expressionAt(located.unit, value, signedAddress(address));
    return bytes === undefined ? GONE_HERE : locate(bytes, this.#place(located, address));
  }

  #place(located: Entry, address: bigint): Place {
    const body = bodyAround(this.entry);
    const ranges = body === undefined ? [] : rangesOf(body);
    const start = body?.address(AT.low_pc) ?? ranges[0]?.low;
    return {
      unit: located.unit,
      address,
      ...(body !== undefined && { function: body }),
      ...(start !== undefined && { functionStart: BigInt.asUintN(64, BigInt(start)) }),
      cfa: this.#around.cfa,
      threadLocal: this.#around.threadLocal,
      frameBase,
      variableAt: (entry) => new EntryVariable(entry, this.#around),
    };
  }

  /** DW_AT_const_value: as many bytes as the type has. */
  #constant(): Location {
    const value = this.entry.withAttribute(AT.const_value)?.value(AT.const_value);
    switch (value?.kind) {
      case "block":
        return { kind: "constant", bytes: Uint8Array.from(value.bytes) };
      case "text":
        return { kind: "constant", bytes: Uint8Array.from(Buffer.from(`${value.text}\0`)) };
      case "address":
        return { kind: "value", value: { kind: "static", address: BigInt.asUintN(64, BigInt(value.value)) } };
      case "constant": {
        const length = Math.min(16, bytesOf(this.type) ?? value.bytes);
        const bytes = new Uint8Array(length);
        for (let i = 0; i < length; i++) bytes[i] = Number((value.value >> BigInt(8 * i)) & 0xffn);
        return { kind: "constant", bytes };
      }
      default:
        return GONE;
    }
  }
}

function kindOf(entry: Entry): Variable["kind"] {
  if (entry.tag === TAG.formal_parameter) return "parameter";
  const located = entry.withAttribute(AT.location);
  const value = located?.value(AT.location);
  const first = value?.kind === "block" ? value.bytes[0] : undefined;
  const last = value?.kind === "block" ? value.bytes.at(-1) : undefined;
  if (last === OP.form_tls_address || last === OP.GNU_push_tls_address) return "thread-local";
  const isFixed = first === OP.addr || first === OP.addrx || first === OP.GNU_addr_index;
  if (bodyAround(entry) !== undefined && bodyAround(entry.origin) !== undefined) return isFixed ? "static" : "local";
  return entry.withAttribute(AT.external)?.flag(AT.external) === true ? "global" : "static";
}

/** DW_AT_frame_base of the function around, at the place. A register there means what it holds. */
function frameBase(place: Place): LocationExpression {
  const value = place.function?.value(AT.frame_base);
  if (place.function === undefined || value === undefined) throw new Unknowable(variableReasons().noFrame());
  const address = place.address === undefined ? undefined : signedAddress(place.address);
  const bytes = expressionAt(place.function.unit, value, address);
  if (bytes === undefined) throw new Unknowable(variableReasons().noFrameHere());
  // A base that is given by itself would not end.
  const guarded: Place = {
    ...place,
    unit: place.function.unit,
    frameBase: () => {
      throw new DwarfError(damagedDwarf().baseOfItself());
    },
  };
  return evaluate(bytes, guarded);
}

/** Parameters of a function or copy, in order; those that a copy has lost are there and say so. */
export function parametersOf(entry: Entry, around: Surroundings): readonly EntryVariable[] {
  const own = [...entry.children()].filter((child) => child.tag === TAG.formal_parameter);
  const abstract = [...entry.chain()]
    .slice(1)
    .find((link) => [...link.children()].some((child) => child.tag === TAG.formal_parameter));
  if (abstract === undefined || own.every((each) => !each.has(AT.abstract_origin))) {
    const listed =
      own.length > 0 || abstract === undefined
        ? own
        : [...abstract.children()].filter((child) => child.tag === TAG.formal_parameter);
    return listed.map((each) => new EntryVariable(each, around));
  }
  const byOrigin = new Map(own.map((each) => [each.reference(AT.abstract_origin), each]));
  const ordered: EntryVariable[] = [];
  for (const child of abstract.children()) {
    if (child.tag !== TAG.formal_parameter) continue;
    ordered.push(new EntryVariable(byOrigin.get(child) ?? child, around));
    byOrigin.delete(child);
  }
  for (const rest of byOrigin.values()) ordered.push(new EntryVariable(rest, around));
  return ordered;
}

/** Variables that a scope declares itself; those that a copy has lost are there and say so. */
export function localsOf(scope: Entry, around: Surroundings): readonly EntryVariable[] {
  const own = [...scope.children()].filter(isLocal);
  const kept = new Set(own.map((child) => child.reference(AT.abstract_origin)));
  const abstract = scope.reference(AT.abstract_origin);
  const lost =
    abstract === undefined ? [] : [...abstract.children()].filter((child) => isLocal(child) && !kept.has(child));
  return [...own, ...lost].map((child) => new EntryVariable(child, around)).filter(({ name }) => name !== "");
}

const isLocal = (child: Entry): boolean => child.tag === TAG.variable && !child.flag(AT.declaration);
