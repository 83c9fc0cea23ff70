// Functions as the sources have them, made of the entries of one: its body and its inlined copies.
import { AT } from "./constants.ts";
import { exactAddress } from "./cursor.ts";
import type { AddressRange, FunctionInstance, SourceFunction, SourceLanguage, Variable } from "./facts.ts";
import type { LineTables } from "./line-tables.ts";
import { linkageNameOf, nameOf, qualifiedName } from "./names.ts";
import type { Positions } from "./positions.ts";
import { entryAddress, rangesOf, type Range } from "./ranges.ts";
import { bodyAround, type Instance } from "./scopes.ts";
import { typeOf } from "./types.ts";
import type { Entry, Unit } from "./units.ts";
import { type EntryVariable, parametersOf, type Surroundings } from "./variables.ts";

/** DW_INL_inlined, DW_INL_declared_inlined (DWARF 5, table 7.20). */
const INLINED: ReadonlySet<number> = new Set([1, 3]);

/** What functions need to know of the file they are in. */
export interface FunctionSurroundings extends Surroundings {
  readonly positions: Positions;
  readonly lines: LineTables;
}

/** DW_CC_nocall */
const NOCALL = 3;

/** A function of the sources with the instances that are known of it. `entry`: any of its entries. */
export function sourceFunction(
  entry: Entry,
  instances: readonly Instance[],
  around: FunctionSurroundings,
): SourceFunction {
  const linkageName = linkageNameOf(entry);
  const result = typeOf(entry);
  const { positions, lines } = around;
  const declared = positions.declared(entry);
  // Go says where its functions begin in their lines only.
  const position = declared.line === 0 ? (lines.positionAt(entry.unit, instances[0].start) ?? declared) : declared;
  const producer = (instances[0]?.entry ?? entry).unit.root.text(AT.producer);
  const shown = instances.map((instance) => functionInstance(instance, around));
  let parameters: readonly Variable[] | undefined;
  return {
    name: nameOf(entry) ?? "",
    qualifiedName: qualifiedName(entry),
    ...(linkageName !== undefined && { linkageName }),
    language: languageOf(entry.origin.unit),
    declared: position,
    instances: shown,
    inlined: INLINED.has(entry.withAttribute(AT.inline)?.number(AT.inline) ?? 0),
    external: entry.withAttribute(AT.external)?.flag(AT.external) === true,
    altered: entry.withAttribute(AT.calling_convention)?.number(AT.calling_convention) === NOCALL,
    ...(producer !== undefined && { producer }),
    // Asks every unit for its name, which only who looks for a function by its name needs to know.
    get confined() {
      return isInlinedNowhereElse(entry) || (isOfOneFile(entry) && declared.file === positions.unitFile(entry.unit));
    },
    get parameters() {
      return (parameters ??= parametersOf(entry, around).map((each, i) => inAnyCopy(each, i, shown)));
    },
    ...(result.kind !== "void" && { result }),
  };
}

function functionInstance(instance: Instance, around: FunctionSurroundings): FunctionInstance {
  const { entry } = instance;
  const body = instance.inlined ? bodyAround(entry) : undefined;
  const caller = body && callerOf(entry, body, around.positions);
  let parameters: readonly Variable[] | undefined;
  return {
    kind: instance.inlined ? "inlined" : "body",
    entry: exactAddress(instance.start),
    ranges: exactRanges(instance.ranges),
    ...(instance.inlined && entry.has(AT.entry_pc) && { entryTold: true }),
    ...(caller !== undefined && { caller }),
    get parameters() {
      return (parameters ??= parametersOf(entry, around));
    },
  };
}

function callerOf(copy: Entry, body: Entry, positions: Positions): NonNullable<FunctionInstance["caller"]> {
  let code: readonly Range[] | undefined;
  const ranges = (): readonly Range[] => (code ??= rangesOf(body));
  return {
    name: qualifiedName(body),
    position: positions.called(copy),
    get entry() {
      return exactAddress(entryAddress(body, ranges()));
    },
    get ranges() {
      return exactRanges(ranges());
    },
  };
}

export function exactRanges(ranges: readonly Range[]): AddressRange[] {
  return ranges.map(({ low, high }) => ({ low: exactAddress(low), high: exactAddress(high) }));
}

/** A function of C that others call, and that nobody declared inline, has its copies in its own unit only. */
export function isInlinedNowhereElse(entry: Entry): boolean {
  return (
    isCompiledAlone(entry) &&
    entry.withAttribute(AT.external) !== undefined &&
    entry.withAttribute(AT.inline) === undefined
  );
}

/** A static function of C, all of whose debug information is in this unit. */
function isOfOneFile(entry: Entry): boolean {
  return isCompiledAlone(entry) && entry.withAttribute(AT.external) === undefined;
}

/** Of C, and not of a program that was optimised as it was linked: there, copies are in any unit. */
function isCompiledAlone(entry: Entry): boolean {
  const { unit } = entry.origin;
  return languageOf(unit) === "c" && unit === entry.unit && !unit.file.repeatsUnits;
}

/** In the location of a function's parameter, the copy that runs at the address answers. */
function inAnyCopy(parameter: EntryVariable, index: number, instances: readonly FunctionInstance[]): Variable {
  return {
    name: parameter.name,
    kind: "parameter",
    get type() {
      return parameter.type;
    },
    get declared() {
      return parameter.declared;
    },
    location: (address) => {
      const holding = instances.filter(({ ranges }) =>
        ranges.some(({ low, high }) => address >= low && address < high),
      );
      const copy = holding.find(({ kind }) => kind === "inlined") ?? holding[0];
      return (copy?.parameters[index] ?? parameter).location(address);
    },
  };
}

function languageOf(unit: Unit): SourceLanguage {
  // DW_LANG_*: C 89 to 17; C++ 98 to 20; Rust; Go.
  switch (unit.root.number(AT.language)) {
    case 0x01:
    case 0x02:
    case 0x0c:
    case 0x1d:
    case 0x2c:
      return "c";
    case 0x04:
    case 0x19:
    case 0x1a:
    case 0x21:
    case 0x2a:
    case 0x2b:
      return "c++";
    case 0x1c:
      return "rust";
    case 0x16:
      return "go";
    default:
      return "other";
  }
}
