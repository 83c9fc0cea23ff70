// DWARF expressions as call frame information has them: registers, constants, arithmetic and loads, no branches. Run
// symbolically (DWARF 5, section 2.5).
import type { LocationExpression } from "./dwarf/facts.ts";

/** More would not be call frame information. */
const stackMost = 64;
/** Operations of a result, which may share parts: `dup` in a row would double it each time. */
const sizeMost = 256;

type Operator = Extract<LocationExpression, { kind: "binary" }>["operator"];

const binaryOperators: Readonly<Record<number, Operator>> = {
  0x1a: "&",
  0x1b: "/",
  0x1c: "-",
  0x1d: "%",
  0x1e: "*",
  0x21: "|",
  0x22: "+",
  0x24: "<<",
  0x25: ">>>",
  0x26: ">>",
  0x27: "^",
};

/** `cfa` is what registers' rules begin with; a CFA's own rule begins with nothing. undefined: cannot be followed. */
export function frameExpression(bytes: Buffer, cfa: LocationExpression | undefined): LocationExpression | undefined {
  const stack: { readonly value: LocationExpression; readonly size: number }[] =
    cfa === undefined ? [] : [{ value: cfa, size: 3 }];
  let at = 0;
  const fail = Symbol("fail");
  const byte = (): number => {
    if (at >= bytes.length) throw fail;
    return bytes[at++];
  };
  const fixed = (length: number, signed: boolean): bigint => {
    if (at + length > bytes.length) throw fail;
    let value = 0n;
    for (let i = length - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[at + i]);
    at += length;
    return signed ? BigInt.asIntN(length * 8, value) : value;
  };
  const leb = (signed: boolean): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const part = byte();
      value |= BigInt(part & 0x7f) << shift;
      if (part < 0x80) return signed && (part & 0x40) !== 0 ? value - (1n << (shift + 7n)) : value;
    }
    throw fail;
  };
  const push = (value: LocationExpression, size = 1): void => {
    if (stack.length >= stackMost || size > sizeMost) throw fail;
    stack.push({ value, size });
  };
  const pop = (): { readonly value: LocationExpression; readonly size: number } => {
    const top = stack.pop();
    if (top === undefined) throw fail;
    return top;
  };
  const constant = (value: bigint): LocationExpression => ({ kind: "constant", value });
  const binary = (operator: Operator, left: LocationExpression, right: LocationExpression): LocationExpression => ({
    kind: "binary",
    operator,
    left,
    right,
  });
  const plus = (left: LocationExpression, right: bigint): LocationExpression =>
    right === 0n ? left : binary("+", left, constant(right));
  /** 1 when the difference is negative: exact for what frames compare, which is far from 2^63. */
  const isBelow = (left: LocationExpression, right: LocationExpression): LocationExpression =>
    binary(">>>", binary("-", left, right), constant(63n));
  try {
    while (at < bytes.length) {
      const code = byte();
      if (code >= 0x30 && code <= 0x4f) push(constant(BigInt(code - 0x30)));
      else if (code >= 0x70 && code <= 0x8f) push(plus({ kind: "register", register: code - 0x70 }, leb(true)), 3);
      else if (code in binaryOperators) {
        const right = pop();
        const left = pop();
        push(binary(binaryOperators[code], left.value, right.value), left.size + right.size + 1);
      } else {
        switch (code) {
          case 0x03:
            push({ kind: "static", address: fixed(8, false) });
            break;
          case 0x06: {
            const { value, size } = pop();
            push({ kind: "load", address: value, bytes: 8 }, size + 1);
            break;
          }
          case 0x94: {
            const length = byte();
            const { value, size } = pop();
            if (length !== 1 && length !== 2 && length !== 4 && length !== 8) throw fail;
            push({ kind: "load", address: value, bytes: length }, size + 1);
            break;
          }
          case 0x08:
            push(constant(fixed(1, false)));
            break;
          case 0x09:
            push(constant(fixed(1, true)));
            break;
          case 0x0a:
            push(constant(fixed(2, false)));
            break;
          case 0x0b:
            push(constant(fixed(2, true)));
            break;
          case 0x0c:
            push(constant(fixed(4, false)));
            break;
          case 0x0d:
            push(constant(fixed(4, true)));
            break;
          case 0x0e:
            push(constant(fixed(8, false)));
            break;
          case 0x0f:
            push(constant(fixed(8, true)));
            break;
          case 0x10:
            push(constant(leb(false)));
            break;
          case 0x11:
            push(constant(leb(true)));
            break;
          case 0x12: {
            const top = pop();
            push(top.value, top.size);
            push(top.value, top.size);
            break;
          }
          case 0x13:
            pop();
            break;
          case 0x14: {
            // over
            const top = pop();
            const below = pop();
            for (const { value, size } of [below, top, below]) push(value, size);
            break;
          }
          case 0x16: {
            const top = pop();
            const below = pop();
            push(top.value, top.size);
            push(below.value, below.size);
            break;
          }
          case 0x1f: {
            const { value, size } = pop();
            push({ kind: "unary", operator: "-", operand: value }, size + 1);
            break;
          }
          case 0x20: {
            const { value, size } = pop();
            push({ kind: "unary", operator: "~", operand: value }, size + 1);
            break;
          }
          case 0x23: {
            const { value, size } = pop();
            push(plus(value, leb(false)), size + 2);
            break;
          }
          case 0x2a:
          case 0x2b:
          case 0x2c:
          case 0x2d: {
            // ge gt le lt: of linkers' procedure linkage tables
            const right = pop();
            const left = pop();
            const below =
              code === 0x2a || code === 0x2d ? isBelow(left.value, right.value) : isBelow(right.value, left.value);
            const inverted = code === 0x2a || code === 0x2c;
            push(inverted ? binary("^", below, constant(1n)) : below, left.size + right.size + 4);
            break;
          }
          case 0x92: {
            const register = Number(leb(false));
            push(plus({ kind: "register", register }, leb(true)), 3);
            break;
          }
          case 0x96:
            break;
          default:
            return undefined;
        }
      }
    }
    return stack.length > 0 ? pop().value : undefined;
  } catch (error) {
    if (error === fail) return undefined;
    throw error;
  }
}
