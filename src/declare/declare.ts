// The declarations of this machine, as files.
import { recordArgument } from "../providers/tracepoint.ts";
import type { System } from "../providers/system.ts";
import { argumentsText, letterFile, libraryTypes, members, merged, type Place, propertyName, signatureText, Structs, typeText } from "./type-text.ts";
import { programDeclarations } from "./programs.ts";

export interface Declarations {
  /** Path in the folder → text. */
  readonly files: ReadonlyMap<string, string>;
  readonly counts: Readonly<Record<"tracepoints" | "raw tracepoints" | "functions" | "iterators" | "structs", number>>;
}

export interface DeclareOptions {
  /** Programs and libraries whose functions and static probes are declared as well. */
  readonly binaries: readonly string[];
  /** Each file's first line. */
  readonly about: string;
}

export function declareMachine(system: System, { binaries, about }: DeclareOptions): Declarations {
  const structs = new Structs();
  const files = new Map<string, string>();
  const place = (): Place => ({ structs, imports: new Set() });
  const add = (file: string, { imports }: Place, body: string): void => void files.set(file, fileText(about, file, imports, body));

  const tracepoints = system.tracepoints().flatMap(({ category, name }) => {
    const fields = system.tracepoint(category, name)?.fields;
    return fields === undefined ? [] : [{ category, name, fields }];
  });
  const inTracepoints = place();
  add("tracepoints.d.ts", inTracepoints, merged("Tracepoints", tracepoints.map(({ category, name, fields }) => {
    const space = category === "syscalls" ? "user" : "kernel";
    return `"${category}:${name}": ${argumentsText(fields.map((field) => recordArgument(field, space, system)), inTracepoints)}`;
  })));

  const raw = system.rawTracepoints();
  const inRaw = place();
  add("raw-tracepoints.d.ts", inRaw, merged("RawTracepoints", raw.map((name) =>
    `${propertyName(name)}: ${argumentsText(system.rawTracepoint(name)?.args ?? [], inRaw)}`)));

  const functions = new Pages(structs);
  for (const name of system.kernelFunctions()) {
    const found = system.kernelFunction(name);
    if (found === undefined) continue;
    const page = functions.page(letterFile(name));
    const signature = signatureText(found.parameters, found.result, structs);
    if (signature !== undefined) {
      page.lines.push(`${propertyName(name)}: ${signature}`);
      continue;
    }
    const retval = found.result.kind === "void" ? "" : `; retval: ${typeText(found.result, page.place)}`;
    page.lines.push(`${propertyName(name)}: { args: ${argumentsText(found.parameters, page.place)}${retval} }`);
  }
  for (const [file, page] of functions.pages) add(`functions/${file}.d.ts`, page.place, merged("KernelFunctions", page.lines));

  const iterators = system.iterators();
  const inIterators = place();
  add("iterators.d.ts", inIterators, merged("Iterators", iterators.map((name) => {
    const context = system.types.find(`bpf_iter__${name}`, "struct");
    return `${propertyName(name)}: ${context?.kind === "struct" ? `{ ${members(context, inIterators).join("; ")} }` : "{}"}`;
  })));

  const inPrograms = place();
  const programs = programDeclarations(binaries, system, inPrograms);
  if (programs !== undefined) add("programs.d.ts", inPrograms, programs);

  const count = declareStructs(structs, add);
  add("index.d.ts", place(), [...files.keys()].filter((file) => !file.startsWith("structs/")).map((file) => `import "./${file}";\n`).join(""));
  return {
    files,
    counts: { tracepoints: tracepoints.length, "raw tracepoints": raw.length, functions: functions.lines, iterators: iterators.length, structs: count },
  };
}

/** Files by the first letter of what is in them: none is too large to look at, and definitions open at once. */
class Pages {
  readonly pages = new Map<string, { readonly place: Place; readonly lines: string[] }>();
  readonly #structs: Structs;

  constructor(structs: Structs) {
    this.#structs = structs;
  }

  page(file: string, own = false): { readonly place: Place; readonly lines: string[] } {
    let page = this.pages.get(file);
    if (page === undefined) {
      page = { place: { structs: this.#structs, imports: new Set(), ...(own ? { file } : {}) }, lines: [] };
      this.pages.set(file, page);
    }
    return page;
  }

  get lines(): number {
    return [...this.pages.values()].reduce((sum, { lines }) => sum + lines.length, 0);
  }
}

/** Structs mention structs: until there are no new ones. */
function declareStructs(structs: Structs, add: (file: string, place: Place, body: string) => void): number {
  const pages = new Pages(structs);
  const names: string[] = [];
  for (let found = structs.take(); found.length > 0; found = structs.take()) {
    for (const type of found) {
      const name = structs.nameOf(type);
      const { place, lines } = pages.page(letterFile(name), true);
      const own = members(type, place);
      lines.push(`export interface ${name} {${own.length === 0 ? "" : `\n${own.map((line) => `  ${line};\n`).join("")}`}}\n`);
      names.push(name);
    }
  }
  for (const [file, { place, lines }] of pages.pages) add(`structs/${file}.d.ts`, place, lines.join(""));
  const all: Place = { structs, imports: new Set(names.map(letterFile)) };
  add("structs.d.ts", all, merged("Structs", names.map((name) => `${name}: ${letterFile(name)}.${name}`)));
  return names.length;
}

function fileText(about: string, file: string, imports: ReadonlySet<string>, body: string): string {
  const folder = file.startsWith("structs/") ? "./" : file.includes("/") ? "../structs/" : "./structs/";
  const own = [...imports].sort().map((name) => `import type * as ${name} from "${folder}${name}.d.ts";\n`).join("");
  const used = libraryTypes.filter((name) => new RegExp(`\\b${name}\\b`).test(body));
  const library = used.length === 0 ? "" : `import type { ${used.join(", ")} } from "strobe";\n`;
  return `${about}\n${library}${own}${body}${own === "" && library === "" && file !== "index.d.ts" ? "export {};\n" : ""}`;
}
