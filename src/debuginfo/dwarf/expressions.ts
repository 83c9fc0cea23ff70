// DWARF expressions (DWARF 5, section 2.5), run on symbols: what comes out says how to compute a value from registers
// and memory.
import { AT, OP, TAG } from "./constants.ts";
import { Cursor, DwarfError, exactAddress } from "./cursor.ts";
import type { Location, LocationExpression, Variable } from "./facts.ts";
import type { Entry, Unit } from "./units.ts";
import { damagedDwarf, variableReasons } from "../../messages/on-demand.ts";
import type { Reason } from "../../base/failure.ts";

/** Where an expression is to be computed. */
export interface Place {
  readonly unit: Unit;
  /** The instruction that is about to run; undefined for what does not depend on it (globals). */
  readonly address: bigint | undefined;
  /** The entry of the function with a body around it. */
  readonly function?: Entry;
  /** Where that function begins: there a register still has what the caller left in it. */
  readonly functionStart?: bigint;
  readonly cfa: (address: bigint) => LocationExpression | undefined;
  /** An offset into the module's thread-local storage, from what the expression says. */
  readonly threadLocal: (offset: bigint) => bigint;
  readonly variableAt: (entry: Entry) => Variable | undefined;
  readonly frameBase: (place: Place) => LocationExpression;
}

/** What of an expression cannot be followed. */
export class Unknowable extends Error {
  readonly reason: Reason;

  constructor(reason: Reason) {
    super(reason);
    this.reason = reason;
  }
}

const STEPS = 10_000;
const DEPTH = 64;
/** How large an expression may become, in nodes. */
const NODES = 4096;

export const constant = (value: bigint): LocationExpression => ({ kind: "constant", value: BigInt.asUintN(64, value) });
export const register = (register: number): LocationExpression => ({ kind: "register", register });

/** Adds, and joins constants: `(rbp + 16) - 36` is `rbp - 20`. */
export function plus(left: LocationExpression, right: LocationExpression): LocationExpression {
  if (left.kind === "constant" && right.kind === "constant") return constant(left.value + right.value);
  if (left.kind === "constant") return plus(right, left);
  if (right.kind !== "constant") return { kind: "binary", operator: "+", left, right };
  if (right.value === 0n) return left;
  if (left.kind === "static") return { kind: "static", address: BigInt.asUintN(64, left.address + right.value) };
  if (left.kind === "binary" && left.operator === "+" && left.right.kind === "constant") {
    return plus(left.left, constant(left.right.value + right.value));
  }
  return { kind: "binary", operator: "+", left, right };
}

type Operator = (LocationExpression & { kind: "binary" })["operator"];

function binary(operator: Operator, left: LocationExpression, right: LocationExpression): LocationExpression {
  if (operator === "+") return plus(left, right);
  if (operator === "-" && right.kind === "constant") return plus(left, constant(-right.value));
  if (left.kind === "constant" && right.kind === "constant") {
    const value = folded(operator, left.value, right.value);
    if (value !== undefined) return constant(value);
  }
  return { kind: "binary", operator, left, right };
}

function folded(operator: Operator, left: bigint, right: bigint): bigint | undefined {
  const signed = (value: bigint): bigint => BigInt.asIntN(64, value);
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return right === 0n ? undefined : signed(left) / signed(right);
    case "%":
      return right === 0n ? undefined : left % right;
    case "&":
      return left & right;
    case "|":
      return left | right;
    case "^":
      return left ^ right;
    case "<<":
      return right > 63n ? 0n : left << right;
    case ">>":
      return signed(left) >> (right > 63n ? 63n : right);
    case ">>>":
      return right > 63n ? 0n : left >> right;
  }
}

function unary(operator: "-" | "~", operand: LocationExpression): LocationExpression {
  if (operand.kind === "constant") return constant(operator === "-" ? -operand.value : ~operand.value);
  return { kind: "unary", operator, operand };
}

const RELATIONS: ReadonlyMap<number, (left: bigint, right: bigint) => boolean> = new Map<
  number,
  (left: bigint, right: bigint) => boolean
>([
  [OP.eq, (a, b) => a === b],
  [OP.ne, (a, b) => a !== b],
  [OP.lt, (a, b) => a < b],
  [OP.le, (a, b) => a <= b],
  [OP.gt, (a, b) => a > b],
  [OP.ge, (a, b) => a >= b],
]);

const OPERATORS: ReadonlyMap<number, Operator> = new Map<number, Operator>([
  [OP.and, "&"],
  [OP.div, "/"],
  [OP.minus, "-"],
  [OP.mod, "%"],
  [OP.mul, "*"],
  [OP.or, "|"],
  [OP.plus, "+"],
  [OP.shl, "<<"],
  [OP.shr, ">>>"],
  [OP.shra, ">>"],
  [OP.xor, "^"],
]);

