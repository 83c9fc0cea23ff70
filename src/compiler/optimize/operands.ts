// What an instruction reads and writes: the one place that walks every operation's operands.
import type { Instruction, Place, Source, Terminator, Value } from "../ir/ir.ts";

/** The value an instruction defines. A fill's `length` is one too, or whether it failed. */
export function resultOf(instruction: Instruction): Value | undefined {
  if (instruction.op === "fill") return instruction.length ?? instruction.failed;
  return "result" in instruction ? instruction.result : undefined;
}

/** Every value an instruction uses, in order. */
export function operandsOf(instruction: Instruction): Value[] {
  const used: Value[] = [];
  mapOperands(instruction, (value) => (used.push(value), value));
  return used;
}

/** The same instruction over other values. */
export function mapOperands(instruction: Instruction, to: (value: Value) => Value): Instruction {
  const i = instruction;
  switch (i.op) {
    case "binary":
    case "compare":
      return { ...i, left: to(i.left), right: to(i.right) };
    case "extend":
    case "swap-bytes":
    case "store":
    case "map-add":
    case "override":
      return { ...i, value: to(i.value) };
    case "cut-string":
      return { ...i, length: to(i.length) };
    case "host-text":
      return { ...i, args: i.args.map((arg) => (typeof arg === "number" ? to(arg) : arg)) };
    case "read":
      return { ...i, address: to(i.address) };
    case "write-user":
      return { ...i, address: to(i.address), ...(i.last === undefined ? {} : { last: to(i.last) }) };
    case "fill":
    case "map-store":
      return { ...i, source: mapSource(i.source, to) };
    case "fill-element":
      return { ...i, index: to(i.index), source: mapSource(i.source, to) };
    case "aggregate":
      return {
        ...i,
        ...(i.value === undefined ? {} : { value: to(i.value) }),
        ...(i.time === undefined ? {} : { time: to(i.time) }),
        ...(i.weight === undefined ? {} : { weight: to(i.weight) }),
      };
    case "aggregate-read":
      return i.bucket === undefined ? i : { ...i, bucket: to(i.bucket) };
    case "emit":
      return { ...i, fields: i.fields.map((f) => mapSource(f, to)) };
    case "signal":
      return { ...i, signal: to(i.signal) };
    case "percpu-address":
      return i.cpu === undefined ? i : { ...i, cpu: to(i.cpu) };
    case "socket-cookie":
      return { ...i, socket: to(i.socket) };
    case "kernel-print":
      return i.sequence === undefined ? i : { ...i, sequence: to(i.sequence) };
    case "packet":
      return { ...i, skb: to(i.skb), length: to(i.length), skipped: to(i.skipped), whole: to(i.whole) };
    case "constant":
    case "builtin":
    case "address-of":
    case "load-context":
    case "load":
    case "zero":
    case "compare-strings":
    case "compare-bytes":
    case "find-string":
    case "concat-strings":
    case "string-length":
    case "map-lookup":
    case "map-make":
    case "map-load":
    case "map-copy":
    case "map-has":
    case "map-delete":
    case "map-length":
    case "stack-length":
    case "call":
    case "rounds":
    case "loop-cut":
    case "parse-address":
      return i;
    case "entry-load":
    case "entry-copy":
      return { ...i, entry: to(i.entry) };
    case "for-each":
      return i.limit === undefined ? i : { ...i, limit: to(i.limit) };
  }
}

function mapSource(source: Source, to: (value: Value) => Value): Source {
  switch (source.kind) {
    case "value":
      return { ...source, value: to(source.value) };
    case "string":
      return {
        ...source,
        address: to(source.address),
        ...(source.limit === undefined ? {} : { limit: to(source.limit) }),
      };
    case "memory":
    case "path":
      return { ...source, address: to(source.address) };
    case "buffer":
      return { ...source, address: to(source.address), length: to(source.length) };
    case "copy":
    case "constant":
    case "comm":
    case "stack":
      return source;
  }
}

