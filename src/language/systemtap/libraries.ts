// Files of definitions of the user's own, `-I FOLDER`: macros (.stpm) are always there; of the others, a file is part of
// the script where the script uses something of it.
import type { Diagnostic, Source } from "../diagnostic.ts";
import type { Given } from "../language.ts";
import { visit } from "./names.ts";
import { parseScript } from "./parse-script.ts";
import type { Alias, FunctionDefinition, Global, Point, ProbeDefinition, Script } from "./syntax.ts";

interface File {
  readonly script: Script;
  readonly diagnostics: readonly Diagnostic[];
}

export class Libraries {
  /** The script with all files behind it. */
  readonly source: Source;
  readonly macros: readonly string[];
  readonly #files: readonly File[];
  readonly #used = new Set<File>();

  constructor(source: Source, { library = [], positional, machine }: Given) {
    this.macros = library.filter(({ name }) => name.endsWith(".stpm")).map(({ text }) => text);
    const files: File[] = [];
    let whole = source;
    for (const { name, text } of library.filter((one) => !one.name.endsWith(".stpm"))) {
      const start = whole.text.length + 1;
      // The text before it is white: its places are those that it has in the whole.
      files.push(parseScript({ name, text: text.padStart(start + text.length) }, positional, machine, this.macros));
      const { parts = [{ name: source.name, start: 0 }] } = whole;
      whole = { name: source.name, text: `${whole.text}\n${text}`, parts: [...parts, { name, start }] };
    }
    this.source = whole;
    this.#files = files;
  }

  /** Aliases that a point may mean. */
  aliasesOf({ components: [first] }: Point): readonly Alias[] {
    return this.#files.flatMap((file) => {
      const found = file.script.aliases.filter(({ name }) => name[0].name === first.name);
      if (found.length > 0) this.#use(file);
      return found;
    });
  }

  /** Everything that there is, used or not. */
  get all(): Pick<Script, "functions" | "globals"> {
    return {
      functions: this.#files.flatMap(({ script }) => script.functions),
      globals: this.#files.flatMap(({ script }) => script.globals),
    };
  }

  /** Takes the files whose functions something calls that the script has not itself. */
  take(calling: unknown, own: readonly FunctionDefinition[]): void {
    const known = new Set(own.map(({ name }) => name));
    visit(calling, ({ kind, name }) => {
      if (kind !== "call" || known.has(name)) return;
      const file = this.#files.find(({ script }) => script.functions.some((one) => one.name === name));
      if (file !== undefined) this.#use(file);
    });
  }

  #use(file: File): void {
    if (this.#used.has(file)) return;
    this.#used.add(file);
    this.take([file.script.functions, file.script.probes, file.script.aliases], file.script.functions);
  }

  get probes(): readonly ProbeDefinition[] {
    return [...this.#used].flatMap(({ script }) => script.probes);
  }

  get diagnostics(): readonly Diagnostic[] {
    return [...this.#used].flatMap(({ diagnostics }) => diagnostics);
  }

  /** Functions of the files that are used; the script's own come before. */
  functions(own: readonly FunctionDefinition[]): readonly FunctionDefinition[] {
    const known = new Set(own.map(({ name }) => name));
    return [...this.#used].flatMap(({ script }) => script.functions.filter(({ name }) => !known.has(name)));
  }

  globals(own: readonly Global[]): readonly Global[] {
    const known = new Set(own.map(({ name }) => name));
    return [...this.#used].flatMap(({ script }) => script.globals.filter(({ name }) => !known.has(name)));
  }
}
