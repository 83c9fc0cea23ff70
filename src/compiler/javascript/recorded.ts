// Whether a handler can run over recorded events: what it asks of the moment must be in the rows.
import type { RecordedRow, RecordedText, RecordedWord } from "../../language/context.ts";
import { operandsOf, terminatorOperands } from "../optimize/operands.ts";
import type { BuiltinValue, Instruction, IrFunction, Source, Value } from "../ir/ir.ts";

/** What a handler, with the callbacks that it calls, asks that rows do not have; undefined where it can run. */
export function notInRows(fn: IrFunction, functions: readonly IrFunction[], row: RecordedRow): string | undefined {
  const origins = new Origins(fn, row);
  for (const { instructions } of fn.blocks) {
    for (const instruction of instructions) {
      const asked = inInstruction(instruction, row, origins);
      if (asked !== undefined) return asked;
      const callback = calledBy(instruction, fn, functions);
      const within = callback === undefined ? undefined : notInRows(callback, functions, row);
      if (within !== undefined) return within;
    }
  }
  return undefined;
}

/** Of the first text that may have been cut when it was recorded: bytes that were kept, and that are asked for. */
export function cutText(
  fn: IrFunction,
  functions: readonly IrFunction[],
  row: RecordedRow,
): { readonly kept: number; readonly wanted: number } | undefined {
  const origins = new Origins(fn, row);
  for (const { instructions } of fn.blocks) {
    for (const instruction of instructions) {
      for (const source of sourcesOf(instruction)) {
        if (source.kind !== "string") continue;
        const cut = origins.cut(source);
        if (cut !== undefined) return cut;
      }
      const callback = calledBy(instruction, fn, functions);
      const within = callback === undefined ? undefined : cutText(callback, functions, row);
      if (within !== undefined) return within;
    }
  }
  return undefined;
}

/**
 * The parts of rows that a handler with its callbacks looks at, besides time and site; undefined where that may be any.
 * Texts that were recorded with their pointers are found by all of these.
 */
export function readsOfRow(
  fn: IrFunction,
  functions: readonly IrFunction[],
  row: RecordedRow,
): readonly (readonly [offset: number, size: number])[] | undefined {
  const origins = new Origins(fn, row);
  const reads: (readonly [offset: number, size: number])[] = [];
  const words = (...names: readonly RecordedWord[]): void => {
    for (const name of names) {
      const at = row.words[name];
      if (at !== undefined) reads.push([at.offset, at.size]);
    }
  };
  for (const { instructions } of fn.blocks) {
    for (const instruction of instructions) {
      switch (instruction.op) {
        case "load-context":
          reads.push([instruction.offset, instruction.size]);
          break;
        case "builtin":
          if (instruction.name === "pid-and-tid") words("pid", "tid");
          else if (instruction.name === "gid-and-uid") words("gid", "uid");
          else if (["cpu", "cgroup", "user-mode"].includes(instruction.name)) words(instruction.name as RecordedWord);
          break;
        case "read":
          return undefined;
        case "call":
        case "for-each": {
          const callback = calledBy(instruction, fn, functions);
          const within = callback === undefined ? [] : readsOfRow(callback, functions, row);
          if (within === undefined) return undefined;
          reads.push(...within);
          break;
        }
        default:
          break;
      }
      for (const source of sourcesOf(instruction)) {
        switch (source.kind) {
          case "comm":
            if (row.comm !== undefined) reads.push([row.comm, 16]);
            break;
          case "stack":
            for (const at of [row.kernelStack, row.userStack]) if (at !== undefined) reads.push([at, 8]);
            words("pid", "tid");
            break;
          case "string":
            if (origins.of(source.address) !== "text") return undefined;
            for (const { pointer, offset, size } of row.texts) reads.push([pointer, 8], [offset, size]);
            break;
          case "memory":
          case "buffer":
            return undefined;
          default:
            break;
        }
      }
    }
  }
  return reads;
}

/** The body of a loop, or a function; not one that is called by itself. */
function calledBy(i: Instruction, fn: IrFunction, functions: readonly IrFunction[]): IrFunction | undefined {
  const called = i.op === "for-each" || i.op === "call" ? functions[i.callback] : undefined;
  return called === fn ? undefined : called;
}

function sourcesOf(instruction: Instruction): readonly Source[] {
  switch (instruction.op) {
    case "fill":
    case "fill-element":
    case "map-store":
      return [instruction.source];
    case "emit":
      return instruction.fields;
    default:
      return [];
  }
}

function inInstruction(instruction: Instruction, row: RecordedRow, origins: Origins): string | undefined {
  switch (instruction.op) {
    case "builtin":
      // Half of it may be there: other tools know threads, not processes.
      if (instruction.name === "pid-and-tid" && row.words.pid === undefined && row.words.tid !== undefined)
        return origins.isLowHalfOnly(instruction.result) ? undefined : "pid";
      return ofBuiltin(instruction.name, row);
    case "read":
      return origins.of(instruction.address) === "row" ? undefined : "memory behind a pointer";
    case "fill":
    case "fill-element":
    case "map-store":
    case "emit":
      for (const source of sourcesOf(instruction)) {
        const asked = ofSource(source, row, origins);
        if (asked !== undefined) return asked;
      }
      return undefined;
    case "signal":
      return "the process that a signal is sent to";
    case "override":
      return "the function whose result is overridden";
    case "write-user":
      return "the memory that is written to";
    case "stack-length":
      return "the length of a stack";
    case "address-of":
      return "the address of a variable";
    case "kernel-print":
      return "the kernel's trace";
    case "packet":
      return "a packet";
    case "percpu-address":
      return "a variable of the kernel";
    case "socket-cookie":
      return "a socket's cookie";
    case "rounds":
      return "a loop that is called";
    default:
      return undefined;
  }
}

