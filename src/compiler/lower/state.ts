// What lowering knows: of the module, and of the function being built. The recursive walk over expressions and
// statements goes through `Walk`, so that each file of this folder can call it without importing the others.
import type { Message } from "../../messages/message.ts";
import { InternalError } from "../../base/internal-error.ts";
import type { KeptCalls } from "../../language/context.ts";
import type {
  CheckedFunction,
  CheckedHandler,
  CheckedProgram,
  CheckedVariable,
} from "../../language/checked-program.ts";
import type { Capabilities } from "../../linux/kernel/capabilities.ts";
import type { FaultKind } from "../../language/faults.ts";
import type { Span } from "../../language/diagnostic.ts";
import { ScriptError } from "../../language/diagnostic.ts";
import type { Expression, IndexAccess, Statement } from "../../language/program.ts";
import type { Rules, Spelling } from "../../language/rules.ts";
import { u64 } from "../../language/types.ts";
import type { TupleType, Type } from "../../language/types.ts";
import { roundUp, sizeOf } from "../../language/layout.ts";
import type { EventAction } from "../plan.ts";
import type { UnkeptCalls } from "../layouts/counted-places.ts";
import type { Watches } from "../layouts/watches.ts";
import type { Instruction, IrFunction, IrMap, Place, ReadSpace, Source, Value } from "../ir/ir.ts";
import type { HeaderField } from "../layouts/record-header.ts";
import { isRegister } from "./registers.ts";
import type { Variable } from "./ssa.ts";
import { FunctionBuilder } from "./ssa.ts";

export interface LowerOptions {
  readonly capabilities: Capabilities;
  /** Load through pointers the verifier knows, instead of probe reads. */
  readonly directLoads: boolean;
  /** What records of events begin with. */
  readonly header: readonly HeaderField[];
}

/** Characters of a script that an internal error quotes. */
const mostShown = 80;

/** An event's schema before sizes and counters are laid out. */
export interface SchemaDraft {
  readonly action: EventAction;
  readonly fields: readonly { readonly name: string; readonly type: Type }[];
  readonly span: Span;
  readonly probe: string;
}

export interface ModuleState {
  readonly checked: CheckedProgram;
  readonly options: LowerOptions;
  readonly walk: Walk;
  /** The script's maps, then stack maps as they are needed. */
  readonly maps: IrMap[];
  readonly functions: IrFunction[];
  readonly schemas: SchemaDraft[];
  readonly timeFormats: string[];
  readonly packetFiles: string[];
  readonly probeNames: string[];
  /**
   * Loops that the kernel may cut short, by their places in the script; and probes that may be in calls that nothing
   * was kept of.
   */
  readonly loops: { readonly span: Span; readonly unkept?: UnkeptCalls }[];
  /** The maps in which something of calls is kept. */
  readonly kept: Map<KeptCalls, number>;
  /** With `-k`. */
  readonly watches?: Watches;
  /** Where in the script instructions are from: where handlers are captured. */
  readonly places?: WeakMap<Instruction, Span>;
}

/** The recursive walk. */
export interface Walk {
  /** A value of a register type, extended to 64 bits by its type. */
  value(f: FunctionState, expression: Expression): Value;
  /** Where a value that is not in a register lies. */
  locate(f: FunctionState, expression: Expression): Located;
  /** Writes an expression, converted to `type`, into memory. Every byte is written, padding included. */
  into(f: FunctionState, expression: Expression, type: Type, place: Place): void;
  /** The same, ready to be consumed once: in an event, or as a map's value. */
  source(f: FunctionState, expression: Expression, type: Type, padded: boolean): Source;
  /** Branches on an expression to two blocks that the caller seals. */
  condition(f: FunctionState, expression: Expression, then: number, otherwise: number): void;
  statement(f: FunctionState, statement: Statement): void;
  /** What is left to emit of an instruction in a `try` (faults.ts). */
  looked(f: FunctionState, instruction: Instruction, span: Span | undefined): Instruction | undefined;
  /** Writes the (key, value) tuple of a loop over a map. */
  entry(f: FunctionState, home: Home & { kind: "entry" }, to: Place): void;
}

