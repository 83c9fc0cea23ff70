// One IR instruction as JavaScript statements; the comments in ir.ts are the specification.
import { rankMask } from "../../language/aggregations/parts.ts";
import { aggregateLayout, aggregateWords, askedAt, resultAt } from "../../language/aggregations/table.ts";
import { hostText, isOnMemory, isOnSpeculations, parameterAt } from "../../language/host-texts.ts";
import { InternalError } from "../../base/internal-error.ts";
import { orderFields } from "./compared-fields.ts";
import { keyLayout, sizeOf } from "../../language/layout.ts";
import type { BinaryOp, CompareOp, Instruction, Place } from "../ir/ir.ts";
import type { AggregateType, Type } from "../../language/types.ts";
import { sourceOffset } from "../layouts/record-header.ts";
import { parseAddress } from "./parse-address.ts";
import { placeBytes, sourceBytes, writeSource } from "./sources.ts";
import type { Target, Writer } from "./writer.ts";

/** What a loop's body gives where the function that it is in is left, and not just the loop. */
const leftFunction = "2";

export function writeInstruction(out: Writer, instruction: Instruction): void {
  switch (instruction.op) {
    case "constant":
      out.line(`v${instruction.result} = ${BigInt.asIntN(64, instruction.value)}n;`);
      return;
    case "binary":
      out.line(
        `v${instruction.result} = ${binary(instruction.kind, `v${instruction.left}`, `v${instruction.right}`)};`,
      );
      return;
    case "compare":
      out.line(
        `v${instruction.result} = ${compare(instruction.kind, `v${instruction.left}`, `v${instruction.right}`)} ? 1n : 0n;`,
      );
      return;
    case "extend":
      out.line(
        `v${instruction.result} = BigInt.${instruction.signed ? "asIntN" : "asUintN"}(${instruction.bits}, v${instruction.value});`,
      );
      return;
    case "swap-bytes":
      out.line(`v${instruction.result} = ${out.support("swapBytes")}(v${instruction.value}, ${instruction.bits});`);
      return;
    case "builtin":
      out.line(`v${instruction.result} = BigInt.asIntN(64, runtime.builtin("${instruction.name}"));`);
      return;
    case "load-context":
      if (out.movedFromContext(instruction.result) !== undefined) return;
      out.line(`if (!runtime.context) ${out.support("missing")}("a load from the context");`);
      out.line(
        `v${instruction.result} = ${out.support("load")}(runtime.context, (runtime.contextAt ?? 0) + ${instruction.offset}, ${instruction.size}, ${instruction.signed});`,
      );
      return;
    case "load":
      if (instruction.from.kind === "callback" && instruction.from.of === "record") {
        out.line(`v${instruction.result} = record.view.getBigInt64(${out.record(instruction.from.offset)}, true);`);
        return;
      }
      out.line(
        `v${instruction.result} = ${load(out, out.place(instruction.from), instruction.size, instruction.signed)};`,
      );
      return;
    case "store": {
      const to = out.place(instruction.to);
      const moved = out.movedFromContext(instruction.value);
      if (moved !== undefined) {
        out.line(`if (!runtime.context) ${out.support("missing")}("a load from the context");`);
        out.line(
          `${out.support("moveWord")}(${to.bytes}, ${to.offset}, ${instruction.size}, runtime.context, (runtime.contextAt ?? 0) + ${moved.offset}, ${moved.size}, ${moved.signed});`,
        );
        return;
      }
      const constant = out.constantValue(instruction.value);
      if (constant === undefined)
        out.line(`${out.support("store")}(${to.bytes}, ${to.offset}, ${instruction.size}, v${instruction.value});`);
      else
        for (let i = 0; i < instruction.size; i++)
          out.line(`${to.bytes}[${to.offset + i}] = ${(constant >> BigInt(8 * i)) & 0xffn};`);
      return;
    }
    case "zero": {
      const at = out.place(instruction.at);
      const end = at.offset + instruction.size;
      // Few bytes are there sooner than fill() is called.
      if (instruction.size <= 64) out.line(`for (let i = ${at.offset}; i < ${end}; i++) ${at.bytes}[i] = 0;`);
      else out.line(`${at.bytes}.fill(0, ${at.offset}, ${end});`);
      return;
    }
    case "read": {
      const space = instruction.space === "user" ? "user" : "kernel";
      const address = `BigInt.asUintN(64, v${instruction.address} + ${instruction.offset}n)`;
      out.line(`{ const memory = runtime.readMemory("${space}", ${address}, ${instruction.size});`);
      out.line(
        `v${instruction.result} = memory ? ${load(out, { bytes: "memory", offset: 0 }, instruction.size, instruction.signed)} : 0n; }`,
      );
      return;
    }
    case "fill":
      writeSource(out, out.place(instruction.to), instruction.source, instruction.length, instruction.failed);
      return;
    case "fill-element": {
      const { bytes, offset } = out.place(instruction.to);
      out.line(
        `if (v${instruction.index} >= 0n && v${instruction.index} < ${instruction.count}n) { const element = ${bytes}.subarray(${offset} + Number(v${instruction.index}) * ${instruction.stride});`,
      );
      writeSource(out, { bytes: "element", offset: 0 }, instruction.source);
      out.line("}");
      return;
    }
    case "compare-strings": {
      const left = out.place(instruction.left);
      const right = bytesOrPlace(out, instruction.right);
      out.line(
        `v${instruction.result} = ${out.support(instruction.ordered ? "orderStrings" : "compareStrings")}(${at(left)}, ${at(right)}, ${instruction.length});`,
      );
      return;
    }
    case "compare-bytes":
      out.line(
        `v${instruction.result} = ${out.support("compareBytes")}(${at(out.place(instruction.left))}, ${at(out.place(instruction.right))}, ${instruction.length});`,
      );
      return;
    case "find-string": {
      const text = out.place(instruction.text);
      const needle = bytesOrPlace(out, instruction.needle);
      out.line(
        `v${instruction.result} = ${out.support("findString")}(${at(text)}, ${instruction.capacity}, ${at(needle)}, ${instruction.needleCapacity});`,
      );
      return;
    }
    case "concat-strings": {
      const [to, left, right] = [instruction.to, instruction.left, instruction.right].map((place) =>
        at(out.place(place)),
      );
      out.line(
        `${out.support("concatStrings")}(${to}, ${instruction.capacity}, ${left}, ${instruction.leftCapacity}, ${right}, ${instruction.rightCapacity});`,
      );
      return;
    }
    case "cut-string": {
      const [to, text] = [instruction.to, instruction.text].map((place) => at(out.place(place)));
      out.line(`${out.support("cutString")}(${to}, ${instruction.capacity}, ${text}, v${instruction.length});`);
      return;
    }
    case "host-text": {
      const { name, to, capacity = 0, result } = instruction;
      const spec = hostText(name);
      const encoding = spec.of === "bytes" ? '"latin1"' : '"utf8"';
      const args = instruction.args.map((arg, i) => {
        if (typeof arg === "number") return `v${arg}`;
        if (parameterAt(spec, i) === "bytes") return placeBytes(out, arg.text, arg.capacity);
        return `${out.support("textIn")}(${at(out.place(arg.text))}, ${arg.capacity}, ${encoding})`;
      });
      if (instruction.shown !== undefined) args.unshift(JSON.stringify(instruction.shown));
      const target =
        name === "shownText"
          ? "runtime.shownText"
          : isOnMemory(name)
            ? `runtime.written.${name}`
            : isOnSpeculations(name)
              ? `runtime.speculations.${name}`
              : out.support(name);
      const call = `${target}(${args.join(", ")})`;
      if (to !== undefined)
        out.line(`${out.support("putText")}(${at(out.place(to))}, ${capacity}, ${call}, ${encoding});`);
      if (result !== undefined) out.line(`v${result} = ${wrap(call)};`);
      return;
    }
    case "string-length":
      out.line(
        `v${instruction.result} = BigInt(${out.support("stringLength")}(${at(out.place(instruction.text))}, ${instruction.capacity}));`,
      );
      return;

    case "map-lookup":
      out.line(`v${instruction.result} = runtime.mapLookup(${mapKey(out, instruction)}) ?? 0n;`);
      return;
    case "entry-load": {
      const [result, entry] = [`v${instruction.result}`, `v${instruction.entry}`];
      out.line(
        `${result} = ${entry} ? ${load(out, { bytes: entry, offset: 0 }, instruction.size, instruction.signed)} : 0n;`,
      );
      if (instruction.watch !== undefined) out.line(`if (!${entry}) runtime.failed?.(${instruction.watch});`);
      return;
    }
    case "entry-copy": {
      const to = out.place(instruction.to);
      const entry = `v${instruction.entry}`;
      out.line(
        `if (${entry}) ${to.bytes}.set(${entry}.subarray(0, ${instruction.size}), ${to.offset}); else ${to.bytes}.fill(0, ${to.offset}, ${to.offset + instruction.size});`,
      );
      if (instruction.watch !== undefined) out.line(`if (!${entry}) runtime.failed?.(${instruction.watch});`);
      return;
    }
    case "map-load":
      out.line(`{ const entry = runtime.mapLookup(${mapKey(out, instruction)});`);
      out.line(
        `v${instruction.result} = entry ? ${load(out, { bytes: "entry", offset: 0 }, instruction.size, instruction.signed)} : 0n; }`,
      );
      return;
    case "map-copy": {
      const to = out.place(instruction.to);
      out.line(`{ const entry = runtime.mapLookup(${mapKey(out, instruction)});`);
      out.line(
        `if (entry) ${to.bytes}.set(entry.subarray(0, ${instruction.size}), ${to.offset}); else ${to.bytes}.fill(0, ${to.offset}, ${to.offset + instruction.size}); }`,
      );
      return;
    }
    case "map-has":
      out.line(`v${instruction.result} = runtime.mapLookup(${mapKey(out, instruction)}) ? 1n : 0n;`);
      return;
    case "map-store": {
      const map = out.module.maps[instruction.map];
      out.line("{");
      const value = sourceBytes(out, instruction.source, map ? sizeOf(map.value) : 8);
      out.line(`runtime.mapStore(${mapKey(out, instruction)}, ${value}); }`);
      return;
    }
    case "map-make": {
      const map = out.module.maps[instruction.map];
      const [bytes, at] = [map ? sizeInMap(map.value) : 8, mapKey(out, instruction)];
      out.line(`if (!runtime.mapLookup(${at})) runtime.mapStore(${at}, new Uint8Array(${bytes}), true);`);
      out.line(`v${instruction.result} = runtime.mapLookup(${at}) ? 0n : 1n;`);
      return;
    }
    case "map-add": {
      const call = `runtime.mapAdd(${mapKey(out, instruction)}, v${instruction.value})`;
      if (instruction.result === undefined) out.line(`${call};`);
      else
        out.line(
          `v${instruction.result} = BigInt.asIntN(64, ${call}${instruction.old ? ` - v${instruction.value}` : ""});`,
        );
      return;
    }
    case "map-delete": {
      const call = `runtime.mapDelete(${mapKey(out, instruction)})`;
      out.line(instruction.result === undefined ? `${call};` : `v${instruction.result} = ${call} ? 1n : 0n;`);
      return;
    }
    case "map-length":
      out.line(`v${instruction.result} = BigInt(runtime.mapLength(${instruction.map}));`);
      return;
    case "aggregate":
      out.line(
        `runtime.aggregate(${mapKey(out, instruction)}, ${instruction.value === undefined ? "1n" : `v${instruction.value}`}${instruction.time === undefined ? (instruction.weight === undefined ? "" : ", 0n") : `, v${instruction.time}`}${instruction.weight === undefined ? "" : `, v${instruction.weight}`});`,
      );
      return;
    case "aggregate-read":
      writeAggregateRead(out, instruction);
      return;
    case "loop-cut":
      return; // Here it never is.
    case "rounds":
      throw new InternalError("rounds of a loop that are called, on the host");
    case "call": {
      const { callback, frame, first, inLoop } = instruction;
      // A loop's body has what the function shares with its caller as its frame.
      const shared = first ? `s${frame}` : inLoop === true ? "frame" : "captures";
      const called = `${out.callback(callback)}(runtime, undefined, undefined, ${shared}, s${frame})`;
      out.line(first ? `${called};` : `if (${called}) return ${inLoop === true ? leftFunction : "true"};`);
      return;
    }
    case "for-each": {
      const callback = out.callback(instruction.callback);
      const captures = instruction.captures === undefined ? "undefined" : `s${instruction.captures}`;
      const { recursion } = instruction;
      const each = `for (const [key, value] of ${entries(out, instruction)})`;
      if (recursion === undefined) {
        out.line(`${each} if (${callback}(runtime, key, value, ${captures})) break;`);
        return;
      }
      const [shared, left] = recursion === "function" ? ["captures", "true"] : ["frame", leftFunction];
      out.line(
        `${each} { const ended = ${callback}(runtime, key, value, ${captures}, ${shared}); if (ended === ${leftFunction}) return ${left}; if (ended) break; }`,
      );
      return;
    }

    case "emit": {
      const schema = out.module.schemas[instruction.schema];
      if (schema === undefined) throw new InternalError(`no event schema ${instruction.schema}`);
      const record = out.temporary();
      out.line(
        `const ${record} = new Uint8Array(${schema.size}); ${out.support("store")}(${record}, 0, 4, ${instruction.schema}n);`,
      );
      instruction.fields.forEach((source, i) =>
        writeSource(out, { bytes: record, offset: sourceOffset(schema, i) }, source),
      );
      out.line(`runtime.emit(${instruction.schema}, ${record});`);
      return;
    }
    case "signal": {
      const call = `runtime.signal(v${instruction.signal})`;
      out.line(instruction.result === undefined ? `${call};` : `v${instruction.result} = BigInt.asIntN(64, ${call});`);
      return;
    }
    case "parse-address": {
      const to = out.place(instruction.to);
      out.line(`${to.bytes}.set(${out.constant(parseAddress(instruction.text))}, ${to.offset});`);
      return;
    }

    case "stack-length":
      out.missing("the length of a stack");
      return;
    case "override":
      out.missing("override()");
      return;
    case "write-user":
      out.missing("a write to user memory");
      return;
    case "address-of":
      out.missing("the address of a variable");
      return;
    case "kernel-print":
      out.missing("printf() into a file of the kernel");
      return;
    case "packet":
      out.missing("skboutput()");
      return;
    case "percpu-address":
      out.missing("the address of a per-CPU variable");
      return;
    case "socket-cookie":
      out.missing("socket_cookie()");
      return;
  }
}