/** What an expression left: a location that is complete, or the top of the stack. */
interface Outcome {
  readonly location: Location | undefined;
  readonly top: LocationExpression | undefined;
}

/** Where a variable is, by its expression. Never throws but for damage. */
export function locate(bytes: Buffer, place: Place): Location {
  if (bytes.length === 0) return { kind: "absent", reason: variableReasons().optimisedOutHere() };
  try {
    const { location, top } = new Machine(place).run(bytes);
    if (location !== undefined) return location;
    if (top === undefined) throw new Unknowable(variableReasons().emptyLocation());
    return { kind: "memory", address: top };
  } catch (error) {
    if (error instanceof Unknowable) return { kind: "absent", reason: error.reason };
    throw error;
  }
}

/** The value of an expression that describes no location: a frame base, a member's place. @throws Unknowable */
export function evaluate(bytes: Buffer, place: Place, initial: readonly LocationExpression[] = []): LocationExpression {
  const { location, top } = new Machine(place, initial).run(bytes);
  if (location?.kind === "register") return register(location.register);
  if (location?.kind === "value") return location.value;
  if (location !== undefined || top === undefined) throw new Unknowable(variableReasons().baseNowhere());
  return top;
}

class Machine {
  readonly #place: Place;
  readonly #stack: LocationExpression[];
  #steps = STEPS;
  #nodes = 0;

  constructor(place: Place, initial: readonly LocationExpression[] = []) {
    this.#place = place;
    this.#stack = [...initial];
  }