/** Where bytes are. */
export type Located =
  /** In memory that must be read. */
  | { readonly at: "memory"; readonly space: ReadSpace; readonly address: Value; readonly offset: number }
  /** In this handler's own memory. */
  | { readonly at: "place"; readonly place: Place }
  /** Nowhere yet: made where they are wanted. */
  | { readonly at: "source"; readonly source: Source };

/** Where a variable lives. */
export type Home =
  | { readonly kind: "register"; readonly owner: FunctionState; readonly variable: Variable; readonly type: Type }
  /** Registers take 8 bytes here. */
  | {
      readonly kind: "memory";
      readonly owner: FunctionState;
      readonly place: Place;
      readonly type: Type;
      readonly captured?: Capture;
    }
  /** A loop's variable over a map: key and value in place. */
  | { readonly kind: "entry"; readonly owner: FunctionState; readonly map: number; readonly type: TupleType };

/** A variable of the enclosing function, shared with a map callback through the captures slot. */
interface Capture {
  readonly outer: Home;
  readonly offset: number;
  written: boolean;
}

/** The variables of a handler, or of a function while it is inlined. */
export interface Frame {
  readonly variables: readonly CheckedVariable[];
  readonly homes: Map<number, Home>;
  /** The frame that an inlined function was called from, and where. */
  readonly caller?: Frame;
  readonly call?: Span;
  /** The function whose variables they are. */
  readonly of?: string;
  /** While a function is inlined: where `return` goes. Otherwise it leaves the handler. */
  readonly inlined?: { readonly result: Home | undefined; readonly exit: number; readonly owner: FunctionState };
}

/** A `try` whose body is being built: where what fails goes on, and where the handler of errors looks. */
export interface Catch {
  readonly owner: FunctionState;
  readonly block: number;
  readonly kinds: ReadonlySet<FaultKind>;
  readonly error?: Home;
  /** What fails is told before it goes there. */
  readonly tells: boolean;
  /** The one around it. */
  readonly outer?: Catch;
}

/** Out of the script's function (or the handler), out of the handler at once, or to who looks at what failed. */
export type BodyExit = "return" | "handler" | Catch;

/** A function that calls itself: one of the module's, and where its arguments and its result are in its frame. */
export interface CalledFunction {
  readonly fn: CheckedFunction;
  readonly callback: number;
  readonly args: readonly number[];
  readonly result: number;
  readonly size: number;
  /** How many calls of it are under way, this one included; while its body is built. */
  readonly depth?: Home;
}

/** What `break` and `continue` mean here. */
export type Loop =
  | { readonly kind: "blocks"; readonly next: number; readonly exit: number }
  /** `continue` means the loop around it. */
  | { readonly kind: "switch"; readonly exit: number }
  | { readonly kind: "callback" };

export class FunctionState {
  readonly module: ModuleState;
  readonly handler: CheckedHandler;
  readonly build = new FunctionBuilder();
  /** The function that runs this one for each entry of a map. */
  readonly outer: FunctionState | undefined;
  /** What is lowered twice (unrolled) sends events of one schema. Shared with callbacks. */
  readonly schemas: Map<object, number>;
  /** Pointers that the verifier knows, and the struct it takes them for. */
  readonly typed = new Map<Value, { readonly name: string; readonly size: number }>();
  readonly loops: Loop[] = [];
  /** The innermost `try` around. */
  catching: Catch | undefined;
  /** The words that were kept at the function's entry. */
  kept: readonly Value[] = [];
  /**
   * While a number is read: the elements on the way to it, and the block (made when there is one) for an index outside
   * of its array.
   */
  outside: { readonly elements: ReadonlySet<IndexAccess>; block: number | undefined } | undefined;
  /** Where in the script sources stand that are read later. */
  readonly written = new WeakMap<Source, Span>();
  /** How often what is being lowered is there, through the `unroll`s around it. */
  unrolled = 1;
  /** The function of the script that this one is, where that calls itself. */
  called: CalledFunction | undefined;
  frame: Frame;
  /** The expression that is being lowered, and the statement. */
  #span: Span | undefined;
  #statement: Span | undefined;
  /** Slot of the outer function that this callback shares. */
  readonly #captureSlot: number;
  #captureSize = 0;
  readonly #captures = new Map<Home, Home & { kind: "memory" }>();
  readonly #capturedValues = new Map<string, Place>();
  readonly #leaves = new Map<BodyExit, Home>();
  /** Whether what fails may end the handler, by the language's rules. */
  readonly #ends: boolean;
  readonly #errors = new Map<Catch, Home>();

