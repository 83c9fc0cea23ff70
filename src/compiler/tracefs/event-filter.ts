// Conditions on an event's record that the kernel can look at itself, in the words of its filters
// (Documentation/trace/events.rst, "Event filtering"; kernel/trace/trace_events_filter.c).
import type { TracepointField } from "../../machine/system.ts";
import type { RecordText } from "./made-values.ts";

/** What an event fulfils that some handler does anything for; `true`: any event may. */
export type EventFilter = boolean | Condition;

export type Condition = NumberTest | TextTest | Joined;

interface Joined {
  readonly kind: "and" | "or";
  readonly left: Condition;
  readonly right: Condition;
}

export type Comparison = "==" | "!=" | "<" | "<=" | ">" | ">=";

/** `&`: some of these bits are set; `!&`: none is. */
export interface NumberTest {
  readonly kind: "number";
  /** Of processes no filter knows; they are told apart before it (`processesIn`). */
  readonly of: RecordedNumber | "tid" | "cpu" | "process";
  readonly test: Comparison | "&" | "!&";
  /** `child`: the process that the session starts. */
  readonly value: bigint | "child";
  /** Comparisons of 8 bytes are of unsigned numbers. */
  readonly unsigned: boolean;
}

/** In the record, as the handler reads it. */
export interface RecordedNumber {
  readonly offset: number;
  readonly size: number;
  readonly signed: boolean;
}

/** `begins`: with this text. */
export interface TextTest {
  readonly kind: "text";
  readonly of: RecordText | "comm";
  readonly test: "==" | "!=" | "begins" | "begins not";
  readonly text: string;
}

export function both(left: EventFilter, right: EventFilter): EventFilter {
  if (left === true || right === false) return right;
  if (right === true || left === false) return left;
  return { kind: "and", left, right };
}

export function either(left: EventFilter, right: EventFilter): EventFilter {
  if (left === true || right === false) return left;
  if (right === true || left === false) return right;
  return { kind: "or", left, right };
}

/** How many tests there are. */
export function testsIn(filter: EventFilter): number {
  if (typeof filter === "boolean") return 0;
  return filter.kind === "and" || filter.kind === "or" ? testsIn(filter.left) + testsIn(filter.right) : 1;
}

/** Processes that an event is of that fulfils it; undefined where it may be of any. */
export function processesIn(filter: EventFilter): ReadonlySet<bigint | "child"> | undefined {
  if (filter === false) return new Set();
  if (filter === true) return undefined;
  switch (filter.kind) {
    case "number":
      return filter.of === "process" && filter.test === "==" ? new Set([filter.value]) : undefined;
    case "text":
      return undefined;
    case "and":
      return processesIn(filter.left) ?? processesIn(filter.right);
    case "or": {
      const [left, right] = [processesIn(filter.left), processesIn(filter.right)];
      return left === undefined || right === undefined ? undefined : new Set([...left, ...right]);
    }
  }
}

/** Whether the kernel's words say all of it. */
export function isSayable(filter: EventFilter, fields: readonly TracepointField[]): boolean {
  if (typeof filter === "boolean") return true;
  if (filter.kind === "and" || filter.kind === "or")
    return isSayable(filter.left, fields) && isSayable(filter.right, fields);
  return conditionWords(inOrderOf(filter, fields), fields, 0n) !== undefined;
}

/**
 * In the kernel's words, by the names of the event's fields. A test that these cannot say is left out: more events than
 * needed come through, never fewer. @returns undefined: nothing is left of it
 */
export function filterWords(
  filter: EventFilter,
  fields: readonly TracepointField[],
  childPid: bigint,
): string | undefined {
  return typeof filter === "boolean" ? undefined : conditionWords(inOrderOf(filter, fields), fields, childPid);
}

/**
 * What is less and what is more, in the order of the kernel's own fields. The kernel takes all arguments of system calls
 * for unsigned, offsets that may be negative as well: there negative numbers are behind all others, so that a second
 * test says on which side of 0 the number is.
 */
function inOrderOf(one: Condition, fields: readonly TracepointField[]): Condition {
  if (one.kind === "text") return one;
  if (one.kind !== "number") return { ...one, left: inOrderOf(one.left, fields), right: inOrderOf(one.right, fields) };
  const { of, test, value, unsigned } = one;
  if (typeof of === "string" || value === "child" || (!test.startsWith("<") && !test.startsWith(">"))) return one;
  const field = fieldOf(of, fields);
  const bits = of.size * 8;
  const signed = of.size === 8 ? !unsigned : of.signed;
  if (field === undefined || field.signed === signed || (of.size < 8 && signed && unsigned)) return one;
  if (of.size < 8 && cut(value, bits, signed) !== BigInt.asIntN(64, value)) return one;
  const isMore = test.startsWith(">");
  const isNegative = BigInt.asIntN(bits, value) < 0n;
  const inField = { ...one, of: { ...of, signed: field.signed }, unsigned: !field.signed };
  const asked = { ...inField, value: cut(value, bits, field.signed) };
  const side: NumberTest = field.signed
    ? { ...inField, test: isMore ? "<" : ">=", value: 0n }
    : { ...inField, test: isMore ? "<=" : ">", value: (1n << BigInt(bits - 1)) - 1n };
  // More than a number of the lower half is all of the other half, too.
  return { kind: (isNegative === signed) === isMore ? "or" : "and", left: asked, right: side };
}

