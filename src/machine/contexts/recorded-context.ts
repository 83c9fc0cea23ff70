// What handlers see at a probe of a recording, as text in it. The file may be anybody's: what is read is made anew from
// numbers and names that were looked at, since code is generated from it.
import { RecordingError } from "../../recordings/damaged-recording.ts";
import type { RowLayout } from "../../recordings/layout.ts";
import type { Argument, Context, Fetch, ProgramType, RecordedRow, RecordedText } from "../../language/context.ts";
import { sizeOf } from "../../language/layout.ts";
import { voidType, type AddressSpace, type Member, type Type } from "../../language/types.ts";
import { damagedRecording } from "../../messages/on-demand.ts";

/** Where a row has a value: its number, its bytes, or the bytes that it is the address of. */
export interface RecordedValue {
  readonly name: string;
  readonly type: Type;
  readonly at: "number" | "bytes" | "address";
  readonly offset: number;
}

export interface RecordedView {
  readonly provider: string;
  readonly programType: ProgramType;
  readonly space: AddressSpace;
  /** Undefined where the kind of probe has none. */
  readonly args?: readonly RecordedValue[];
  /** Offsets of `arg0`, `arg1` …, 8 bytes each. */
  readonly numbered?: readonly number[];
  readonly retval?: RecordedValue;
  readonly row: RecordedRow;
}

export function viewText(view: RecordedView): string {
  const value = (one: RecordedValue): object => ({ ...one, type: written(one.type) });
  const { args, retval } = view;
  return JSON.stringify({
    ...view,
    ...(args === undefined ? {} : { args: args.map(value) }),
    ...(retval === undefined ? {} : { retval: value(retval) }),
  });
}

/** The context of a layout's text. @throws RecordingError */
export function contextOfText(text: string, { size, fields }: Pick<RowLayout, "size" | "fields">): Context {
  let whole: unknown;
  try {
    whole = JSON.parse(text);
  } catch {
    throw unknownView();
  }
  const view = members(whole);
  const args = view["args"] === undefined ? undefined : list(view["args"]).map((one) => argumentOf(one, size));
  // What an argument is the address of, in the row.
  const own = new Set(
    args?.flatMap(({ fetch, place }) => (fetch.kind === "address" && place === undefined ? [fetch.offset] : [])),
  );
  const ownTexts = fields.flatMap((field) =>
    field.kind === "text" && own.has(field.offset) ? [{ offset: field.offset, size: field.size }] : [],
  );
  const row = { ...rowOf(view["row"], size), ownTexts };
  const numbered =
    view["numbered"] === undefined ? undefined : list(view["numbered"]).map((at) => numberAt(offsetOf(at, 8, size)));
  const retval = view["retval"] === undefined ? undefined : argumentOf(view["retval"], size);
  return {
    provider: name(view["provider"]),
    program: {
      type: oneOf(view["programType"], ["raw_tracepoint", "tracing", "tracepoint", "kprobe", "perf_event"]),
      cookie: true,
    },
    defaultSpace: oneOf(view["space"], ["kernel", "user"]),
    ...(args === undefined ? {} : { args }),
    ...(numbered === undefined ? {} : { numbered }),
    ...(retval === undefined ? {} : { retval: { type: retval.type, fetch: retval.fetch, ...placeOf(retval) } }),
    stacks: row.kernelStack !== undefined || row.userStack !== undefined,
    recorded: row,
  };
}

function placeOf({ place }: Argument): Pick<Argument, "place"> {
  return place === undefined ? {} : { place };
}

function numberAt(offset: number): Fetch {
  return { kind: "context", offset, size: 8, signed: false };
}

function argumentOf(value: unknown, size: number): Argument {
  const one = members(value);
  const type = typeOf(one["type"]);
  const bytes = sizeOf(type);
  const offset = offsetOf(one["offset"], one["at"] === "address" ? 1 : bytes, size);
  if (one["at"] === "address")
    return { name: name(one["name"]), type, fetch: { kind: "address", base: "context", offset } };
  if (one["at"] === "bytes")
    return { name: name(one["name"]), type, fetch: { kind: "address", base: "context", offset }, place: "context" };
  const width = ([1, 2, 4, 8] as const).find((each) => each === bytes);
  if (width === undefined) throw unknownView();
  const signed = (type.kind === "integer" || type.kind === "enum") && type.signed;
  return { name: name(one["name"]), type, fetch: { kind: "context", offset, size: width, signed } };
}

const words = ["time", "cpu", "pid", "tid", "uid", "gid", "cgroup", "user-mode"] as const;

