// The command's parts (parts.mjs): what every script runs, what compiles one, and the rest. All but the first are
// loaded when something in them is first asked for. Each starts from V8's compiled code for it, where that is known.
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
/** Imports a module that lies beside the library, by its file's name. */
type ImportModule = (name: string) => Promise<unknown>;
type Command = typeof import("./main.ts");

class Part {
  readonly exports: { readonly modules: Modules };
  readonly script: Script;
  /** V8 takes compiled code only of its own version and flags. */
  readonly known: boolean;

  constructor({ source, filename, folder, compiled }: PartSource, require: Require, importModule: ImportModule) {
    this.script = new Script(source, {
      filename,
      cachedData: compiled,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    this.known = compiled !== undefined && !this.script.cachedDataRejected;
    const module: { exports: { readonly modules: Modules } } = { exports: { modules: {} } };
    this.script.runInThisContext()(module.exports, require, module, filename, folder, importModule);
    this.exports = module.exports;
  }
}

export class Parts {
  readonly #read: (name: PartName) => PartSource;
  readonly #requirePackage: Require;
  readonly #importModule: ImportModule;
  readonly #parts = new Map<PartName, Part>();
  readonly #asked = new Map<string, unknown>();

  constructor(read: (name: PartName) => PartSource, requirePackage: Require, importModule: ImportModule) {
    this.#read = read;
    this.#requirePackage = requirePackage;
    this.#importModule = importModule;
  }

  get command(): Command {
    return this.#part("command").exports as unknown as Command;
  }

  #part(name: PartName): Part {
    let part = this.#parts.get(name);
    if (part === undefined)
      this.#parts.set(name, (part = new Part(this.#read(name), this.#require, this.#importModule)));
    return part;
  }

  /** `strobe:PART/PATH` is a module of another part. */
  readonly #require = (name: string): unknown => {
    let module = this.#asked.get(name);
    if (module === undefined) this.#asked.set(name, (module = this.#load(name)));
    return module;
  };

  #load(name: string): unknown {
    const [, part, path] = /^strobe:(\w+)\/(.*)$/.exec(name) ?? [];
    return path === undefined ? this.#requirePackage(name) : this.#part(part as PartName).exports.modules[path]();
  }

  /**
   * Gives away the compiled code of parts that were loaded without. Functions that have run are in it, others are
   * compiled when they are first called: so it is done at the end.
   */
  async keep(write: (name: PartName, compiled: Buffer) => void): Promise<void> {
    const unknown = (): [PartName, Part][] => [...this.#parts].filter(([, { known }]) => !known);
    if (unknown().length === 0) return;
    const { setFlagsFromString } = process.getBuiltinModule("node:v8");
    // A function that has become machine code here would be made so in every start, early, and by the thread that waits
    // for it (Node 20). One that has not run for a while would be let go of.
    const flags = ["sparkplug", "flush-bytecode"];
    for (const flag of flags) setFlagsFromString(`--no-${flag}`);
    if (!this.#part("command").known) await this.command.warmUp();
    // Compiled code is for a V8 with the flags of when it was given away.
    for (const flag of flags) setFlagsFromString(`--${flag}`);
    for (const [name, { script }] of unknown()) write(name, script.createCachedData());
  }
}
