// The command's parts (parts.mjs): what every script runs, what compiles one, and the rest. All but the first are loaded when something
// in them is first asked for. Each starts from V8's compiled code for it, where that is known.
import { constants, Script } from "node:vm";

export type PartName = "command" | "compiler" | "rest";

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
type Command = typeof import("./main.ts");

// import() of a script's own is an experiment still, and warns.
const importModule = (url: string): Promise<unknown> => import(url);

class Part {
  readonly exports: { readonly modules: Modules };
  readonly script: Script;
  /** V8 takes compiled code only of its own version and flags. */
  readonly known: boolean;

  constructor({ source, filename, folder, compiled }: PartSource, require: Require) {
    this.script = new Script(source, { filename, cachedData: compiled, importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER });
    this.known = compiled !== undefined && !this.script.cachedDataRejected;
    const module: { exports: { readonly modules: Modules } } = { exports: { modules: {} } };
    this.script.runInThisContext()(module.exports, require, module, filename, folder, importModule);
    this.exports = module.exports;
  }
}

export class Parts {
  readonly #read: (name: PartName) => PartSource;
  readonly #requirePackage: Require;
  readonly #parts = new Map<PartName, Part>();
  readonly #asked = new Map<string, unknown>();

  constructor(read: (name: PartName) => PartSource, requirePackage: Require) {
    this.#read = read;
    this.#requirePackage = requirePackage;
  }

  get command(): Command {
    return this.#part("command").exports as unknown as Command;
  }

  #part(name: PartName): Part {
    let part = this.#parts.get(name);
    if (part === undefined) this.#parts.set(name, (part = new Part(this.#read(name), this.#require)));
    return part;
  }

  /** `strobe:PART/PATH` is a module of another part. */
  readonly #require = (name: string): unknown => {
    const [, part, path] = /^strobe:(\w+)\/(.*)$/.exec(name) ?? [];
    if (path === undefined) return this.#requirePackage(name);
    let module = this.#asked.get(path);
    if (module === undefined) this.#asked.set(path, (module = this.#part(part as PartName).exports.modules[path]()));
    return module;
  };

  /**
   * Gives away the compiled code of parts that were loaded without. Functions that have run are in it, others are compiled when they
   * are first called: so it is done at the end.
   */
  async keep(write: (name: PartName, compiled: Buffer) => void): Promise<void> {
    if (!this.#part("command").known) await this.command.warmUp();
    for (const [name, { known, script }] of this.#parts) {
      if (!known) write(name, script.createCachedData());
    }
  }
}