/** The same instruction over other slots: those that it reads, and those that it writes. */
export function mapSlots(i: Instruction, read: SlotMap, written: SlotMap): Instruction {
  switch (i.op) {
    case "load":
    case "write-user":
      return { ...i, from: moved(i.from, read) };
    case "store":
    case "parse-address":
      return { ...i, to: moved(i.to, written) };
    case "zero":
      return { ...i, at: moved(i.at, written) };
    // The very slot: one that holds the same now may not later.
    case "address-of":
      return i.what.kind === "map" ? i : { ...i, what: moved(i.what, written) };
    case "fill":
    case "fill-element":
      return { ...i, to: moved(i.to, written), source: sourceMoved(i.source, read) };
    case "compare-strings":
      return { ...i, left: moved(i.left, read), right: i.right instanceof Uint8Array ? i.right : moved(i.right, read) };
    case "compare-bytes":
      return { ...i, left: moved(i.left, read), right: moved(i.right, read) };
    case "find-string":
      return {
        ...i,
        text: moved(i.text, read),
        needle: i.needle instanceof Uint8Array ? i.needle : moved(i.needle, read),
      };
    case "concat-strings":
      return { ...i, to: moved(i.to, written), left: moved(i.left, read), right: moved(i.right, read) };
    case "cut-string":
      return { ...i, to: moved(i.to, written), text: moved(i.text, read) };
    case "host-text":
      return {
        ...i,
        args: i.args.map((arg) => (typeof arg === "number" ? arg : { ...arg, text: moved(arg.text, read) })),
        ...(i.to === undefined ? {} : { to: moved(i.to, written) }),
      };
    case "string-length":
      return { ...i, text: moved(i.text, read) };
    case "stack-length":
      return { ...i, stack: moved(i.stack, read) };
    case "kernel-print":
      return { ...i, format: moved(i.format, read), data: moved(i.data, read) };
    case "entry-copy":
    case "map-copy":
      return { ...i, to: moved(i.to, written) };
    case "map-lookup":
    case "map-make":
      return { ...i, key: moved(i.key, read) };
    case "map-store":
      return keyMoved({ ...i, source: sourceMoved(i.source, read) }, read);
    case "map-add":
    case "map-delete":
    case "aggregate":
    case "aggregate-read":
      return keyMoved(i, read);
    case "for-each":
      return i.captures === undefined ? i : { ...i, captures: written(i.captures) };
    case "call":
    case "rounds":
      return { ...i, frame: written(i.frame) };
    case "emit":
      return { ...i, fields: i.fields.map((field) => sourceMoved(field, read)) };
    case "constant":
    case "binary":
    case "compare":
    case "extend":
    case "swap-bytes":
    case "builtin":
    case "load-context":
    case "read":
    case "entry-load":
    case "map-load":
    case "map-has":
    case "map-length":
    case "loop-cut":
    case "signal":
    case "override":
    case "percpu-address":
    case "packet":
    case "socket-cookie":
      return i;
  }
}

type SlotMap = (slot: number) => number;

function moved(place: Place, to: SlotMap): Place {
  if (place.kind !== "slot") return place;
  const slot = to(place.slot);
  return slot === place.slot ? place : { ...place, slot };
}

function sourceMoved(source: Source, to: SlotMap): Source {
  return source.kind === "copy" ? { ...source, from: moved(source.from, to) } : source;
}

function keyMoved<T extends { readonly key?: Place }>(instruction: T, to: SlotMap): T {
  return instruction.key === undefined ? instruction : { ...instruction, key: moved(instruction.key, to) };
}

export function mapTerminator(terminator: Terminator, to: (value: Value) => Value): Terminator {
  switch (terminator.op) {
    case "jump":
      return { ...terminator, args: terminator.args.map(to) };
    case "branch":
      return { ...terminator, condition: to(terminator.condition) };
    case "guard":
    case "return":
      return terminator;
  }
}

export function terminatorOperands(terminator: Terminator): readonly Value[] {
  switch (terminator.op) {
    case "jump":
      return terminator.args;
    case "branch":
      return [terminator.condition];
    case "guard":
    case "return":
      return [];
  }
}

/** The blocks a terminator leads to, each edge once. */
export function successorsOf(terminator: Terminator): number[] {
  switch (terminator.op) {
    case "jump":
      return [terminator.to];
    case "branch":
      return [terminator.then, terminator.otherwise];
    case "guard":
      return [terminator.body, terminator.exit];
    case "return":
      return [];
  }
}

/** The same terminator towards other blocks. */
export function retarget(terminator: Terminator, to: (block: number) => number): Terminator {
  switch (terminator.op) {
    case "jump":
      return { ...terminator, to: to(terminator.to) };
    case "branch":
      return { ...terminator, then: to(terminator.then), otherwise: to(terminator.otherwise) };
    case "guard":
      return { ...terminator, body: to(terminator.body), exit: to(terminator.exit) };
    case "return":
      return terminator;
  }
}

/** The slot that an instruction only writes into; undefined when it does anything else. */
export function writtenSlot(i: Instruction): number | undefined {
  switch (i.op) {
    case "store":
    case "fill":
    case "fill-element":
    case "concat-strings":
    case "cut-string":
    case "entry-copy":
    case "map-copy":
    case "parse-address":
      return i.to.kind === "slot" ? i.to.slot : undefined;
    case "host-text":
      return i.to?.kind === "slot" ? i.to.slot : undefined;
    case "zero":
      return i.at.kind === "slot" ? i.at.slot : undefined;
    default:
      return undefined;
  }
}

/** Whether an instruction that nobody uses the result of can go: it changes nothing that can be seen. */
export function isPure(instruction: Instruction): boolean {
  switch (instruction.op) {
    case "constant":
    case "binary":
    case "compare":
    case "extend":
    case "swap-bytes":
    case "builtin":
    case "load-context":
    case "load":
    case "read":
    case "compare-strings":
    case "compare-bytes":
    case "find-string":
    case "string-length":
    case "map-lookup":
    case "entry-load":
    case "map-load":
    case "map-has":
    case "map-length":
    case "aggregate-read":
    case "stack-length":
    case "percpu-address":
    case "address-of":
    case "socket-cookie":
      return true;
    case "store":
    case "zero":
    case "fill":
    case "fill-element":
    case "concat-strings":
    case "entry-copy":
    case "map-copy":
    case "map-store":
    case "map-make":
    case "map-add":
    case "map-delete":
    case "aggregate":
    case "for-each":
    case "call":
    case "rounds":
    case "loop-cut":
    case "emit":
    case "signal":
    case "override":
    case "write-user":
    case "packet":
    case "kernel-print":
    case "cut-string":
    case "host-text":
    case "parse-address":
      return false;
  }
}
