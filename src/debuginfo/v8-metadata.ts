// V8: where its objects keep what names a function, as its binary tells debuggers (tools/gen-postmortem-metadata.py of
// V8: numbers of the names `v8dbg_…`), and what copies of those objects mean.
import { ElfError, type Elf } from "./elf.ts";
import type { ElfSymbols } from "./elf-symbols.ts";
import { exportedAddress } from "./symbol-hash.ts";
import { Failure } from "../base/failure.ts";
import { damagedElf, interpreterReasons } from "../messages/on-demand.ts";

/** Offsets in bytes from the beginning of an object; types as numbers. See `v8` in compiler/layouts/unwind-layout.ts. */
export interface V8Facts {
  readonly shared: number;
  readonly functionType: number;
  readonly name: number;
  readonly script: number;
  readonly literal: number;
  readonly scriptType: number;
  readonly scriptName: number;
  readonly scriptId: number;
  readonly scopeType: number;
  /** In words behind an object's map. */
  readonly scopeNames: number;
}

/** Versions have other names for some. */
const numbers = {
  smi: ["SmiShiftSize"],
  shared: ["class_JSFunction__shared__SharedFunctionInfo"],
  functionType: ["type_JSFunction__JS_FUNCTION_TYPE"],
  name: [
    "class_SharedFunctionInfo__name_or_scope_info__Object",
    "class_SharedFunctionInfo__name_or_scope_info__Tagged_NameOrScopeInfoT_",
  ],
  script: [
    "class_SharedFunctionInfo__script_or_debug_info__HeapObject",
    "class_SharedFunctionInfo__script__Tagged_HeapObject_",
  ],
  flags: ["class_SharedFunctionInfo__flags__int"],
  scriptType: ["type_Script__SCRIPT_TYPE"],
  scriptName: ["class_Script__name__Object"],
  lineEnds: ["class_Script__line_ends__Object"],
  scopeType: ["type_ScopeInfo__SCOPE_INFO_TYPE"],
  scopeNames: ["scopeinfo_idx_first_vars"],
} as const;

/** undefined: not V8. A text: why its functions cannot be told. @throws ElfError */
export function v8Facts(elf: Elf, symbols: ElfSymbols): V8Facts | Failure | undefined {
  const known: Partial<Record<keyof typeof numbers, number>> = {};
  for (const [name, spellings] of Object.entries(numbers) as [keyof typeof numbers, readonly string[]][]) {
    // Exported by Node itself; V8 as a library of its own may have them among its other symbols.
    const address =
      firstOf(spellings, (spelling) => exportedAddress(elf, `v8dbg_${spelling}`)) ??
      firstOf(spellings, (spelling) => symbols.find(`v8dbg_${spelling}`)?.address);
    if (address !== undefined) known[name] = numberAt(elf, address);
    else if (name === "smi") return undefined;
  }
  const { smi, shared, functionType, name, script, flags, scriptType, scriptName, lineEnds, scopeType, scopeNames } =
    known;
  if (elf.machine !== "x86-64" || smi !== 31) return new Failure(interpreterReasons().compressedPointers());
  if (
    shared === undefined ||
    functionType === undefined ||
    name === undefined ||
    script === undefined ||
    flags === undefined ||
    scriptType === undefined
  )
    return new Failure(interpreterReasons().namesNotTold());
  if (
    scriptName === undefined ||
    lineEnds === undefined ||
    scopeType === undefined ||
    (scopeNames !== 3 && scopeNames !== 5)
  )
    return new Failure(interpreterReasons().namesNotTold());
  // The numbers of a function and of a script follow what is told (src/objects/shared-function-info.tq, script.tq).
  return {
    shared,
    functionType,
    name,
    script,
    literal: flags + 4,
    scriptType,
    scriptName,
    scriptId: lineEnds + 8,
    scopeType,
    scopeNames,
  };
}

function firstOf<T, R>(all: readonly T[], of: (one: T) => R | undefined): R | undefined {
  for (const one of all) {
    const found = of(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

function numberAt(elf: Elf, address: bigint): number {
  const offset = elf.fileOffset(address);
  if (offset !== undefined) return elf.read(Number(offset), 4).readInt32LE();
  // What is zero need not be in the file.
  if (elf.segments.some((segment) => address >= segment.address && address < segment.address + segment.memorySize))
    return 0;
  throw new ElfError(damagedElf().symbolOutside());
}

/**
 * Of a string's type: seven kinds of representation, here those that have their characters in them; characters of one
 * byte.
 */
const representation = 7;
const oneByte = 8;
const characters = 16;

/**
 * A string as the unwinder copied it (compiler/layouts/unwind-layout.ts), and its other part: cut where it is longer; undefined
 * where there is none.
 */
export function v8Text(bytes: Buffer, rest?: Buffer): string | undefined {
  const [type, length, copied] = [bytes.readUInt32LE(0), bytes.readUInt32LE(4), bytes.readUInt32LE(12)];
  if (type === 0 && length === 0) return undefined; // nothing was copied
  if ((type & representation) !== 0) return undefined;
  const width = (type & oneByte) === 0 ? 2 : 1;
  const held = Math.min(copied, Math.floor((bytes.length - characters) / width));
  const text = bytes.subarray(characters, characters + held * width).toString(width === 1 ? "latin1" : "utf16le");
  const zero = text.indexOf("\0");
  const read = (zero < 0 ? text : text.slice(0, zero)).replaceAll(
    /\p{Cc}/gu,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
  if (zero < 0 && held === copied && held < length && rest !== undefined) return read + (v8Text(rest) ?? "..");
  return zero >= 0 || held < length ? `${read}..` : read;
}

/**
 * Bits of a scope's flags (src/objects/scope-info.tq): how its function's name is kept, if at all; whether a name was
 * inferred.
 */
const nameBits = 3 << 12;
const inferredBit = 1 << 14;
const smiShift = 32n;

export interface V8Scope {
  readonly named: boolean;
  readonly inferred: boolean;
  readonly start: number | undefined;
}

/**
 * What a scope's description tells of its function: its first words, and those from the function's name on. undefined
 * for none.
 */
export function v8Scope(scope: Buffer, behind: Buffer, scopeNames: number): V8Scope | undefined {
  if (scope.readBigUInt64LE(0) === 0n) return undefined;
  // A small number, in the upper half of its word, or since V8 13 half a word.
  const flags = scope.readUInt32LE(8) | scope.readUInt32LE(12);
  const [named, inferred] = [(flags & nameBits) !== 0, (flags & inferredBit) !== 0];
  // The place in the source stands before the variables since V8 12, and behind the names before.
  const start =
    scopeNames === 5 ? scope.readBigInt64LE(32) : behind.readBigInt64LE((named ? 16 : 0) + (inferred ? 8 : 0));
  const small = (start & 0xffff_ffffn) === 0n && start >= 0n;
  return { named, inferred, start: small ? Number(start >> smiShift) : undefined };
}