  constructor(module: ModuleState, handler: CheckedHandler, frame: Frame, outer?: FunctionState) {
    this.module = module;
    this.handler = handler;
    this.frame = frame;
    this.outer = outer;
    this.schemas = outer?.schemas ?? new Map();
    this.catching = outer?.catching;
    const { integers, maps, failedRead } = module.checked.program.rules;
    this.#ends = [integers.byZero, maps.missing, failedRead].includes("fault");
    this.build.watch = (instruction) => this.#looked(instruction);
    if (module.places !== undefined)
      this.build.places = { all: module.places, now: () => this.#span ?? this.#statement };
    this.#captureSlot = outer === undefined ? -1 : outer.build.newSlot("captures", 0);
  }

  // ── the walk, bound to this function ──

  value(expression: Expression): Value {
    return this.#at(expression, () => this.module.walk.value(this, expression));
  }
  locate(expression: Expression): Located {
    return this.#at(expression, () => this.module.walk.locate(this, expression));
  }
  into(expression: Expression, type: Type, place: Place): void {
    this.#at(expression, () => this.module.walk.into(this, expression, type, place));
  }
  source(expression: Expression, type: Type, padded: boolean): Source {
    const source = this.#at(expression, () => this.module.walk.source(this, expression, type, padded));
    if (this.#looks && !this.written.has(source)) this.written.set(source, expression.span);
    return this.module.watches === undefined ? source : this.module.watches.source(source, expression.span);
  }
  condition(expression: Expression, then: number, otherwise: number): void {
    this.module.walk.condition(this, expression, then, otherwise);
  }
  run(statement: Statement): void {
    const outer = this.#statement;
    this.#statement = statement.span;
    this.module.walk.statement(this, statement);
    this.#statement = outer;
  }

  /** Somebody may look at what fails. */
  get #looks(): boolean {
    return this.catching !== undefined || this.#ends;
  }

  /** With what looks at its failures: a `try` around it, and the counters of `-k`. */
  #looked(instruction: Instruction): Instruction | undefined {
    const { walk, watches } = this.module;
    const left = this.#looks ? walk.looked(this, instruction, this.#span ?? this.#statement) : instruction;
    return left === undefined || watches === undefined ? left : watched(left, watches, this.#span);
  }

  /** What is emitted meanwhile is of this expression. */
  #at<T>({ span }: Expression, lower: () => T): T {
    const outer = this.#span;
    this.#span = span;
    const made = lower();
    this.#span = outer;
    return made;
  }

  /** What the script's language means by the tree. */
  get rules(): Rules {
    return this.module.checked.program.rules;
  }

  /** How names are spelled in messages. */
  get spelling(): Spelling {
    return this.rules.spelling;
  }

  /** Stops compiling at what the checker does not let pass: a fault of strobe's. */
  fault({ start, end }: Span, what: string): never {
    const text = this.module.checked.program.source.text.slice(start, end);
    throw new InternalError(what, { during: `compiling \`${text.slice(0, mostShown)}\`` });
  }

  /** Stops compiling at what the checker lets pass, and what only here turns out to be too much or impossible. */
  refuse(span: Span, said: Message): never {
    const { source } = this.module.checked.program;
    throw new ScriptError(source, [{ severity: "error", span, ...said }]);
  }

  slot(name: string, type: Type): Place {
    return this.slotOf(name, Math.max(1, sizeOf(type)));
  }

  slotOf(name: string, size: number): Place {
    return { kind: "slot", slot: this.build.newSlot(name, size), offset: 0 };
  }

  // ── variables ──

