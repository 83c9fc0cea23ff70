// Arguments and return values that are known as registers alone, in the words of a function's declaration.
import { sizeOf } from "../language/layout.ts";
import type { Type } from "../language/types.ts";

export interface Declared {
  readonly name: string;
  readonly type: Type;
}

/** Of the System V convention of x86-64, and of ftrace: what is in no register is not known. */
const registerBytes = 8;
const unknown = "?";

/** `12`, `-1`, `true`, `0xffff888003a4b000`; `?` of what is no number. */
export function registerText(type: Type, register: bigint): string {
  switch (type.kind) {
    case "integer":
      return String(type.signed ? BigInt.asIntN(type.bits, register) : BigInt.asUintN(type.bits, register));
    case "boolean":
      return (register & 0xffn) === 0n ? "false" : "true";
    case "enum": {
      const value = type.signed ? BigInt.asIntN(type.bits, register) : BigInt.asUintN(type.bits, register);
      return type.names.get(value) ?? String(value);
    }
    case "pointer":
      return `0x${register.toString(16)}`;
    default:
      return unknown;
  }
}

/** `file=0xffff888003a4b000, count=512`. A struct takes the registers that it fills, or none where those are more than two. */
export function argumentsText(parameters: readonly Declared[], registers: BigUint64Array): string {
  let next = 0;
  return parameters
    .map(({ name, type }) => {
      const isStruct = type.kind === "struct";
      const words = isStruct ? Math.ceil(sizeOf(type) / registerBytes) : 1;
      const at = next;
      if (words <= 2 && at + words <= registers.length) next += words;
      else return `${name}=${unknown}`;
      return `${name}=${registerText(type, registers[at])}`;
    })
    .join(", ");
}