function at(target: Target): string {
  return `${target.bytes}, ${target.offset}`;
}

function bytesOrPlace(out: Writer, operand: Place | Uint8Array): Target {
  return operand instanceof Uint8Array ? { bytes: out.constant(operand), offset: 0 } : out.place(operand);
}

function load(out: Writer, from: Target, size: number, signed: boolean): string {
  return `${out.support("load")}(${from.bytes}, ${from.offset}, ${size}, ${signed})`;
}

/** The map and key arguments of a runtime call. */
function mapKey(out: Writer, instruction: { readonly map: number; readonly key?: Place }): string {
  if (instruction.key === undefined) return `${instruction.map}, null`;
  const size = keyLayout(out.module.maps[instruction.map]?.keys ?? []).size;
  return `${instruction.map}, ${placeBytes(out, instruction.key, size)}`;
}

/** Bytes of an entry as the runtime has it: of an aggregation its words, all CPUs together. */
function sizeInMap(type: Type | AggregateType): number {
  return type.kind === "aggregate" ? aggregateWords(type) * 8 : sizeOf(type);
}

const wrap = (expression: string): string => `BigInt.asIntN(64, ${expression})`;
const unsigned = (value: string): string => `BigInt.asUintN(64, ${value})`;

function binary(kind: BinaryOp, left: string, right: string): string {
  switch (kind) {
    case "add":
      return wrap(`${left} + ${right}`);
    case "sub":
      return wrap(`${left} - ${right}`);
    case "mul":
      return wrap(`${left} * ${right}`);
    case "udiv":
      return `${right} === 0n ? 0n : ${wrap(`${unsigned(left)} / ${unsigned(right)}`)}`;
    case "sdiv":
      return `${right} === 0n ? 0n : ${wrap(`${left} / ${right}`)}`;
    case "umod":
      return `${right} === 0n ? ${left} : ${wrap(`${unsigned(left)} % ${unsigned(right)}`)}`;
    case "smod":
      return `${right} === 0n ? ${left} : ${left} % ${right}`;
    case "and":
      return `${left} & ${right}`;
    case "or":
      return `${left} | ${right}`;
    case "xor":
      return `${left} ^ ${right}`;
    case "shl":
      return wrap(`${left} << (${right} & 63n)`);
    case "lshr":
      return wrap(`${unsigned(left)} >> (${right} & 63n)`);
    case "ashr":
      return `${left} >> (${right} & 63n)`;
  }
}