function rowOf(value: unknown, size: number): RecordedRow {
  const row = members(value);
  const given = members(row["words"]);
  const optional = (key: string, bytes: number): number | undefined =>
    row[key] === undefined ? undefined : offsetOf(row[key], bytes, size);
  const comm = optional("comm", 16);
  const site = optional("site", 4);
  const kernelStack = optional("kernelStack", 8);
  const userStack = optional("userStack", 8);
  return {
    words: Object.fromEntries(
      words
        .filter((word) => given[word] !== undefined)
        .map((word) => {
          const at = members(given[word]);
          const bytes = oneOf(at["size"], [1, 2, 4, 8]);
          return [word, { offset: offsetOf(at["offset"], bytes, size), size: bytes }];
        }),
    ),
    ...(comm === undefined ? {} : { comm }),
    ...(site === undefined ? {} : { site }),
    ...(kernelStack === undefined ? {} : { kernelStack }),
    ...(userStack === undefined ? {} : { userStack }),
    texts: list(row["texts"]).map((one): RecordedText => {
      const text = members(one);
      const bytes = integer(text["size"], 1, size);
      return {
        pointer: offsetOf(text["pointer"], 8, size),
        space: oneOf(text["space"], ["kernel", "user"]),
        offset: offsetOf(text["offset"], bytes, size),
        size: bytes,
      };
    }),
    absent: list(row["absent"]).map(name),
  };
}

// ── types ──

/** A type as JSON: pointers lead to no more than numbers, since what is behind them is not in a recording. */
export function written(type: Type): unknown {
  switch (type.kind) {
    case "pointer":
      return {
        kind: "pointer",
        space: type.space,
        target: type.target.kind === "integer" ? written(type.target) : { kind: "void" },
      };
    case "enum":
      return { ...type, names: [...type.names].map(([value, text]) => [String(value), text]) };
    case "array":
      return { ...type, element: written(type.element) };
    case "struct": {
      const { kind, union, name: text, size, alignment } = type;
      return {
        kind,
        union,
        name: text,
        size,
        alignment,
        members: type.members.map((member) => ({
          name: member.name,
          type: written(member.type),
          offset: member.offset,
          bitOffset: member.bitOffset,
          bitWidth: member.bitWidth,
        })),
      };
    }
    case "integer":
    case "boolean":
    case "string":
    case "void":
      return type;
    default:
      return { kind: "void" };
  }
}

/** Whether values of this type are kept by `viewText`. */
export function isKept(type: Type): boolean {
  switch (type.kind) {
    case "integer":
    case "boolean":
    case "enum":
    case "pointer":
    case "string":
      return true;
    case "array":
      return isKept(type.element) && type.length > 0;
    case "struct":
      return type.size > 0 && type.shape === undefined && type.members.every((member) => isKept(member.type));
    default:
      return false;
  }
}

const deepest = 20;
const mostBytes = 1 << 20;

/** @throws RecordingError */
export function typeOf(value: unknown, depth = 0): Type {
  if (depth > deepest) throw unknownView();
  const type = members(value);
  switch (type["kind"]) {
    case "void":
      return voidType;
    case "boolean":
      return { kind: "boolean" };
    case "integer":
      return {
        kind: "integer",
        bits: oneOf(type["bits"], [8, 16, 32, 64]),
        signed: type["signed"] === true,
        ...(type["character"] === true ? { character: true } : {}),
      };
    case "string":
      return { kind: "string", capacity: integer(type["capacity"], 1, mostBytes) };
    case "enum":
      return {
        kind: "enum",
        name: name(type["name"]),
        bits: oneOf(type["bits"], [8, 16, 32, 64]),
        signed: type["signed"] === true,
        names: new Map(list(type["names"]).map((pair) => [decimal(list(pair)[0]), name(list(pair)[1])])),
      };
    case "pointer":
      return {
        kind: "pointer",
        space: oneOf(type["space"], ["kernel", "user"]),
        target: typeOf(type["target"], depth + 1),
      };
    case "array":
      return {
        kind: "array",
        element: typeOf(type["element"], depth + 1),
        length: integer(type["length"], 0, mostBytes),
      };
    case "struct":
      return {
        kind: "struct",
        union: type["union"] === true,
        name: name(type["name"]),
        size: integer(type["size"], 0, mostBytes),
        ...(type["alignment"] === undefined ? {} : { alignment: oneOf(type["alignment"], [1, 2, 4, 8, 16, 32, 64]) }),
        members: list(type["members"]).map((one): Member => {
          const member = members(one);
          return {
            name: name(member["name"]),
            type: typeOf(member["type"], depth + 1),
            offset: integer(member["offset"], 0, mostBytes),
            ...(member["bitOffset"] === undefined ? {} : { bitOffset: integer(member["bitOffset"], 0, 64) }),
            ...(member["bitWidth"] === undefined ? {} : { bitWidth: integer(member["bitWidth"], 0, 64) }),
          };
        }),
      };
    default:
      throw unknownView();
  }
}

// ── what JSON may be ──

function unknownView(): RecordingError {
  return new RecordingError(damagedRecording().valuesOfProbe());
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw unknownView();
  return value as Readonly<Record<string, unknown>>;
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw unknownView();
  return value as readonly unknown[];
}

function name(value: unknown): string {
  if (typeof value !== "string") throw unknownView();
  return value;
}

function decimal(value: unknown): bigint {
  if (typeof value !== "string" || !/^-?\d{1,20}$/.test(value)) throw unknownView();
  return BigInt(value);
}

function integer(value: unknown, least: number, most: number): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < least || value > most) throw unknownView();
  return value;
}

function offsetOf(value: unknown, bytes: number, size: number): number {
  return integer(value, 0, size - bytes);
}

function oneOf<const T>(value: unknown, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw unknownView();
  return found;
}