  run(bytes: Buffer): Outcome {
    const pieces: { bits: number; bitOffset: number; location?: Location }[] = [];
    let location = this.#simple(new Cursor(bytes), (bits, bitOffset, found) => {
      const top = found ?? this.#topAsMemory();
      pieces.push({ bits, bitOffset, ...(top !== undefined && { location: top }) });
      this.#stack.length = 0;
    });
    if (pieces.length > 0) location = { kind: "pieces", pieces };
    return { location, top: this.#stack.at(-1) };
  }

  #topAsMemory(): Location | undefined {
    const top = this.#stack.at(-1);
    return top && { kind: "memory", address: top };
  }

  #push(value: LocationExpression): void {
    if (this.#stack.length >= DEPTH) throw new Unknowable(variableReasons().tooComplicated());
    this.#stack.push(value);
  }

  #pop(): LocationExpression {
    const value = this.#stack.pop();
    if (value === undefined) throw new DwarfError(damagedDwarf().expressionTakesNothing());
    return value;
  }

  /** Duplicated operands make trees that grow with every step. */
  #count(): void {
    if (++this.#nodes > NODES) throw new Unknowable(variableReasons().tooComplicated());
  }

  /** Runs to the end; gives the location when an operation named one. */
  #simple(
    cursor: Cursor,
    piece: (bits: number, bitOffset: number, found: Location | undefined) => void,
  ): Location | undefined {
    const { unit } = this.#place;
    const { addressSize, offsetSize } = unit.header;
    let found: Location | undefined;
    while (cursor.at < cursor.end) {
      if (--this.#steps < 0) throw new DwarfError(damagedDwarf().expressionEndless());
      const op = cursor.u8();
      if (
        found !== undefined &&
        op !== OP.piece &&
        op !== OP.bit_piece &&
        op !== OP.nop &&
        op !== OP.stack_value &&
        op !== OP.GNU_uninit
      ) {
        throw new DwarfError(damagedDwarf().expressionBehindEnd());
      }
      if (op >= OP.lit0 && op < OP.lit0 + 32) {
        this.#push(constant(BigInt(op - OP.lit0)));
        continue;
      }
      if (op >= OP.reg0 && op < OP.reg0 + 32) {
        found = { kind: "register", register: op - OP.reg0 };
        continue;
      }
      if (op >= OP.breg0 && op < OP.breg0 + 32) {
        this.#push(plus(register(op - OP.breg0), constant(cursor.slebExact())));
        continue;
      }
      const operator = OPERATORS.get(op);
      if (operator !== undefined) {
        const right = this.#pop();
        this.#count();
        this.#push(binary(operator, this.#pop(), right));
        continue;
      }
      const relation = RELATIONS.get(op);
      if (relation !== undefined) {
        const right = this.#known();
        const left = this.#known();
        this.#push(constant(relation(left, right) ? 1n : 0n));
        continue;
      }
      switch (op) {
        case OP.addr:
          this.#push({ kind: "static", address: exactAddress(cursor.address(addressSize)) });
          break;
        case OP.addrx:
        case OP.GNU_addr_index:
          this.#push({ kind: "static", address: exactAddress(unit.addressAt(cursor.uleb())) });
          break;
        case OP.constx:
        case OP.GNU_const_index:
          this.#push(constant(exactAddress(unit.addressAt(cursor.uleb()))));
          break;
        case OP.const1u:
          this.#push(constant(BigInt(cursor.u8())));
          break;
        case OP.const1s:
          this.#push(constant(BigInt(cursor.s8())));
          break;
        case OP.const2u:
          this.#push(constant(BigInt(cursor.u16())));
          break;
        case OP.const2s:
          this.#push(constant(BigInt.asIntN(16, BigInt(cursor.u16()))));
          break;
        case OP.const4u:
          this.#push(constant(BigInt(cursor.u32())));
          break;
        case OP.const4s:
          this.#push(constant(BigInt.asIntN(32, BigInt(cursor.u32()))));
          break;
        case OP.const8u:
        case OP.const8s:
          this.#push(constant(cursor.u64Exact()));
          break;
        case OP.constu:
          this.#push(constant(cursor.ulebExact()));
          break;
        case OP.consts:
          this.#push(constant(cursor.slebExact()));
          break;
        case OP.dup:
          this.#count();
          this.#pick(0);
          break;
        case OP.over:
          this.#count();
          this.#pick(1);
          break;
        case OP.pick:
          this.#count();
          this.#pick(cursor.u8());
          break;
        case OP.drop:
          this.#pop();
          break;
        case OP.swap: {
          const [top, second] = [this.#pop(), this.#pop()];
          this.#stack.push(top, second);
          break;
        }
        case OP.rot: {
          const [top, second, third] = [this.#pop(), this.#pop(), this.#pop()];
          this.#stack.push(top, third, second);
          break;
        }
        case OP.deref:
          this.#push({ kind: "load", address: this.#pop(), bytes: addressSize === 4 ? 4 : 8 });
          break;
        case OP.deref_size:
          this.#push(load(this.#pop(), cursor.u8()));
          break;
        case OP.deref_type:
        case OP.GNU_deref_type: {
          const bytes = cursor.u8();
          this.#integer(cursor.uleb());
          this.#push(load(this.#pop(), bytes));
          break;
        }
        case OP.neg:
          this.#push(unary("-", this.#pop()));
          break;
        case OP.not:
          this.#push(unary("~", this.#pop()));
          break;
        case OP.abs: {
          const value = BigInt.asIntN(64, this.#known());
          this.#push(constant(value < 0n ? -value : value));
          break;
        }
        case OP.plus_uconst:
          this.#push(plus(this.#pop(), constant(cursor.ulebExact())));
          break;
        case OP.skip:
          this.#jump(cursor, true);
          break;
        case OP.bra:
          this.#jump(cursor, this.#known() !== 0n);
          break;
        case OP.regx:
          found = { kind: "register", register: cursor.uleb() };
          break;
        case OP.bregx:
          this.#push(plus(register(cursor.uleb()), constant(cursor.slebExact())));
          break;
        case OP.regval_type:
        case OP.GNU_regval_type: {
          const number = cursor.uleb();
          const bytes = this.#integer(cursor.uleb());
          this.#push(narrowed(register(number), bytes));
          break;
        }
        case OP.const_type:
        case OP.GNU_const_type: {
          this.#integer(cursor.uleb());
          const value = cursor.take(cursor.u8());
          this.#push(constant(value.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n)));
          break;
        }
        case OP.convert:
        case OP.GNU_convert:
        case OP.reinterpret:
        case OP.GNU_reinterpret: {
          const type = cursor.uleb();
          if (type !== 0) this.#push(this.#converted(this.#pop(), type));
          break;
        }
        case OP.fbreg: {
          const offset = constant(cursor.slebExact());
          this.#push(plus(this.#place.frameBase(this.#place), offset));
          break;
        }
        case OP.call_frame_cfa: {
          const cfa = this.#place.address === undefined ? undefined : this.#place.cfa(this.#place.address);
          if (cfa === undefined) throw new Unknowable(variableReasons().noFrameFound());
          this.#push(cfa);
          break;
        }
        case OP.form_tls_address:
        case OP.GNU_push_tls_address: {
          const offset = this.#pop();
          if (offset.kind !== "constant" && offset.kind !== "static")
            throw new Unknowable(variableReasons().threadLocalComputed());
          const said = offset.kind === "constant" ? offset.value : offset.address;
          this.#push({ kind: "thread-local", offset: this.#place.threadLocal(said) });
          break;
        }
        case OP.call2:
        case OP.call4:
        case OP.call_ref: {
          const offset = op === OP.call2 ? cursor.u16() : op === OP.call4 ? cursor.u32() : cursor.offset(offsetSize);
          const target = op === OP.call_ref ? unit.file.entryAt(offset) : unit.entryAt(unit.header.offset + offset);
          const body = target.value(AT.location);
          if (body?.kind === "block") found = this.#simple(new Cursor(body.bytes), piece) ?? found;
          break;
        }
        case OP.implicit_value: {
          const length = cursor.uleb();
          found = { kind: "constant", bytes: Uint8Array.from(cursor.take(length)) };
          break;
        }
        case OP.stack_value:
          found = { kind: "value", value: this.#pop() };
          break;
        case OP.implicit_pointer:
        case OP.GNU_implicit_pointer: {
          const offset = unit.header.version <= 2 ? cursor.address(addressSize) : cursor.offset(offsetSize);
          const shift = cursor.slebExact();
          const target = unit.file.entryAt(offset);
          // Constants are procedures that leave them.
          const isVariable =
            target.tag === TAG.variable || target.tag === TAG.formal_parameter || target.has(AT.location);
          found = {
            kind: "implicit-pointer",
            target: isVariable ? this.#place.variableAt(target) : undefined,
            offset: shift,
          };
          break;
        }
        case OP.entry_value:
        case OP.GNU_entry_value:
          this.#entryValue(cursor.take(cursor.uleb()));
          break;
        case OP.piece: {
          piece(cursor.uleb() * 8, 0, found);
          found = undefined;
          break;
        }
        case OP.bit_piece: {
          const bits = cursor.uleb();
          piece(bits, cursor.uleb(), found);
          found = undefined;
          break;
        }
        case OP.nop:
        case OP.GNU_uninit:
          break;
        case OP.push_object_address:
          throw new Unknowable(variableReasons().dependsOnObject());
        case OP.GNU_parameter_ref:
          throw new Unknowable(variableReasons().noCallerPasses());
        case OP.GNU_variable_value:
          throw new Unknowable(variableReasons().dependsOnVariable());
        default:
          throw new Unknowable(variableReasons().unknownOperation(op));
      }
    }
    return found;
  }

  #pick(depth: number): void {
    const value = this.#stack.at(-1 - depth);
    if (value === undefined) throw new DwarfError(damagedDwarf().expressionTakesNothing());
    this.#push(value);
  }

  #jump(cursor: Cursor, taken: boolean): void {
    const distance = (cursor.u16() << 16) >> 16;
    if (!taken) return;
    const target = cursor.at + distance;
    if (target < 0 || target > cursor.end) throw new DwarfError(damagedDwarf().expressionJumpsOutside());
    cursor.at = target;
  }

  /** A value that decides something must be known now. */
  #known(): bigint {
    const value = this.#pop();
    if (value.kind !== "constant") throw new Unknowable(variableReasons().dependsOnComparison());
    return value.value;
  }

  /** The width of an integer type that an operation names. */
  #integer(offset: number): number {
    const type = this.#place.unit.entryAt(this.#place.unit.header.offset + offset);
    const encoding = type.number(AT.encoding);
    // DW_ATE_float and DW_ATE_complex_float: there is no arithmetic on them where probes run.
    if (encoding === 3 || encoding === 4) throw new Unknowable(variableReasons().floatingPoint());
    return type.number(AT.byte_size) ?? 8;
  }

  #converted(value: LocationExpression, type: number): LocationExpression {
    const bytes = this.#integer(type);
    const encoding = this.#place.unit.entryAt(this.#place.unit.header.offset + type).number(AT.encoding);
    if (bytes >= 8) return value;
    const shift = constant(BigInt(64 - 8 * bytes));
    // DW_ATE_signed and DW_ATE_signed_char widen by their sign.
    return encoding === 5 || encoding === 6 ? binary(">>", binary("<<", value, shift), shift) : narrowed(value, bytes);
  }

  /** What a register had when the function with a body around it began. */
  #entryValue(bytes: Buffer): void {
    const { address, functionStart, cfa } = this.#place;
    if (address === undefined || functionStart === undefined) throw new Unknowable(variableReasons().dependsOnCall());
    const inner = new Machine({ ...this.#place, address: functionStart });
    const { location, top } = inner.run(bytes);
    const value = location?.kind === "register" ? register(location.register) : top;
    if (value === undefined) throw new Unknowable(variableReasons().entryValueNowhere());
    if (address === functionStart) {
      this.#push(value);
      return;
    }
    const frame = cfa(address);
    if (frame === undefined) throw new Unknowable(variableReasons().callNotTold());
    this.#push({ kind: "at-entry", value, entry: functionStart, cfa: frame });
  }
}

function load(address: LocationExpression, bytes: number): LocationExpression {
  if (bytes !== 1 && bytes !== 2 && bytes !== 4 && bytes !== 8) throw new Unknowable(variableReasons().wideLoad(bytes));
  return { kind: "load", address, bytes };
}

function narrowed(value: LocationExpression, bytes: number): LocationExpression {
  return bytes >= 8 ? value : binary("&", value, constant((1n << BigInt(8 * bytes)) - 1n));
}
