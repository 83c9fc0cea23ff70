// One pass over the entries of many units, for the index of names. Hot: no object an entry, no text decoded but that of
// new names. Runs in worker threads for large files, so it takes plain buffers.
//
// A name is kept as a hash (FNV-1a, 32 bits) with the offset of the entry; whoever looks one up compares the real name
// then. A function goes by its plain name, its qualified one, both without template arguments, and its linkage name.
import { firstIndex } from "../../base/first-index.ts";
import type { Abbreviation } from "./abbreviations.ts";
import { AT, FORM, TAG } from "./constants.ts";
import { Cursor } from "./cursor.ts";
import { STEP, takeStep } from "./forms.ts";
import { HASH_START, hashBytes, hashOf, hashWithin } from "./name-hash.ts";
import { GrowingPairs, type Pairs, SeenNumbers } from "./pairs.ts";
import { isDropped } from "./ranges.ts";
import { CAPTURE, KIND, shapeOf, type Shape } from "./scan-shapes.ts";
import type { UnitHeader } from "./unit-headers.ts";

export interface ScanInput {
  /** Headers of the units to scan and their bytes. */
  readonly units: Iterable<{ readonly header: UnitHeader; readonly bytes: Buffer }>;
  readonly abbreviations: (offset: number) => (code: number) => Abbreviation;
  /** Sections that names lie in. */
  readonly text: Buffer;
  readonly lineText: Buffer;
  readonly alternateText: Buffer;
  /** .debug_str_offsets, for units that number their texts. */
  readonly textOffsets: Buffer;
}

export interface ScanResult {
  readonly functions: Pairs;
  readonly variables: Pairs;
  readonly types: Pairs;
  /** Qualified names of functions, each once, ended by NUL. */
  readonly functionNames: Buffer;
  /** Entries whose names lie in other units: entry offset, target offset; and in the alternate file. */
  readonly foreign: Pairs;
  readonly alternate: Pairs;
}

/** Which section of texts a name is in, above its offset. */
const TEXT = { str: 0, info: 1, line: 2, alternate: 3 } as const;
const SPAN = 2 ** 40;
const MASK_DECLARED = 1,
  MASK_LOW = 2,
  MASK_INLINE = 4,
  MASK_LOCATION = 8,
  MASK_DROPPED = 16;

export function scanUnits(input: ScanInput, progress: (bytes: number) => void = () => {}): ScanResult {
  const scanner = new Scanner(input);
  for (const { header, bytes } of input.units) {
    scanner.unit(header, bytes);
    progress(bytes.length);
  }
  return scanner.result();
}

class Scanner {
  readonly #input: ScanInput;
  readonly #functions = new GrowingPairs();
  readonly #variables = new GrowingPairs();
  readonly #types = new GrowingPairs();
  readonly #foreign = new GrowingPairs();
  readonly #alternate = new GrowingPairs();
  readonly #seenTypes = new SeenNumbers();
  readonly #seenNames = new SeenNumbers();
  #names: string[] = [];
  readonly #nameParts: Buffer[] = [];

