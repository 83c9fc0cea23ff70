// A kernel type as C declares it: what `-lv 'struct task_struct'` shows.
import type { EnumType, Member, StructType, Type } from "../../language/types.ts";
import { spell } from "../../machine/kernel/declared-type.ts";
import { hasWildcard, matches } from "../../machine/wildcard.ts";
import type { Listed, ListOptions } from "../provider.ts";
import type { System } from "../../machine/system.ts";

const step = "\t";

type Tag = "struct" | "union" | "enum";

/**
 * `struct NAME`, `union NAME` or `enum NAME`, with wildcards all there are; verbose: how each is declared. Undefined
 * for any other pattern.
 */
export function listType(pattern: string, system: System, { verbose }: ListOptions): readonly Listed[] | undefined {
  const match = /^(struct|union|enum)\s+(\S+)$/.exec(pattern);
  if (!match) return undefined;
  const [, tag, name] = match as unknown as [string, Tag, string];
  const names = hasWildcard(name)
    ? [...new Set(system.typeNames?.(tag) ?? [])].filter((each) => each !== "" && matches(name, each)).sort()
    : system.types.find(name, tag) === undefined
      ? []
      : [name];
  return names.flatMap((each) => (verbose ? declaration(each, tag, system) : [{ probe: `${tag} ${each}` }]));
}

function declaration(name: string, tag: Tag, system: System): readonly Listed[] {
  const type = system.types.find(name, tag);
  if (type?.kind === "struct") return [{ probe: `vmlinux: ${structText(type, "")};` }];
  if (type?.kind === "enum") return [{ probe: `vmlinux: ${enumText(type)};` }];
  return [];
}

function structText(type: StructType, indent: string): string {
  const head = [type.union ? "union" : "struct", ...(type.name === "" ? [] : [type.name])].join(" ");
  const lines = type.members.map((member) => `${indent}${step}${memberText(member, indent + step)};\n`);
  return `${head} {\n${lines.join("")}${indent}}`;
}

function enumText(type: EnumType): string {
  return `enum ${type.name} {\n${[...type.names]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([value, name]) => `${step}${name} = ${value},\n`)
    .join("")}}`;
}

function memberText({ name, type, bitWidth, declared: known }: Member, indent: string): string {
  if (known !== undefined) return bitWidth === undefined ? known : `${known}: ${bitWidth}`;
  const lengths: number[] = [];
  let base: Type = type;
  while (base.kind === "array") {
    lengths.push(base.length);
    base = base.element;
  }
  const declared = base.kind === "struct" && base.name === "" ? structText(base, indent) : spell(base);
  const shown = `${name}${lengths.map((length) => `[${length}]`).join("")}${bitWidth === undefined ? "" : `: ${bitWidth}`}`;
  if (shown === "") return declared;
  return declared.endsWith("*") ? `${declared}${shown}` : `${declared} ${shown}`;
}
