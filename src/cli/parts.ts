// The command's two parts (parts.mjs): what every script runs, and the rest, which is loaded when something in it is first asked for.
// Each starts from V8's compiled code for it, where that is known.
import { constants, Script } from "node:vm";

export type PartName = "command" | "rest";

export interface PartSource {
  /** A function that takes what Node gives to a module. */
  readonly source: string;
  readonly filename: string;
  readonly folder: string;
  /** What `keep` was given before. */
  readonly compiled: Buffer | undefined;
}

type Modules = Readonly<Record<string, () => unknown>>;
type Require = (name: string) => unknown;
export type Command = typeof import("./main.ts") & { readonly modules: Modules };

// import() of a script's own is an experiment still, and warns.
const importModule = (url: string): Promise<unknown> => import(url);

class Part<Exports> {
  readonly exports: Exports;
  readonly script: Script;
  /** V8 takes compiled code only of its own version and flags. */
  readonly known: boolean;

  constructor({ source, filename, folder, compiled }: PartSource, require: Require) {
    this.script = new Script(source, { filename, cachedData: compiled, importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER });
    this.known = compiled !== undefined && !this.script.cachedDataRejected;
    const module: { exports: Partial<Exports> } = { exports: {} };
    this.script.runInThisContext()(module.exports, require, module, filename, folder, importModule);
    this.exports = module.exports as Exports;
  }
}

export class Parts {
  readonly #read: (name: PartName) => PartSource;
  readonly #requirePackage: Require;
  readonly #first: Part<Command>;
  #rest: Part<{ readonly modules: Modules }> | undefined;
  readonly #asked = new Map<string, unknown>();

  constructor(read: (name: PartName) => PartSource, requirePackage: Require) {
    this.#read = read;
    this.#requirePackage = requirePackage;
    this.#first = new Part(read("command"), this.#require);
  }

  get command(): Command {
    return this.#first.exports;
  }

  /** `strobe:PATH` is a module of the command, in the part that did not ask for it. */
  readonly #require = (name: string): unknown => {
    if (!name.startsWith("strobe:")) return this.#requirePackage(name);
    let module = this.#asked.get(name);
    if (module === undefined) {
      const path = name.slice("strobe:".length);
      const load = this.#first.exports.modules[path] ?? (this.#rest ??= new Part(this.#read("rest"), this.#require)).exports.modules[path];
      this.#asked.set(name, (module = load()));
    }
    return module;
  };

  /**
   * Gives away the compiled code of parts that were loaded without. Functions that have run are in it, others are compiled when they
   * are first called: so it is done at the end.
   */
  async keep(write: (name: PartName, compiled: Buffer) => void): Promise<void> {
    if (!this.#first.known) await this.command.warmUp();
    for (const [name, part] of [["command", this.#first], ["rest", this.#rest]] as const) {
      if (part?.known === false) write(name, part.script.createCachedData());
    }
  }
}
