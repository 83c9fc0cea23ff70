// What a person calls an entry: its own name, and that name within its namespaces and classes.
import { AT, TAG } from "./constants.ts";
import type { Entry } from "./units.ts";

const notes = {};
const NESTING = 64;

/**
 * `app::Server::handle`; "" for what has no name. An unnamed namespace is `(anonymous namespace)`, as C++ tools write
 * it.
 */
export function qualifiedName(entry: Entry): string {
  const origin = entry.origin;
  const name = nameOf(entry);
  if (name === undefined || name === "") return "";
  const scope = scopeOf(origin);
  return scope === "" ? name : `${scope}::${name}`;
}

/** The nearest name along an entry's origins. */
export function nameOf(entry: Entry): string | undefined {
  for (const link of entry.chain()) {
    const name = link.name;
    if (name !== undefined) return name;
  }
  return undefined;
}

export function linkageNameOf(entry: Entry): string | undefined {
  for (const link of entry.chain()) {
    const name = link.text(AT.linkage_name) ?? link.text(AT.MIPS_linkage_name);
    if (name !== undefined) return name;
  }
  return undefined;
}

function scopeOf(entry: Entry): string {
  const parent = entry.parent;
  return parent === undefined ? "" : nameOfScope(parent, 0);
}

function nameOfScope(entry: Entry, depth: number): string {
  const known = entry.unit.note(notes, () => new Map<number, string>());
  let name = known.get(entry.index);
  if (name !== undefined || depth > NESTING) return name ?? "";
  const parent = entry.parent;
  const outer = parent === undefined ? "" : nameOfScope(parent, depth + 1);
  const own = scopeName(entry.tag, () => entry.withAttribute(AT.name)?.name);
  name = own === "" ? outer : outer === "" ? own : `${outer}::${own}`;
  known.set(entry.index, name);
  return name;
}

/** What an entry adds to the names in it; "" for blocks and units. */
export function scopeName(tag: number, name: () => string | undefined): string {
  switch (tag) {
    case TAG.namespace:
    case TAG.module:
      return name() ?? "(anonymous namespace)";
    case TAG.structure_type:
    case TAG.class_type:
    case TAG.union_type:
    case TAG.enumeration_type:
    case TAG.interface_type:
      return name() ?? "(anonymous)";
    case TAG.subprogram:
      return name() ?? "";
    default:
      return "";
  }
}

/** A name without its template arguments: `max<int>` is an instance of `max`. `operator<` keeps its own. */
export function withoutTemplate(name: string): string {
  if (!name.endsWith(">") || name.startsWith("operator")) return name;
  const at = name.indexOf("<");
  return at > 0 ? name.slice(0, at) : name;
}

/** Whether an entry is called so: plainly, qualified, by its linkage name, or by either without template arguments. */
export function isNamed(entry: Entry, name: string): boolean {
  const plain = nameOf(entry);
  if (plain === name || (plain !== undefined && withoutTemplate(plain) === name) || linkageNameOf(entry) === name)
    return true;
  const qualified = qualifiedName(entry);
  return qualified === name || bareScopes(qualified) === name;
}

/** A qualified name without template arguments in any of its parts. */
function bareScopes(name: string): string {
  if (!name.includes("<")) return name;
  let result = "",
    depth = 0,
    part = "";
  const finish = (): void => {
    result += withoutTemplate(part);
    part = "";
  };
  for (let i = 0; i < name.length; i++) {
    if (depth === 0 && name.startsWith("::", i)) {
      finish();
      result += "::";
      i++;
      continue;
    }
    if (name[i] === "<") depth++;
    else if (name[i] === ">") depth = Math.max(0, depth - 1);
    part += name[i];
  }
  finish();
  return result;
}

/** What is behind the last `::` that is in no template's arguments. */
export function lastName(name: string): string {
  let depth = 0;
  for (let at = name.length - 1; at > 0; at--) {
    if (name[at] === ">") depth++;
    else if (name[at] === "<") depth--;
    else if (depth === 0 && name[at] === ":" && name[at - 1] === ":") return name.slice(at + 1);
  }
  return name;
}