  /** The home of a variable of the current frame, made when it is first met. */
  home(slot: number): Home {
    let home = this.frame.homes.get(slot);
    if (home === undefined) {
      const { name, type, addressed } = this.frame.variables[slot];
      home =
        addressed && isRegister(type)
          ? { kind: "memory", owner: this, place: this.slotOf(name, 8), type }
          : this.newHome(name, type);
      this.frame.homes.set(slot, home);
    }
    return this.reach(home);
  }

  newHome(name: string, type: Type): Home {
    return isRegister(type)
      ? { kind: "register", owner: this, variable: this.build.newVariable(), type }
      : { kind: "memory", owner: this, place: this.slot(name, type), type };
  }

  /** The block behind the clause that is built, where there are several of one event. */
  end?: number;

  /** Makes the frame's variables that live in all of it, from a slot on: 0 and "" at first. */
  beginVariables(from = 0): void {
    this.frame.variables.forEach(({ whole, type }, slot) => {
      if (!whole || slot < from || type.kind === "unknown") return;
      const home = this.home(slot);
      if (isRegister(type)) this.storeHome(home, this.build.constant(0n));
      else if (home.kind === "memory") this.build.emit({ op: "zero", at: home.place, size: sizeOf(type) });
    });
  }

  /** The home as this function can get at it: an outer function's variable is captured. */
  reach(home: Home): Home {
    if (home.owner === this) return home;
    const known = this.#captures.get(home);
    if (known !== undefined) return known;
    const outer = this.outer;
    if (outer === undefined) throw new InternalError("a variable of a function that does not enclose this one");
    const size = isRegister(home.type) ? 8 : sizeOf(home.type);
    const offset = this.#allocate(size);
    const capture: Capture = { outer: outer.reach(home), offset, written: false };
    const own = {
      kind: "memory",
      owner: this,
      place: { kind: "callback", of: "captures", offset },
      type: home.type,
      captured: capture,
    } as const;
    this.#captures.set(home, own);
    outer.#share(capture.outer, { kind: "slot", slot: this.#captureSlot, offset });
    return own;
  }

  /** The slot of the outer function that this one shares. */
  get captureSlot(): number {
    return this.#captureSlot;
  }

