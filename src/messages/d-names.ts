// Scripts in D: names of variables, and keys, in DTrace's words and with its tags.
import { tagged, type Message } from "./message.ts";

export const dNames = {
  /** @example BEGIN { x = nosuch; } */
  unknownVariable: (name: string, help?: string): Message =>
    tagged("D_IDENT_UNDEF", "name", `failed to resolve ${name}: Unknown variable name`, help),
  /** Of DTrace's command, for a symbol that the kernel does not have. */
  unknownSymbol: (name: string): Message =>
    tagged("D_IDENT_UNDEF", "name", `failed to resolve ${name}: Unknown symbol name`),
  /**
   * @on small-kernel
   * @example BEGIN { x = nosuch`symbol; }
   */
  unknownModule: (symbol: string): Message =>
    tagged("D_IDENT_UNDEF", "name", `failed to resolve ${symbol}: Module is no longer loaded`),
  /** @example BEGIN { @a += count(); } */
  unassigned: (name: string): Message => tagged("D_VAR_UNDEF", "name", `${name} has not yet been declared or assigned`),
  /** @example BEGIN { x = sizeof (strlen); } */
  notAScalar: (what: string, name: string): Message =>
    tagged("D_IDENT_BADREF", "type", `${what} '${name}' may not be referenced as scalar`),
  /** @example int a[5]; BEGIN { a[5] = 1; } */
  indexOutside: (index: bigint, size: number): Message =>
    tagged("D_ARR_BOUNDS", "name", `index outside array bounds: ${BigInt.asUintN(64, index)}, max is ${size}`),
  /** @example BEGIN { x = uregs["x"]; } */
  indexType: (name: string, argument: string): Message =>
    tagged(
      "D_PROTO_ARG",
      "type",
      `${name}[ ] argument #1 is incompatible with prototype:\n\tprototype: integer constant\n\t argument: ${argument}`,
    ),
  /** @example BEGIN { @a[1] = count(); @a = count(); } */
  keyCount: (name: string, given: number, wanted: number): Message =>
    tagged(
      "D_PROTO_LEN",
      "arguments",
      `${name}[ ] prototype mismatch: ${given} key${given === 1 ? "" : "s"} passed, ${wanted} expected`,
    ),
  /**
   * @example
   * int a[int];
   * BEGIN { a["x"] = 1; }
   */
  keyType: (name: string, number: number, prototype: string, key: string): Message =>
    tagged(
      "D_PROTO_ARG",
      "type",
      `${name}[ ] key #${number} is incompatible with prototype:\n\tprototype: ${prototype}\n\t      key: ${key}`,
    ),
  /** @example BEGIN { a[(void)0] = 1; } */
  voidKey: (number: number): Message =>
    tagged("D_KEY_TYPE", "type", `void expression may not be used as associative array index: key #${number}`),
  /** @example BEGIN { @a = count(); @b[@a] = count(); } */
  aggregationKey: (of: string, number: number): Message =>
    tagged("D_KEY_TYPE", "type", `aggregation expression may not be used as ${of} index: key #${number}`),
  /** @example BEGIN { this->a["x"] = 1; } */
  localArray: (name: string): Message =>
    tagged("D_ARR_LOCAL", "type", `local variables may not be used as associative arrays: ${name}`),
} as const;
