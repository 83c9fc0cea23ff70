// Answers the questions of facts.ts about one binary. Each is answered from as few units as it takes.
import { CallFrames } from "../call-frames.ts";
import { AT, TAG } from "./constants.ts";
import { exactAddress, signedAddress } from "./cursor.ts";
import { plus, constant, register } from "./expressions.ts";
import type {
  DebugInfo,
  DebugType,
  Definition,
  FoundLines,
  FunctionInstance,
  LinePlace,
  LocalElsewhere,
  LocationExpression,
  SourceFile,
  SourceFrame,
  SourceFunction,
  Variable,
  WantedLines,
} from "./facts.ts";
import { keptOf, type DebugFiles } from "./input-files.ts";
import { LinePlaces, prologueEnd } from "./line-places.ts";
import { LineTables } from "./line-tables.ts";
import { isDefinition, isLeftAsThunk, withoutCode } from "./merged-functions.ts";
import { NamedEntries } from "./named-entries.ts";
import { linkageNameOf, nameOf, qualifiedName } from "./names.ts";
import { Positions } from "./positions.ts";
import {
  blocksIn,
  bodiesStartingAt,
  bodyAround,
  bodyAt,
  hasLocationLists,
  instancesOf,
  keyOf,
  scopesAt,
  type Instance,
} from "./scopes.ts";
import { exactRanges, sourceFunction, type FunctionSurroundings } from "./source-functions.ts";
import { isDropped, rangesOf } from "./ranges.ts";
import { typeFrom } from "./types.ts";
import { EntryVariable, localsOf, parametersOf } from "./variables.ts";
import { WholeUnits } from "./whole-units.ts";
import type { Entry } from "./units.ts";

const PT_TLS = 7;

/** Opens debug information; nothing is decoded yet. */
export function openDebugInfo(files: DebugFiles): DebugInfo {
  return new Debug(files);
}

class Debug implements DebugInfo {
  readonly #files: DebugFiles;
  readonly #units: WholeUnits;
  readonly #lines: LineTables;
  readonly #linePlaces: LinePlaces;
  readonly #names: NamedEntries;
  readonly #positions: Positions;
  readonly #around: FunctionSurroundings;
  #frames: { readonly found: CallFrames | undefined } | undefined;

