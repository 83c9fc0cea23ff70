// How the scan for names passes over entries of one shape, and what it takes from them on the way.
import type { Abbreviation } from "./abbreviations.ts";
import { AT, TAG } from "./constants.ts";
import { stepOf, type Encoding } from "./forms.ts";

export const KIND = {
  skip: 0,
  unit: 1,
  scope: 2,
  type: 3,
  plainType: 4,
  function: 5,
  variable: 6,
  inlined: 7,
  staticMember: 8,
} as const;
export const CAPTURE = {
  name: 1,
  linkage: 2,
  sibling: 3,
  declaration: 4,
  origin: 5,
  low: 6,
  inline: 7,
  location: 8,
  textBase: 9,
  constant: 10,
} as const;

/** How entries of one shape are passed over: `steps` with a capture behind each (0: none), and its form. */
export interface Shape {
  readonly kind: number;
  readonly tag: number;
  readonly children: boolean;
  readonly steps: Int32Array;
  readonly captures: Uint8Array;
  readonly forms: Uint16Array;
  readonly sibling: boolean;
}

function kindOf(tag: number): number {
  switch (tag) {
    case TAG.compile_unit:
    case TAG.partial_unit:
    case TAG.type_unit:
    case TAG.skeleton_unit:
      return KIND.unit;
    case TAG.namespace:
    case TAG.module:
      return KIND.scope;
    case TAG.structure_type:
    case TAG.class_type:
    case TAG.union_type:
    case TAG.interface_type:
      return KIND.type;
    case TAG.enumeration_type:
    case TAG.typedef:
    case TAG.base_type:
      return KIND.plainType;
    case TAG.subprogram:
      return KIND.function;
    case TAG.variable:
      return KIND.variable;
    case TAG.inlined_subroutine:
      return KIND.inlined;
    default:
      return KIND.skip;
  }
}

function captureOf(attribute: number, kind: number): number {
  switch (attribute) {
    case AT.sibling:
      return CAPTURE.sibling;
    case AT.str_offsets_base:
      return kind === KIND.unit ? CAPTURE.textBase : 0;
    case AT.abstract_origin:
    case AT.specification:
      return CAPTURE.origin;
    case AT.low_pc:
    case AT.ranges:
      return CAPTURE.low;
    default:
  }
  if (kind === KIND.skip || kind === KIND.unit || kind === KIND.inlined) return 0;
  switch (attribute) {
    case AT.name:
      return CAPTURE.name;
    case AT.linkage_name:
    case AT.MIPS_linkage_name:
      return CAPTURE.linkage;
    case AT.declaration:
      return CAPTURE.declaration;
    case AT.inline:
      return CAPTURE.inline;
    case AT.location:
      return CAPTURE.location;
    case AT.const_value:
      return CAPTURE.constant;
    default:
      return 0;
  }
}

export function shapeOf(abbreviation: Abbreviation, header: Encoding): Shape {
  // Before DWARF 5 a class declares its static variables as members.
  const isStatic = abbreviation.tag === TAG.member && abbreviation.attributes.includes(AT.declaration);
  const kind = isStatic ? KIND.staticMember : kindOf(abbreviation.tag);
  const steps: number[] = [],
    captures: number[] = [],
    forms: number[] = [];
  let sibling = false;
  abbreviation.forms.forEach((form, i) => {
    const step = stepOf(form, header);
    const capture = captureOf(abbreviation.attributes[i], kind);
    if (capture === CAPTURE.sibling) sibling = true;
    const last = steps.length - 1;
    if (capture === 0 && step >= 0 && last >= 0 && captures[last] === 0 && steps[last] >= 0) steps[last] += step;
    else {
      steps.push(step);
      captures.push(capture);
      forms.push(form);
    }
  });
  return {
    kind,
    tag: abbreviation.tag,
    children: abbreviation.children,
    sibling,
    steps: Int32Array.from(steps),
    captures: Uint8Array.from(captures),
    forms: Uint16Array.from(forms),
  };
}
