// Functions that a compiler or linker made one of because their code was equal, as far as debug information tells.
import { AT, TAG } from "./constants.ts";
import type { DebugType } from "./facts.ts";
import { nameOf } from "./names.ts";
import { instancesOf } from "./scopes.ts";
import { typeOf } from "./types.ts";
import type { Entry, Unit } from "./units.ts";

/** Assembly language of any machine. */
const DW_LANG_Mips_Assembler = 0x8001;
/** Functions of one unit that are looked at. */
const most = 2048;

/**
 * It is the sources' own text of a function, whether or not there is code of it. In assembly language that is not so: each
 * label of one place is a function of its own there.
 */
export function isDefinition(entry: Entry): boolean {
  const { origin } = entry;
  return (
    origin.tag === TAG.subprogram &&
    !origin.has(AT.declaration) &&
    origin.unit.root.number(AT.language) !== DW_LANG_Mips_Assembler
  );
}

/**
 * Names of functions in the same source that GCC left no code of, though it inlined them nowhere, and that have
 * parameters, locals and results of the same types: where -fipa-icf makes one function of two, nothing else is left of the second.
 */
export function withoutCode(entry: Entry): readonly string[] {
  const { origin } = entry;
  const { unit } = origin;
  if (!(unit.root.text(AT.producer) ?? "").startsWith("GNU ")) return [];
  const found: string[] = [];
  let wanted: string | undefined;
  for (const other of lostIn(unit)) {
    const name = nameOf(other);
    if (other.sectionOffset === origin.sectionOffset || name === undefined) continue;
    if (shapeOf(other) === (wanted ??= shapeOf(origin))) found.push(name);
  }
  return found;
}

/**
 * Whether all that GCC left of a function is a thunk: its symbol is there, the function's own entry has no code, and the
 * jump to the other function is described nowhere.
 */
export function isLeftAsThunk(unit: Unit, name: string): boolean {
  if (!(unit.root.text(AT.producer) ?? "").startsWith("GNU ")) return false;
  for (const other of lostIn(unit)) if (nameOf(other) === name) return true;
  return false;
}

/** Functions that there is no code of, and that were not inlined either. */
function* lostIn(unit: Unit): Iterable<Entry> {
  let looked = 0;
  for (const index of unit.entriesOfShape(
    ({ tag, attributes }) =>
      tag === TAG.subprogram &&
      !attributes.includes(AT.low_pc) &&
      !attributes.includes(AT.ranges) &&
      !attributes.includes(AT.inline) &&
      !attributes.includes(AT.declaration) &&
      !attributes.includes(AT.abstract_origin),
  )) {
    if (looked++ >= most) return;
    const entry = unit.entry(index);
    if (instancesOf(entry).length === 0) yield entry;
  }
}

/** Types of the result, the parameters and the locals, block by block, as far as machine code can tell them apart. */
function shapeOf(entry: Entry): string {
  return `${kindOf(typeOf(entry))}${variablesOf(entry, 0)}`;
}

function variablesOf(scope: Entry, depth: number): string {
  const found: string[] = [];
  for (const child of scope.children()) {
    if (child.tag === TAG.formal_parameter || child.tag === TAG.variable) found.push(kindOf(typeOf(child)));
    else if (child.tag === TAG.lexical_block && depth < 32) {
      const inner = variablesOf(child, depth + 1);
      if (inner !== "()") found.push(inner);
    }
  }
  return `(${found.join()})`;
}

function kindOf(type: DebugType, depth = 0): string {
  switch (type.kind) {
    case "typedef":
      return depth < 32 ? kindOf(type.target(), depth + 1) : "?";
    case "base":
      return `${type.encoding === "float" ? "float" : "integer"} ${type.bytes}`;
    case "enum":
      return `integer ${type.bytes}`;
    case "struct":
      return `${type.kind} ${type.bytes}`;
    case "pointer":
      return "integer 8";
    default:
      return type.kind;
  }
}