  constructor(files: DebugFiles) {
    this.#files = files;
    this.#units = new WholeUnits(files);
    const { main } = this.#units;
    this.#lines = new LineTables(main, keptOf(files, main, "lines"));
    this.#linePlaces = new LinePlaces(
      this.#lines,
      this.#units,
      (address) => this.framesAt(exactAddress(address)).at(-1)?.function,
    );
    this.#names = new NamedEntries(files, this.#units);
    this.#positions = new Positions(main, this.#lines);
    this.#around = {
      lines: this.#lines,
      positions: this.#positions,
      cfa: (address) => this.#cfa(address),
      position: (entry) => this.#positions.declared(entry),
      threadLocal: (offset) => this.#threadLocal(offset),
    };
  }

  functionsNamed(name: string): readonly SourceFunction[] {
    const found = new Map<string, { readonly entry: Entry; readonly instances: Instance[] }>();
    const seen = new Set<string>();
    for (const entry of this.#names.named("functions", name)) {
      const instances = instancesOf(entry);
      if (instances.length === 0) continue;
      const position = this.#positions.declared(instances[0].entry);
      const identity = `${qualifiedName(entry)}\0${linkageNameOf(entry) ?? ""}\0${position.file}\0${position.line}`;
      const known = found.get(identity) ?? { entry: instances[0].entry, instances: [] };
      found.set(identity, known);
      for (const instance of instances) {
        const key = keyOf(instance.entry);
        if (seen.has(key)) continue;
        seen.add(key);
        known.instances.push(instance);
      }
    }
    return [...found.values()].map(({ entry, instances }) => sourceFunction(entry, instances, this.#around));
  }

  definitionsNamed(name: string): readonly Definition[] {
    return [...this.#names.named("functions", name)].filter(isDefinition).map((entry) => this.#definition(entry));
  }

  bodiesAt(address: bigint): readonly Definition[] {
    const at = signedAddress(address);
    return [...this.#units.at(at)].flatMap((unit) =>
      bodiesStartingAt(unit, at).map(({ entry }) => this.#definition(entry)),
    );
  }

  #definition(entry: Entry): Definition {
    return {
      name: nameOf(entry) ?? "",
      qualifiedName: qualifiedName(entry),
      declared: this.#positions.declared(entry),
    };
  }

  isLeftAsThunk(address: bigint, name: string): boolean {
    const at = signedAddress(address);
    return [...this.#units.at(at)].some((unit) => bodyAt(unit, at) === undefined && isLeftAsThunk(unit, name));
  }

  maybeMergedWith(name: string): readonly string[] {
    const found = new Set<string>();
    for (const entry of this.#names.named("functions", name)) for (const other of withoutCode(entry)) found.add(other);
    // What a program as a whole was optimised of has its code in other units.
    return [...found].filter((other) => other !== name && this.functionsNamed(other).length === 0);
  }

  functionNames(): Iterable<string> {
    return this.#names.functionNames();
  }

  functionAt(address: bigint): { readonly fn: SourceFunction; readonly instance: FunctionInstance } | undefined {
    const at = signedAddress(address);
    for (const unit of this.#units.at(at)) {
      const body = bodyAt(unit, at);
      if (body === undefined) continue;
      // What was inlined may begin where the function does.
      const entry =
        body.start === at
          ? body.entry
          : (scopesAt(body, at).findLast(({ tag }) => tag !== TAG.lexical_block) ?? body.entry);
      const instances = instancesOf(entry);
      const fn = sourceFunction(entry, instances, this.#around);
      const instance = fn.instances[instances.findIndex((each) => keyOf(each.entry) === keyOf(entry))];
      if (instance !== undefined) return { fn, instance };
    }
    return undefined;
  }

  framesAt(address: bigint): readonly SourceFrame[] {
    const at = signedAddress(address);
    for (const unit of this.#units.at(at)) {
      const body = bodyAt(unit, at);
      if (body === undefined) continue;
      const functions = scopesAt(body, at)
        .filter(({ tag }) => tag !== TAG.lexical_block)
        .reverse();
      let position = this.#lines.positionAt(unit, at) ?? { file: "", line: 0, column: 0 };
      return functions.map((entry) => {
        const inlined = entry.tag === TAG.inlined_subroutine;
        const frame = { function: qualifiedName(entry), position, inlined };
        if (inlined) position = this.#positions.called(entry);
        return frame;
      });
    }
    return [];
  }

  sourceFiles(): Iterable<string> {
    const files = new Set<string>();
    for (const header of this.#lines.all) {
      header.files.forEach((file, index) => {
        if (file.name !== "") files.add(this.#lines.path(header, index));
      });
    }
    return files;
  }

  linePlaces(file: SourceFile, wanted: WantedLines): FoundLines {
    return this.#linePlaces.at(file, wanted);
  }

  lines(file: SourceFile): Iterable<LinePlace> {
    return this.#linePlaces.all(file);
  }

  afterPrologue(fn: FunctionInstance): bigint {
    const entry = signedAddress(fn.entry);
    for (const unit of this.#units.at(entry)) {
      const body = bodyAt(unit, entry);
      // Optimised code says where things are at every instruction.
      if (body !== undefined && hasLocationLists(body.entry)) return fn.entry;
    }
    return this.prologueEnd(fn);
  }

  prologueEnd(fn: FunctionInstance): bigint {
    if (fn.kind === "inlined") return fn.entry;
    const entry = signedAddress(fn.entry);
    for (const unit of this.#units.at(entry)) {
      const body = bodyAt(unit, entry);
      const header = this.#lines.of(unit);
      if (body === undefined || header === undefined) continue;
      const range = body.ranges.find(({ low, high }) => entry >= low && entry < high);
      return exactAddress(prologueEnd(this.#lines.rows(header), entry, range?.high ?? entry));
    }
    return fn.entry;
  }

  variablesAt(address: bigint): readonly Variable[] {
    const at = signedAddress(address);
    for (const unit of this.#units.at(at)) {
      const body = bodyAt(unit, at);
      if (body === undefined) continue;
      const found: Variable[] = [];
      let outer = false;
      for (const scope of scopesAt(body, at).toReversed()) {
        const own = [...localsOf(scope, this.#around)];
        if (scope.tag !== TAG.lexical_block)
          own.push(...parametersOf(scope, this.#around).filter(({ name }) => name !== ""));
        for (const variable of own) variable.outer = outer;
        found.push(...own);
        outer ||= scope.tag !== TAG.lexical_block;
      }
      return found;
    }
    return [];
  }

  localsElsewhere(address: bigint): readonly LocalElsewhere[] {
    const at = signedAddress(address);
    for (const unit of this.#units.at(at)) {
      const body = bodyAt(unit, at);
      if (body === undefined) continue;
      const around = scopesAt(body, at);
      const fn = around.findLast(({ tag }) => tag !== TAG.lexical_block) ?? body.entry;
      return [...blocksIn(fn)]
        .filter((block) => !around.some((scope) => keyOf(scope) === keyOf(block)))
        .flatMap((block) => {
          const ranges = exactRanges(rangesOf(block));
          return [...localsOf(block, this.#around)].map((variable) => ({ variable, ranges }));
        });
    }
    return [];
  }

  labelsAt(address: bigint): readonly { readonly name: string; readonly address: bigint }[] {
    const at = signedAddress(address);
    for (const unit of this.#units.at(at)) {
      const body = bodyAt(unit, at);
      if (body === undefined) continue;
      return [body.entry, ...blocksIn(body.entry)].flatMap((block) =>
        [...block.children()].flatMap((child) => {
          const place = child.tag === TAG.label ? child.address(AT.low_pc) : undefined;
          const name = place === undefined || isDropped(place) ? undefined : nameOf(child);
          return name === undefined ? [] : [{ name, address: exactAddress(place!) }];
        }),
      );
    }
    return [];
  }

  globalsNamed(name: string): readonly Variable[] {
    const found = new Map<string, Variable>();
    for (const entry of this.#names.named("variables", name)) {
      if (bodyAround(entry.origin) !== undefined) continue;
      found.set(keyOf(entry), new EntryVariable(entry, this.#around));
    }
    if (found.size === 0)
      for (const entry of this.#names.variablesWithin(name))
        found.set(keyOf(entry), new EntryVariable(entry, this.#around));
    return [...found.values()];
  }

  typeNamed(name: string, tag?: "struct" | "union" | "enum"): DebugType | undefined {
    const base = baseSpelling(name);
    for (const entry of this.#names.named("types", base)) {
      if (!entry.isType()) continue;
      if (tag !== undefined && TAGS[tag] !== undefined && !TAGS[tag].includes(entry.tag)) continue;
      return typeFrom(entry);
    }
    return undefined;
  }

  enumerator(name: string): bigint | undefined {
    for (const header of this.#units.main.headers()) {
      const found = enumeratorIn(this.#units.whole(header).root, name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** GCC's split entries give the address in the file's image of the storage in place of the offset into it. */
  #threadLocal(offset: bigint): bigint {
    const image = this.#files.binary.segments.find(({ type }) => type === PT_TLS);
    const within = image === undefined ? -1n : offset - image.address;
    return image !== undefined && within >= 0n && within < image.memorySize ? within : offset;
  }

  #cfa(address: bigint): LocationExpression | undefined {
    this.#frames ??= { found: CallFrames.of(this.#files.binary) ?? CallFrames.of(this.#files.debug) };
    const rule = this.#frames.found?.cfaAt(address);
    switch (rule?.kind) {
      case "register":
        return plus(register(rule.register), constant(BigInt(rule.offset)));
      case "expression":
        return rule.expression;
      case "unknown":
      case undefined:
        return undefined;
    }
  }
}

/** What enumerations stand in outside of functions. */
const AROUND_TYPES: ReadonlySet<number> = new Set([
  TAG.namespace,
  TAG.structure_type,
  TAG.class_type,
  TAG.union_type,
  TAG.enumeration_type,
]);

function enumeratorIn(entry: Entry, name: string): bigint | undefined {
  for (const child of entry.children()) {
    if (child.tag === TAG.enumerator && child.name === name) {
      const value = child.value(AT.const_value);
      return value?.kind === "constant" ? value.value : undefined;
    }
    const found = AROUND_TYPES.has(child.tag) ? enumeratorIn(child, name) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

const TAGS: Readonly<Record<"struct" | "union" | "enum", readonly number[]>> = {
  struct: [TAG.structure_type, TAG.class_type],
  union: [TAG.union_type],
  enum: [TAG.enumeration_type],
};

/** Base types as compilers record them: `unsigned long` is `long unsigned int` to C. */
const BASE_SPELLINGS: ReadonlyMap<string, string> = new Map([
  ["unsigned", "unsigned int"],
  ["short", "short int"],
  ["unsigned short", "short unsigned int"],
  ["long", "long int"],
  ["unsigned long", "long unsigned int"],
  ["long long", "long long int"],
  ["unsigned long long", "long long unsigned int"],
]);

function baseSpelling(name: string): string {
  return BASE_SPELLINGS.get(name) ?? name;
}