  /** Copies a variable into the slot that a callback will see. */
  #share(home: Home, to: Place): void {
    switch (home.kind) {
      case "register":
        this.build.emit({ op: "store", to, value: this.build.read(home.variable), size: 8 });
        return;
      case "memory":
        if (isRegister(home.type)) this.build.emit({ op: "store", to, value: this.loadHome(home), size: 8 });
        else this.build.emit({ op: "fill", to, source: { kind: "copy", from: home.place, size: sizeOf(home.type) } });
        return;
      case "entry":
        this.module.walk.entry(this, home, to);
        return;
    }
  }

  /** Room in front of what is shared. */
  reserve(size: number): void {
    this.#captureSize += size;
  }

  #allocate(size: number): number {
    const offset = this.#captureSize;
    this.#captureSize = offset + roundUp(Math.max(size, 1), 8);
    return offset;
  }

  /** The value of a register variable. */
  loadHome(home: Home): Value {
    if (home.kind === "register") return this.build.read(home.variable);
    if (home.kind === "entry") throw new InternalError("a loop's entry is not a register");
    return this.build.give((result) => ({ op: "load", result, from: home.place, size: 8, signed: false }));
  }

  storeHome(home: Home, value: Value): void {
    if (home.kind === "register") this.build.write(home.variable, value);
    else if (home.kind === "memory") {
      this.markWritten(home);
      this.build.emit({ op: "store", to: home.place, value, size: 8 });
    }
  }

  markWritten(home: Home): void {
    if (home.kind === "memory" && home.captured) home.captured.written = true;
  }

  /**
   * A value that only the handler's own function can compute (it needs the context), for use here: computed there
   * before the loop and passed along.
   */
  fromHandler(key: string, compute: (handler: FunctionState) => Value): Value {
    const outer = this.outer;
    if (outer === undefined) return compute(this);
    let place = this.#capturedValues.get(key);
    if (place === undefined) {
      const offset = this.#allocate(8);
      place = { kind: "callback", of: "captures", offset };
      this.#capturedValues.set(key, place);
      const value = outer.fromHandler(key, compute);
      outer.build.emit({ op: "store", to: { kind: "slot", slot: this.#captureSlot, offset }, value, size: 8 });
    }
    const from = place;
    return this.build.give((result) => ({ op: "load", result, from, size: 8, signed: false }));
  }

  /** Where what failed is told, for a `try` that looks: in a callback for the outer function to take back. */
  errorHome(target: Catch): Home | undefined {
    const { error } = target;
    if (error === undefined || target.owner === this) return error;
    let home = this.#errors.get(target);
    if (home === undefined) {
      const size = sizeOf(error.type);
      const offset = this.#allocate(size);
      home = { kind: "memory", owner: this, place: { kind: "callback", of: "captures", offset }, type: error.type };
      this.#errors.set(target, home);
      this.outer?.build.emit({ op: "zero", at: { kind: "slot", slot: this.#captureSlot, offset }, size });
    }
    return home;
  }

  /** Behind a loop over a map in which something failed: takes what is told of it from the callback. */
  takeError(callback: FunctionState, target: Catch): void {
    const [own, from] = [this.errorHome(target), callback.#errors.get(target)];
    if (own?.kind !== "memory" || from?.kind !== "memory") return;
    const place: Place = { kind: "slot", slot: callback.#captureSlot, offset: from.place.offset };
    this.build.emit({ op: "fill", to: own.place, source: { kind: "copy", from: place, size: sizeOf(own.type) } });
  }

  /**
   * In a callback: ends the loop, and tells the outer function to leave in the same way. The flag is an outer variable.
   */
  leaveLoop(way: BodyExit): void {
    const outer = this.outer;
    if (outer === undefined) throw new InternalError("not in a loop over a map");
    let flag = this.#leaves.get(way);
    if (flag === undefined) {
      flag = outer.newHome(typeof way === "string" ? way : "failed", u64);
      this.#leaves.set(way, flag);
      // Cleared on the way in: the loop may itself be in a loop.
      outer.storeHome(flag, outer.build.constant(0n));
    }
    this.storeHome(this.reach(flag), this.build.constant(1n));
    this.build.return(true);
  }

  /**
   * After the callback is built: fixes the size of what is shared. Gives the slot (when anything is), and what the
   * outer function does once the loop is over: take back what the callback wrote.
   */
  closeCaptures(): { slot: number | undefined; takeBack: () => void; leaves: ReadonlyMap<BodyExit, Home> } {
    const outer = this.outer;
    if (outer === undefined) throw new InternalError("only callbacks capture");
    outer.build.slots[this.#captureSlot].size = Math.max(8, this.#captureSize);
    const takeBack = (): void => {
      for (const { captured, type } of this.#captures.values()) {
        if (captured === undefined || !captured.written) continue;
        const from: Place = { kind: "slot", slot: this.#captureSlot, offset: captured.offset };
        const { outer: home } = captured;
        if (isRegister(type)) {
          outer.storeHome(
            home,
            outer.build.give((result) => ({ op: "load", result, from, size: 8, signed: false })),
          );
        } else if (home.kind === "memory") {
          outer.markWritten(home);
          outer.build.emit({ op: "fill", to: home.place, source: { kind: "copy", from, size: sizeOf(type) } });
        }
      }
    };
    return { slot: this.#captureSize > 0 ? this.#captureSlot : undefined, takeBack, leaves: this.#leaves };
  }
}

/** With where its failures are counted, when it is one that can fail. */
function watched(instruction: Instruction, watches: Watches, span: Span | undefined): Instruction {
  if (span === undefined) return instruction;
  switch (instruction.op) {
    case "read": {
      const { space } = instruction;
      return space === "typed" ? instruction : { ...instruction, watch: watches.at(span, `probe_read_${space}`) };
    }
    case "fill":
    case "fill-element":
    case "map-store":
      return { ...instruction, source: watches.source(instruction.source, span) };
    case "emit":
      return { ...instruction, fields: instruction.fields.map((field) => watches.source(field, span)) };
    case "entry-load":
    case "entry-copy":
      return { ...instruction, watch: watches.at(span, "map_lookup_elem") };
    default:
      return instruction;
  }
}
