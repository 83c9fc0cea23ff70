// Names with less in them than an entry's own: outer scopes may be left out, and so may namespaces that have no name or
// that are inline, as C++ has it. And what is named by the function or the type that it is in.
import { AT, OP, TAG } from "./constants.ts";
import { lastName, nameOf, withoutTemplate } from "./names.ts";
import { instancesOf } from "./scopes.ts";
import type { Entry } from "./units.ts";

/** `app::Server` and `instances` of `app::Server::instances`; undefined for a plain name. */
export function splitName(name: string): { readonly scope: string; readonly own: string } | undefined {
  const own = lastName(name);
  const scope = name.slice(0, Math.max(0, name.length - own.length - 2));
  return scope === "" || own === "" ? undefined : { scope, own };
}

/** Whether an entry is somewhere in a scope that ends so. */
export function isWithin(entry: Entry, scope: string): boolean {
  let wanted = splitName(scope) ?? { scope: "", own: scope };
  for (let around = entry.origin.parent; around !== undefined; around = around.parent) {
    const name = around.withAttribute(AT.name)?.name;
    const isNamespace = around.tag === TAG.namespace;
    const is = name ?? (isNamespace ? "(anonymous namespace)" : "(anonymous)");
    if (isScope(around.tag) && (plainly(is) === plainly(wanted.own) || withoutTemplate(is) === wanted.own)) {
      if (wanted.scope === "") return true;
      wanted = splitName(wanted.scope) ?? { scope: "", own: wanted.scope };
    } else if (isScope(around.tag) && !(isNamespace && (name === undefined || around.flag(AT.export_symbols)))) {
      return false;
    }
  }
  return false;
}

/** Compilers write types in template arguments in ways of their own: `Holder<long int>` is `Holder<long>`. */
function plainly(name: string): string {
  if (!name.includes("<")) return name;
  return name
    .replaceAll(/\b(long long|long|short) unsigned int\b/g, "unsigned $1")
    .replaceAll(/\b(long|short) int\b/g, "$1")
    .replaceAll(/\bunsigned int\b/g, "unsigned")
    .replaceAll(/\s*([<>,*&])\s*/g, "$1");
}

/** Blocks are in no name. */
const scopes: ReadonlySet<number> = new Set([
  TAG.namespace,
  TAG.module,
  TAG.structure_type,
  TAG.class_type,
  TAG.union_type,
  TAG.enumeration_type,
  TAG.interface_type,
  TAG.subprogram,
]);
const isScope = (tag: number): boolean => scopes.has(tag);

/** Variables of a function that live longer than its calls: one for each block that has one of that name. */
export function staticsOf(fn: Entry, name: string): readonly Entry[] {
  const found = new Map<Entry, Entry>();
  const copies = instancesOf(fn).map(({ entry }) => entry);
  for (const body of new Set([fn, ...copies].flatMap((each) => [...each.chain()])))
    collectStatics(body, name, found, 0);
  return [...found.values()];
}

const deepestBlock = 64;

function collectStatics(scope: Entry, name: string, found: Map<Entry, Entry>, depth: number): void {
  for (const child of scope.children()) {
    if (child.tag === TAG.lexical_block && depth < deepestBlock) collectStatics(child, name, found, depth + 1);
    else if (child.tag === TAG.variable && nameOf(child) === name && !found.has(child.origin) && hasFixedPlace(child))
      found.set(child.origin, child);
  }
}

/** An expression that neither a frame nor a register is in; lists tell of what comes and goes. */
function hasFixedPlace(variable: Entry): boolean {
  const value = variable.withAttribute(AT.location)?.value(AT.location);
  const first = value?.kind === "block" ? value.bytes[0] : undefined;
  return first !== undefined && fixedStarts.has(first);
}

const fixedStarts: ReadonlySet<number> = new Set([
  OP.addr,
  OP.addrx,
  OP.GNU_addr_index,
  // Of thread-locals.
  OP.const4u,
  OP.const8u,
  OP.constx,
  OP.GNU_const_index,
]);

/** Members of a type that are constants and have no place: the type's own entry says what they are. */
export function constantsOf(type: Entry, name: string): readonly Entry[] {
  return [...type.children()].filter(
    (child) =>
      (child.tag === TAG.member || child.tag === TAG.variable) && child.name === name && child.has(AT.const_value),
  );
}