function compare(kind: CompareOp, left: string, right: string): string {
  switch (kind) {
    case "eq":
      return `${left} === ${right}`;
    case "ne":
      return `${left} !== ${right}`;
    case "slt":
      return `${left} < ${right}`;
    case "sle":
      return `${left} <= ${right}`;
    case "sgt":
      return `${left} > ${right}`;
    case "sge":
      return `${left} >= ${right}`;
    case "ult":
      return `${unsigned(left)} < ${unsigned(right)}`;
    case "ule":
      return `${unsigned(left)} <= ${unsigned(right)}`;
    case "ugt":
      return `${unsigned(left)} > ${unsigned(right)}`;
    case "uge":
      return `${unsigned(left)} >= ${unsigned(right)}`;
  }
}

/** A map's entries, in the order of the loop. */
function entries(out: Writer, { map, order, limit, beside = [] }: Extract<Instruction, { op: "for-each" }>): string {
  if (order?.layout !== undefined)
    return `runtime.mapRows(${JSON.stringify([map, ...beside])}, ${JSON.stringify(order.layout)})`;
  const all = `runtime.mapEntries(${map})`;
  if (order === undefined && limit === undefined) return all;
  const { keys, value } = out.module.maps[map];
  const fields = order === undefined ? [] : orderFields(order, keys, value);
  const of =
    order?.result === undefined || value.kind !== "aggregate" ? undefined : askedAt(value, { aggregate: order.result });
  return `${out.support("ordered")}(${all}, ${order?.by === "key" ? 0 : 1}, ${JSON.stringify(fields)}, ${order?.descending ? -1 : 1}, ${limit === undefined ? "undefined" : `v${limit}`}, (words) => runtime.aggregateDouble(${map}, words${of === undefined ? "" : `, ${of}`}))`;
}