  // Of the unit at hand.
  #bytes: Buffer = Buffer.alloc(0);
  #header!: UnitHeader;
  #textBase = 0;
  /** Scopes: hash of the qualified name, the same without template arguments, the name, the scope around. */
  readonly #scopeHash: number[] = [];
  readonly #scopeBare: number[] = [];
  readonly #scopeName: number[] = [];
  readonly #scopeParent: number[] = [];
  /** Functions and variables with a name, in order of offset: what definitions refer back to. */
  readonly #namedAt: number[] = [];
  readonly #namedName: number[] = [];
  readonly #namedLinkage: number[] = [];
  readonly #namedScope: number[] = [];
  /** Definitions whose names are elsewhere in the unit. */
  readonly #waiting: {
    readonly at: number;
    readonly target: number;
    readonly variable: boolean;
    readonly linkage: number;
  }[] = [];
  readonly #foreignTargets = new Set<number>();
  // Of the text that `#locate` found.
  #textBytes: Buffer = Buffer.alloc(0);
  #textFrom = 0;
  #textTo = 0;

  constructor(input: ScanInput) {
    this.#input = input;
  }

  result(): ScanResult {
    this.#flushNames();
    return {
      functions: this.#functions.done(),
      variables: this.#variables.done(),
      types: this.#types.done(),
      foreign: this.#foreign.done(),
      alternate: this.#alternate.done(),
      functionNames: Buffer.concat(this.#nameParts),
    };
  }

  #flushNames(): void {
    if (this.#names.length > 0) this.#nameParts.push(Buffer.from(`${this.#names.join("\0")}\0`));
    this.#names = [];
  }

  unit(header: UnitHeader, bytes: Buffer): void {
    this.#header = header;
    this.#bytes = bytes;
    this.#textBase = header.version < 5 ? 0 : header.offsetSize === 8 ? 16 : 8;
    this.#scopeHash.length = this.#scopeBare.length = this.#scopeName.length = this.#scopeParent.length = 0;
    this.#namedAt.length = this.#namedName.length = this.#namedLinkage.length = this.#namedScope.length = 0;
    this.#waiting.length = 0;
    this.#foreignTargets.clear();
    this.#scopeHash.push(HASH_START);
    this.#scopeBare.push(HASH_START);
    this.#scopeName.push(-1);
    this.#scopeParent.push(-1);
    this.#walk();
    for (const { at, target, variable, linkage } of this.#waiting) this.#resolve(at, target, variable, linkage);
  }

  #walk(): void {
    const header = this.#header;
    const bytes = this.#bytes;
    const base = header.offset;
    const abbreviation = this.#input.abbreviations(header.abbreviations);
    const shapes: Shape[] = [];
    const cursor = new Cursor(bytes, header.first - base);
    // The scope around what comes, for each level of nesting; -1 in functions, where only copies matter.
    const scopes: number[] = [];
    let scope = 0;
    let crossing = false;
    while (cursor.at < cursor.end) {
      const at = cursor.at;
      const code = cursor.uleb();
      if (code === 0) {
        const outer = scopes.pop();
        if (outer === undefined) break;
        scope = outer;
        continue;
      }
      let shape = shapes[code];
      if (shape === undefined) {
        shape = shapeOf(abbreviation(code), header);
        if (code < 1 << 16) shapes[code] = shape;
      }
      const { steps, captures, forms, kind } = shape;
      let name = -1,
        linkage = -1,
        sibling = -1,
        origin = -1,
        flags = 0,
        alternate = false;
      for (let i = 0; i < steps.length; i++) {
        const step = steps[i];
        const capture = captures[i];
        if (capture !== 0) {
          const from = cursor.at;
          const form = forms[i];
          switch (capture) {
            case CAPTURE.name:
              name = this.#nameAt(form, from);
              break;
            case CAPTURE.linkage:
              linkage = this.#nameAt(form, from);
              break;
            case CAPTURE.sibling:
              sibling = this.#referenceAt(form, from);
              break;
            case CAPTURE.declaration:
              if (form === FORM.flag_present || bytes[from] !== 0) flags |= MASK_DECLARED;
              break;
            case CAPTURE.inline:
              flags |= MASK_INLINE;
              break;
            case CAPTURE.location:
            case CAPTURE.constant:
              flags |= MASK_LOCATION;
              break;
            case CAPTURE.low:
              flags |= MASK_LOW;
              if (form === FORM.addr && isDropped(new Cursor(bytes, from).address(header.addressSize)))
                flags |= MASK_DROPPED;
              break;
            case CAPTURE.textBase:
              this.#textBase = new Cursor(bytes, from).offset(header.offsetSize);
              break;
            case CAPTURE.origin:
              origin = this.#referenceAt(form, from);
              alternate = form === FORM.GNU_ref_alt || form === FORM.ref_sup4 || form === FORM.ref_sup8;
              break;
            default:
          }
        }
        if (step >= 0) cursor.skip(step);
        else if (step === STEP.leb) cursor.skipLeb();
        else takeStep(cursor, step, header);
      }
      let inner = scope;
      let enter = shape.children;
      switch (kind) {
        case KIND.unit:
          crossing = this.#crosses(abbreviation);
          break;
        case KIND.scope:
          if (scope >= 0) inner = this.#newScope(scope, name, "(anonymous namespace)");
          break;
        case KIND.type:
          if (scope < 0) break;
          if (name >= 0 && (flags & MASK_DECLARED) !== 0) this.#named(base + at, name, -1, scope);
          {
            // A type unit declares its type within its namespaces and defines it outside.
            const around = origin >= 0 ? (this.#scopeNamedAt(origin) ?? scope) : scope;
            if (name >= 0 && (flags & MASK_DECLARED) === 0) this.#type(base + at, name, around, shape.tag);
            inner = shape.children ? this.#newScope(around, name, "(anonymous)") : around;
          }
          break;
        case KIND.plainType:
          if (scope >= 0 && name >= 0 && (flags & MASK_DECLARED) === 0) this.#type(base + at, name, scope, shape.tag);
          break;
        case KIND.function:
          if (name >= 0 && scope >= 0) this.#named(base + at, name, linkage, scope);
          if (
            (flags & MASK_DECLARED) === 0 &&
            (flags & (MASK_LOW | MASK_INLINE)) !== 0 &&
            (flags & MASK_DROPPED) === 0
          ) {
            if (name >= 0) this.#function(base + at, name, linkage, Math.max(scope, 0));
            else if (origin >= 0) this.#refer(base + at, origin, alternate, false, linkage);
          }
          // A function's names make a scope as well: local classes.
          inner = -1;
          enter &&= !(shape.sibling && !crossing);
          break;
        case KIND.variable:
          if (scope < 0) break;
          if (name >= 0) this.#named(base + at, name, linkage, scope);
          if ((flags & MASK_DECLARED) === 0 && (flags & MASK_LOCATION) !== 0) {
            if (name >= 0) this.#addNames(this.#variables, base + at, name, linkage, scope);
            else if (origin >= 0) this.#refer(base + at, origin, alternate, true, linkage);
          }
          break;
        case KIND.staticMember:
          if (name >= 0 && scope >= 0) this.#named(base + at, name, linkage, scope);
          break;
        case KIND.inlined:
          if (origin >= 0 && (alternate || origin < base || origin >= header.end) && (flags & MASK_DROPPED) === 0) {
            this.#refer(base + at, origin, alternate, false, -1);
          }
          break;
        default:
          // Enumerators, members of C structures, parameter lists.
          if (shape.sibling && !crossing) enter = false;
      }
      if (!shape.children) continue;
      if (!enter && sibling > base + at && sibling <= header.end) {
        cursor.at = Math.max(cursor.at, sibling - base);
      } else {
        scopes.push(scope);
        scope = inner;
      }
    }
  }

  /** Whether copies of a unit's functions may have their names in other units: linked as a whole, or shared by dwz. */
  #crosses(abbreviation: (code: number) => Abbreviation): boolean {
    for (let code = 1; ; code++) {
      let shape: Abbreviation;
      try {
        shape = abbreviation(code);
      } catch {
        return false;
      }
      if (shape.tag !== TAG.inlined_subroutine && shape.tag !== TAG.subprogram) continue;
      const at = shape.attributes.indexOf(AT.abstract_origin);
      const form = at < 0 ? 0 : shape.forms[at];
      if (form === FORM.ref_addr || form === FORM.GNU_ref_alt || form === FORM.ref_sup4 || form === FORM.ref_sup8)
        return true;
    }
  }

  #named(at: number, name: number, linkage: number, scope: number): void {
    this.#namedAt.push(at);
    this.#namedName.push(name);
    this.#namedLinkage.push(linkage);
    this.#namedScope.push(scope);
  }

  #refer(at: number, target: number, alternate: boolean, variable: boolean, linkage: number): void {
    if (alternate) {
      if (this.#isNew(-target - 1)) this.#alternate.add(at, target);
    } else if (target >= this.#header.offset && target < this.#header.end) {
      this.#waiting.push({ at, target, variable, linkage });
    } else if (this.#isNew(target)) {
      this.#foreign.add(at, target);
    }
  }

  /** One copy a unit leads to all of them. */
  #isNew(target: number): boolean {
    if (this.#foreignTargets.has(target)) return false;
    this.#foreignTargets.add(target);
    return true;
  }

  /** Where in the list of what has a name an entry is; -1. */
  #placeNamed(target: number): number {
    const low = firstIndex(this.#namedAt.length, (i) => this.#namedAt[i] >= target);
    return this.#namedAt[low] === target ? low : -1;
  }

  #scopeNamedAt(target: number): number | undefined {
    const place = this.#placeNamed(target);
    return place < 0 ? undefined : this.#namedScope[place];
  }

  #resolve(at: number, target: number, variable: boolean, ownLinkage: number): void {
    const low = this.#placeNamed(target);
    // A copy of an abstract form that is itself a definition of a declaration: that one is listed already.
    if (low < 0) return;
    const name = this.#namedName[low];
    const linkage = ownLinkage >= 0 ? ownLinkage : this.#namedLinkage[low];
    const scope = this.#namedScope[low];
    if (variable) this.#addNames(this.#variables, at, name, linkage, scope);
    else this.#function(at, name, linkage, scope);
  }

  #newScope(outer: number, name: number, unnamed: string): number {
    let hash = this.#scopeHash[outer];
    let bare = this.#scopeBare[outer];
    if (outer > 0) {
      hash = hashWithin(hash);
      bare = hashWithin(bare);
    }
    if (name < 0) {
      hash = hashOf(unnamed, hash);
      bare = hashOf(unnamed, bare);
    } else {
      this.#locate(name);
      hash = hashBytes(this.#textBytes, this.#textFrom, this.#textTo, hash);
      bare = hashBytes(this.#textBytes, this.#textFrom, this.#bareEnd(), bare);
    }
    this.#scopeHash.push(hash);
    this.#scopeBare.push(bare);
    this.#scopeName.push(name);
    this.#scopeParent.push(outer);
    return this.#scopeHash.length - 1;
  }

  #function(at: number, name: number, linkage: number, scope: number): void {
    const hash = this.#addNames(this.#functions, at, name, linkage, scope);
    this.#locate(name);
    // A second, different hash makes a false repetition improbable.
    const key = hash * 2 ** 21 + (hashBytes(this.#textBytes, this.#textFrom, this.#textTo, 17) & 0x1fffff) + 1;
    if (!this.#seenNames.add(key)) return;
    this.#names.push(this.#qualified(name, scope));
    if (this.#names.length >= 4096) this.#flushNames();
  }

  #qualified(name: number, scope: number): string {
    this.#locate(name);
    let text = this.#textBytes.toString("utf8", this.#textFrom, this.#textTo);
    for (let at = scope; at > 0; at = this.#scopeParent[at]) {
      const outer = this.#scopeName[at];
      if (outer >= 0) this.#locate(outer);
      text = `${outer < 0 ? "(anonymous namespace)" : this.#textBytes.toString("utf8", this.#textFrom, this.#textTo)}::${text}`;
    }
    return text;
  }

  #type(at: number, name: number, scope: number, tag: number): void {
    this.#locate(name);
    const plain = hashBytes(this.#textBytes, this.#textFrom, this.#textTo, HASH_START);
    const qualified =
      scope > 0 ? hashBytes(this.#textBytes, this.#textFrom, this.#textTo, hashWithin(this.#scopeHash[scope])) : plain;
    // Units repeat the types of the headers they share: one of each is enough.
    const check = hashBytes(this.#textBytes, this.#textFrom, this.#textTo, 17 + tag) & 0x1fffff;
    if (!this.#seenTypes.add(qualified * 2 ** 21 + check + 1)) return;
    this.#types.add(plain, at);
    if (qualified !== plain) this.#types.add(qualified, at);
  }

  /** Adds an entry under all its names; gives the hash of the qualified one. */
  #addNames(pairs: GrowingPairs, at: number, name: number, linkage: number, scope: number): number {
    this.#locate(name);
    const bytes = this.#textBytes,
      from = this.#textFrom,
      to = this.#textTo;
    const bareTo = this.#bareEnd();
    const plain = hashBytes(bytes, from, to, HASH_START);
    pairs.add(plain, at);
    if (bareTo !== to) pairs.add(hashBytes(bytes, from, bareTo, HASH_START), at);
    let qualified = plain;
    if (scope > 0) {
      const outer = hashWithin(this.#scopeHash[scope]);
      const bareOuter = hashWithin(this.#scopeBare[scope]);
      qualified = hashBytes(bytes, from, to, outer);
      pairs.add(qualified, at);
      if (bareTo !== to || bareOuter !== outer) pairs.add(hashBytes(bytes, from, bareTo, bareOuter), at);
    }
    if (linkage >= 0) {
      this.#locate(linkage);
      pairs.add(hashBytes(this.#textBytes, this.#textFrom, this.#textTo, HASH_START), at);
    }
    return qualified;
  }

  /** Where the located text ends without its template arguments (names.ts has the rule). */
  #bareEnd(): number {
    const bytes = this.#textBytes,
      from = this.#textFrom,
      to = this.#textTo;
    // `>`, `<`
    if (to - from < 3 || bytes[to - 1] !== 0x3e) return to;
    if (bytes[from] === 0x6f && bytes.toString("latin1", from, from + 8) === "operator") return to;
    const at = bytes.indexOf(0x3c, from);
    return at > from && at < to ? at : to;
  }

  #nameAt(form: number, at: number): number {
    const { offsetSize } = this.#header;
    switch (form) {
      case FORM.string:
        return TEXT.info * SPAN + at;
      case FORM.strp:
        return new Cursor(this.#bytes, at).offset(offsetSize);
      case FORM.line_strp:
        return TEXT.line * SPAN + new Cursor(this.#bytes, at).offset(offsetSize);
      case FORM.GNU_strp_alt:
      case FORM.strp_sup:
        return TEXT.alternate * SPAN + new Cursor(this.#bytes, at).offset(offsetSize);
      case FORM.strx:
      case FORM.GNU_str_index:
        return this.#numbered(new Cursor(this.#bytes, at).uleb());
      case FORM.strx1:
        return this.#numbered(this.#bytes[at]);
      case FORM.strx2:
        return this.#numbered(new Cursor(this.#bytes, at).u16());
      case FORM.strx3:
        return this.#numbered(new Cursor(this.#bytes, at).u24());
      case FORM.strx4:
        return this.#numbered(new Cursor(this.#bytes, at).u32());
      default:
        return -1;
    }
  }

  #numbered(index: number): number {
    const { offsetSize } = this.#header;
    return new Cursor(this.#input.textOffsets, this.#textBase + index * offsetSize).offset(offsetSize);
  }

  #locate(name: number): void {
    const section = Math.floor(name / SPAN);
    const offset = name - section * SPAN;
    const bytes =
      section === TEXT.str
        ? this.#input.text
        : section === TEXT.info
          ? this.#bytes
          : section === TEXT.line
            ? this.#input.lineText
            : this.#input.alternateText;
    const end = offset < bytes.length ? bytes.indexOf(0, offset) : -1;
    this.#textBytes = bytes;
    this.#textFrom = end < 0 ? 0 : offset;
    this.#textTo = Math.max(end, 0);
    if (end < 0) this.#textFrom = this.#textTo = 0;
  }

  /** A reference as an offset of the section; of the alternate file where the form says so. */
  #referenceAt(form: number, at: number): number {
    const { offset, offsetSize, version, addressSize } = this.#header;
    const cursor = new Cursor(this.#bytes, at);
    switch (form) {
      case FORM.ref1:
        return offset + cursor.u8();
      case FORM.ref2:
        return offset + cursor.u16();
      case FORM.ref4:
        return offset + cursor.u32();
      case FORM.ref8:
        return offset + cursor.u64();
      case FORM.ref_udata:
        return offset + cursor.uleb();
      case FORM.ref_addr:
        return version <= 2 ? cursor.address(addressSize) : cursor.offset(offsetSize);
      case FORM.GNU_ref_alt:
        return cursor.offset(offsetSize);
      case FORM.ref_sup4:
        return cursor.u32();
      case FORM.ref_sup8:
        return cursor.u64();
      default:
        return -1;
    }
  }
}