function ofBuiltin(name: BuiltinValue, { words, site, timeOfDay }: RecordedRow): string | undefined {
  switch (name) {
    case "pid-and-tid":
      return words.pid === undefined || words.tid === undefined ? "pid" : undefined;
    case "gid-and-uid":
      return words.uid === undefined || words.gid === undefined ? "uid" : undefined;
    case "cpu":
      return words.cpu === undefined ? "cpu" : undefined;
    case "cgroup":
      return words.cgroup === undefined ? "cgroup" : undefined;
    case "user-mode":
      return words["user-mode"] === undefined ? "usermode" : undefined;
    case "nsecs-wall":
      return timeOfDay === false ? "the time of day" : words.time === undefined ? "nsecs" : undefined;
    case "nsecs-boot":
    case "nsecs-monotonic":
    case "elapsed":
      return words.time === undefined ? "nsecs" : undefined;
    case "attach-cookie":
      return site === undefined ? "probe" : undefined;
    case "context":
    case "child-pid":
    case "random":
      return undefined;
    case "task":
      return "curtask";
    case "func-ip":
      return "func";
    default:
      return name.startsWith("helper:") ? `${name.slice("helper:".length)}()` : name;
  }
}

function ofSource(source: Source, row: RecordedRow, origins: Origins): string | undefined {
  switch (source.kind) {
    case "value":
    case "copy":
    case "constant":
      return undefined;
    case "comm":
      return row.comm === undefined ? "comm" : undefined;
    case "path":
      return "a path";
    case "stack": {
      if (source.mode === "build_id" && row.files !== true) return "a stack of build ids";
      const at = source.space === "kernel" ? row.kernelStack : row.userStack;
      return at === undefined ? (source.space === "kernel" ? "kstack" : "ustack") : undefined;
    }
    case "string":
      return origins.of(source.address) === undefined ? "the text behind a pointer" : undefined;
    case "memory":
    case "buffer":
      return origins.of(source.address) === "row" ? undefined : "memory behind a pointer";
  }
}

/** Where addresses lead: into the row, to a text that was recorded with its pointer, or nobody knows. */
class Origins {
  readonly #made = new Map<Value, Instruction>();
  readonly #row: RecordedRow;
  readonly #fn: IrFunction;

  constructor(fn: IrFunction, row: RecordedRow) {
    this.#row = row;
    this.#fn = fn;
    for (const { instructions } of fn.blocks)
      for (const instruction of instructions)
        if ("result" in instruction && instruction.result !== undefined)
          this.#made.set(instruction.result, instruction);
  }

  of(value: Value): "row" | "text" | undefined {
    const made = this.#made.get(value);
    if (made?.op === "builtin") return made.name === "context" ? "row" : undefined;
    if (made?.op === "load-context")
      return this.#row.texts.some(({ pointer }) => pointer === made.offset && made.size === 8) ? "text" : undefined;
    if (made?.op !== "binary") return undefined;
    // The address, or none.
    if (made.kind === "and") return this.of(made.left) === "row" ? "row" : undefined;
    if (made.kind !== "add") return undefined;
    const [left, right] = [this.of(made.left), this.of(made.right)];
    // Within a text only so far as is known.
    if (left === "row" || right === "row") return left === right ? undefined : "row";
    const other = this.#made.get(left === "text" ? made.right : made.left);
    return (left === "text") !== (right === "text") && other?.op === "constant" && other.value >= 0n
      ? "text"
      : undefined;
  }

  /** Whether nothing asks for more of a value than its low half. */
  isLowHalfOnly(value: Value): boolean {
    return this.#fn.blocks.every(
      ({ instructions, terminator }) =>
        !terminatorOperands(terminator).includes(value) &&
        instructions.every((user) => !operandsOf(user).includes(value) || (user.op === "extend" && user.bits <= 32)),
    );
  }

  /** Where more of a text is asked for than was kept: bytes without the terminator. */
  cut({
    address,
    limit,
    size,
  }: Extract<Source, { kind: "string" }>): { readonly kept: number; readonly wanted: number } | undefined {
    const place = this.#place(address);
    if (place === undefined) return undefined;
    const { offset } = place;
    const text =
      place.text ?? this.#row.ownTexts?.find((own) => offset >= own.offset && offset < own.offset + own.size);
    if (text === undefined) return undefined;
    const skipped = place.text === undefined ? offset - text.offset : offset;
    const most = limit === undefined ? undefined : this.#made.get(limit);
    const asked = most?.op === "constant" ? Math.min(Number(BigInt.asUintN(64, most.value)), size - 1) : size - 1;
    const [kept, wanted] = [text.size - 1, skipped + asked];
    return wanted > kept ? { kept, wanted } : undefined;
  }

  /** So many bytes into the row, or into a text. */
  #place(value: Value): { readonly text?: RecordedText; readonly offset: number } | undefined {
    const made = this.#made.get(value);
    if (made?.op === "builtin") return made.name === "context" ? { offset: 0 } : undefined;
    if (made?.op === "load-context") {
      const text = this.#row.texts.find(({ pointer }) => pointer === made.offset);
      return text === undefined ? undefined : { text, offset: 0 };
    }
    if (made?.op !== "binary" || made.kind !== "add") return undefined;
    for (const [base, more] of [
      [made.left, made.right],
      [made.right, made.left],
    ]) {
      const [place, by] = [this.#place(base), this.#made.get(more)];
      if (place !== undefined && by?.op === "constant") return { ...place, offset: place.offset + Number(by.value) };
    }
    return undefined;
  }
}