function writeAggregateRead(out: Writer, instruction: Extract<Instruction, { op: "aggregate-read" }>): void {
  const type = out.module.maps[instruction.map]?.value;
  const result = type?.kind === "aggregate" ? resultAt(type, instruction.of) : undefined;
  if (instruction.bucket !== undefined) {
    out.line(
      `{ const words = runtime.mapLookup(${mapKey(out, instruction)}); v${instruction.result} = words ? runtime.aggregateBucket(${instruction.map}, words, ${instruction.of}, v${instruction.bucket}) : 0n; }`,
    );
    return;
  }
  if (type?.kind !== "aggregate" || result === undefined) return out.missing("the value of a histogram");
  if ("double" in result) {
    out.line(
      `{ const words = runtime.mapLookup(${mapKey(out, instruction)}); v${instruction.result} = words ? runtime.aggregateDouble(${instruction.map}, words${instruction.of === undefined ? "" : `, ${instruction.of}`}) : 0n; }`,
    );
    return;
  }
  const { part, at } = aggregateLayout(type).parts[result.part];
  const offset = at * 8;
  const first = load(out, { bytes: "words", offset }, 8, true);
  const second = load(out, { bytes: "words", offset: offset + 8 }, 8, true);
  if (result.averaged) {
    const [total, count] = ["total", "count"];
    out.line(`{ const words = runtime.mapLookup(${mapKey(out, instruction)});`);
    out.line(
      `const ${total} = words ? ${first} : 0n, ${count} = words ? ${load(out, { bytes: "words", offset: offset + 8 }, 8, true)} : 0n;`,
    );
    out.line(`v${instruction.result} = ${binary(instruction.signed ? "sdiv" : "udiv", total, count)}; }`);
    return;
  }
  const value =
    part.kind === "extreme"
      ? `words && ${second} !== 0n ? ${first} ^ ${BigInt.asIntN(64, rankMask(part.which, type.signed))}n`
      : `words ? ${first}`;
  out.line(`{ const words = runtime.mapLookup(${mapKey(out, instruction)}); v${instruction.result} = ${value} : 0n; }`);
}
