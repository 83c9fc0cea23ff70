import type { CompiledScript, ScriptOptions } from "../api/compile.ts";
import { KeptPlan, type KnownPlan } from "../api/kept-plans.ts";
import type { Openable, CodeChoices } from "../api/open.ts";
import type { Plan } from "../compiler/plan.ts";
import type { Source } from "../language/diagnostic.ts";
import type { SeenFile } from "../store/seen-files.ts";
import { lazy } from "../base/lazy.ts";

// Loaded for a script whose plan is not known.
const compiling = lazy<typeof import("../api/compile.ts")>(() => require("../api/compile.ts"));

/** The plan of the script that the command runs: kept since it ran before, or made now. */
export class ScriptPlan {
  readonly source: Source;
  readonly options: ScriptOptions;
  /** The plan that was kept, with what is to be said of the script. */
  readonly known: KnownPlan | undefined;
  readonly #kept: KeptPlan | undefined;
  #compiled: CompiledScript | undefined;
  #files: readonly SeenFile[] | undefined;

  /** `build`: see KeptPlan; without one, nothing is looked for and nothing kept. */
  constructor(source: Source, options: ScriptOptions, build: string | undefined) {
    this.source = source;
    this.options = options;
    this.#kept = build === undefined ? undefined : KeptPlan.of(build, source, options);
    this.known = this.#kept?.find();
  }

  get plan(): Plan | undefined {
    return this.known?.plan ?? this.#compiled?.plan;
  }

  get openable(): Openable {
    return this.#compiled ?? { plan: this.known?.plan, diagnostics: this.known?.said?.diagnostics ?? [] };
  }

  /** Of libraries in other versions than their descriptions are of. */
  get unfittingTypes(): readonly string[] {
    return this.#compiled?.machine.unfittingTypes() ?? [];
  }

  compile(way: CodeChoices = {}): CompiledScript {
    this.#compiled = compiling().compileScript(this.source, { ...this.options, ...way });
    this.#files = this.#compiled.machine.madeOf();
    return this.#compiled;
  }

  /** Once it has run: what was found out, for the next time. */
  keep(): void {
    if (this.#compiled === undefined) return;
    const { plan, program, diagnostics, following, machine } = this.#compiled;
    machine.keepTypes();
    if (plan === undefined || this.#files === undefined || following !== undefined) return;
    if (diagnostics.some(({ severity }) => severity === "error")) return;
    const said = diagnostics.length === 0 ? {} : { said: { source: program.source, diagnostics } };
    this.#kept?.keep({ plan, ...said }, this.#files);
  }

  /** What was kept did not do. */
  forget(): void {
    if (this.known !== undefined) this.#kept?.forget();
  }
}
