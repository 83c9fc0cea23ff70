// The declarations of this machine, as files.
import { allProviders } from "../providers/registry.ts";
import type { System } from "../machine/system.ts";
import { Page } from "./page.ts";
import { declarePrograms } from "./programs.ts";
import { argumentsText, letterFile, members, propertyName, signatureText, Structs, typeText } from "./type-text.ts";

export interface Declarations {
  /** Path in the folder → text, in UTF-8. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** How many there are of what: the kinds' own probes, "functions", "iterators", "structs" and "constants". */
  readonly counts: Readonly<Record<string, number>>;
}

export interface DeclareOptions {
  /** Programs and libraries whose functions and static probes are declared as well. */
  readonly binaries: readonly string[];
  /** Each file's first line. */
  readonly about: string;
}

export function declareMachine(system: System, { binaries, about }: DeclareOptions): Declarations {
  const structs = new Structs();
  const files = new Map<string, Uint8Array>();
  const add = (file: string, page: Page): number => {
    files.set(
      file,
      page.bytes(about, file.includes("/") ? (file.startsWith("structs/") ? "./" : "../structs/") : "./structs/"),
    );
    return page.count;
  };
  const addAll = (folder: string, pages: Pages): number => {
    let lines = 0;
    for (const [file, page] of pages.pages) lines += add(`${folder}/${file}.d.ts`, page);
    return lines;
  };

  const probes: Record<string, number> = {};
  for (const { declares } of allProviders()) {
    if (declares === undefined) continue;
    const page = new Page(structs);
    for (const { name, args } of declares.all(system))
      page.line(`${propertyName(name)}: ${argumentsText(args, page.place)}`, declares.fills);
    probes[declares.what] = add(`${declares.what.replaceAll(" ", "-")}.d.ts`, page);
  }

  const functions = addAll("functions", functionPages(system, structs));

  const iterators = new Page(structs);
  for (const name of system.iterators()) {
    const context = system.types.find(`bpf_iter__${name}`, "struct");
    const own = context?.kind === "struct" ? `{ ${members(context, iterators.place).join("; ")} }` : "{}";
    iterators.line(`${propertyName(name)}: ${own}`, "Iterators");
  }
  add("iterators.d.ts", iterators);

  const constants = new Pages(structs);
  for (const { name, value } of system.enumConstants?.() ?? []) {
    // A literal shows its value where it is hovered over; none says a number that a double does not.
    constants
      .of(name)
      .line(`${propertyName(name)}: ${Number.isSafeInteger(Number(value)) ? value : "number"}`, "Enums");
  }
  const constantsCount = addAll("enums", constants);

  if (binaries.length > 0) {
    const programs = new Page(structs);
    declarePrograms(binaries, system, programs);
    add("programs.d.ts", programs);
  }

  const all = new Page(structs);
  addAll("structs", structPages(structs, all));
  add("structs.d.ts", all);

  const index = [...files.keys()].filter((file) => !file.startsWith("structs/")).map((file) => `import "./${file}";\n`);
  files.set("index.d.ts", Buffer.from(`${about}\n${index.join("")}`));
  return {
    files,
    counts: {
      ...probes,
      functions,
      iterators: iterators.count,
      structs: all.count,
      constants: constantsCount,
    },
  };
}

function functionPages(system: System, structs: Structs): Pages {
  const pages = new Pages(structs);
  for (const name of system.kernelFunctions("typed")) {
    const found = system.kernelFunction(name);
    if (found === undefined) continue;
    const page = pages.of(name);
    const signature = signatureText(found.parameters, found.result, structs);
    if (signature !== undefined) {
      page.line(`${propertyName(name)}: ${signature}`, "KernelFunctions");
      continue;
    }
    const retval = found.result.kind === "void" ? "" : `; retval: ${typeText(found.result, page.place)}`;
    page.line(
      `${propertyName(name)}: { args: ${argumentsText(found.parameters, page.place)}${retval} }`,
      "KernelFunctions",
    );
  }
  return pages;
}

/** Structs mention structs: until there are no new ones. `all` fills the interface that names each. */
function structPages(structs: Structs, all: Page): Pages {
  const pages = new Pages(structs, true);
  for (let found = structs.take(); found.length > 0; found = structs.take()) {
    for (const type of found) {
      const name = structs.nameOf(type);
      const page = pages.of(name);
      const own = members(type, page.place);
      page.line(`export interface ${name} {${own.length === 0 ? "" : `\n  ${own.join(";\n  ")};\n`}}\n`);
      all.place.imports.add(letterFile(name));
      all.line(`${propertyName(structs.keyOf(type))}: ${letterFile(name)}.${name}`, "Structs");
    }
  }
  return pages;
}

/** Files by the first letter of what is in them: none is too large to look at, and definitions open at once. */
class Pages {
  readonly pages = new Map<string, Page>();
  readonly #structs: Structs;
  readonly #own: boolean;

  /** With `own`, pages of structs. */
  constructor(structs: Structs, own = false) {
    this.#structs = structs;
    this.#own = own;
  }

  of(name: string): Page {
    const file = letterFile(name);
    let page = this.pages.get(file);
    if (page === undefined) this.pages.set(file, (page = new Page(this.#structs, this.#own ? file : undefined)));
    return page;
  }
}