function cut(value: bigint, bits: number, signed: boolean): bigint {
  return signed ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
}

function conditionWords(one: Condition, fields: readonly TracepointField[], childPid: bigint): string | undefined {
  switch (one.kind) {
    case "number":
      return numberTestWords(one, fields, childPid);
    case "text":
      return textTestWords(one, fields);
    case "and":
    case "or": {
      const sides = [one.left, one.right].map((side) => {
        const words = conditionWords(side, fields, childPid);
        const mixed = (side.kind === "and" || side.kind === "or") && side.kind !== one.kind;
        return mixed && words !== undefined ? `(${words})` : words;
      });
      const [left, right] = sides;
      if (left !== undefined && right !== undefined) return `${left} ${one.kind === "and" ? "&&" : "||"} ${right}`;
      return one.kind === "and" ? (left ?? right) : undefined;
    }
  }
}

function numberTestWords(
  { of, test, value: asked, unsigned }: NumberTest,
  fields: readonly TracepointField[],
  childPid: bigint,
): string | undefined {
  const value = asked === "child" ? childPid : asked;
  if (of === "process") return undefined;
  if (of === "tid" || of === "cpu") {
    // Of the kernel's type int, and never below 0.
    if (test === "&" || test === "!&" || value < 0n || value > 0x7fff_ffffn) return undefined;
    return `${of === "tid" ? "common_pid" : "CPU"} ${test} ${value}`;
  }
  const field = fieldOf(of, fields);
  if (field === undefined) return undefined;
  const bits = of.size * 8;
  const asField = (bitsOf: bigint): bigint => cut(bitsOf, bits, field.signed);
  if (test === "&" || test === "!&") {
    if (BigInt.asUintN(64, value) >> BigInt(bits) !== 0n) return undefined;
    const words = `${field.name} & ${asField(value)}`;
    return test === "&" ? words : `!(${words})`;
  }
  const whole = bits === 64;
  const signed = whole ? !unsigned : of.signed;
  const number = signed ? BigInt.asIntN(64, value) : whole ? BigInt.asUintN(64, value) : BigInt.asIntN(64, value);
  // What no value of that width is, the kernel would cut.
  if (!whole && cut(number, bits, signed) !== number) return undefined;
  if (test !== "==" && test !== "!=") {
    if (signed !== field.signed || (signed && unsigned)) return undefined;
  }
  return `${field.name} ${test} ${asField(number)}`;
}

/** What stands between quotes as it is; a pattern has characters of its own. */
const plain = /^[\w ./:;,@#%&()<>=+-]+$/;
/** MAX_FILTER_STR_VAL of kernel/trace/trace.h, with the terminator. */
const longestText = 255;

function textTestWords({ of, test, text }: TextTest, fields: readonly TracepointField[]): string | undefined {
  if (!plain.test(text) || text.length > longestText) return undefined;
  const name = of === "comm" ? "COMM" : textField(of, text, fields);
  if (name === undefined) return undefined;
  switch (test) {
    case "==":
    case "!=":
      return `${name} ${test} "${text}"`;
    case "begins":
      return `${name} ~ "${text}*"`;
    case "begins not":
      return `!(${name} ~ "${text}*")`;
  }
}

function textField(
  { offset: at, located }: RecordText,
  text: string,
  fields: readonly TracepointField[],
): string | undefined {
  const field = fields.find(({ offset }) => offset === at);
  if (field === undefined) return undefined;
  const { declaration, size, name } = field;
  if (located) return /^__data_loc (?:const )?char ?\[\]$/.test(declaration) ? name : undefined;
  // Its end has to be within the field.
  return /^(?:const )?char ?\[\d+\]$/.test(declaration) && text.length < size ? name : undefined;
}

/** The name of the field that a number is read from. */
export function fieldName(of: RecordedNumber, fields: readonly TracepointField[]): string | undefined {
  return fieldOf(of, fields)?.name;
}

function fieldOf(of: RecordedNumber, fields: readonly TracepointField[]): TracepointField | undefined {
  return fields.find((field) => field.offset === of.offset && field.size === of.size && !isText(field));
}

function isText({ declaration }: TracepointField): boolean {
  return /\[|__data_loc|__rel_loc|^(?:const )?char ?\*$/.test(declaration);
}
