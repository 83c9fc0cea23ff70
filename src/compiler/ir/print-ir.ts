// IR as text, for `-d` and for golden tests.
import type { Instruction, IrFunction, IrMap, IrModule, Place, Source, Terminator, Value } from "./ir.ts";
import type { EventSchema } from "../plan.ts";
import type { Type } from "../../language/types.ts";

export function printModule(module: IrModule, schemas: readonly EventSchema[] = []): string {
  return (
    [
      ...module.maps.map((map, index) => printMap(map, index)),
      ...schemas.map((schema, index) => printSchema(schema, index)),
      ...module.functions.map((fn, index) => `\n${printFunction(fn, index)}`),
    ]
      .join("\n")
      .replace(/^\n/, "") + "\n"
  );
}

function printMap(map: IrMap, index: number): string {
  const { keys, stacks } = map;
  const what = stacks === undefined ? "" : `, stacks of ${stacks.frames}${stacks.buildId ? " build ids" : ""}`;
  const key = keys.length > 0 ? `[${keys.map(printType).join(", ")}]` : "";
  const entries = map.entries > 1 ? `, ${map.entries} entries${map.evicts ? ", evicting" : ""}` : "";
  return `map ${index} @${map.name}${key}: ${printType(map.value)}${map.host ? ", on the host" : ""}${what}${entries}`;
}

function printSchema(schema: EventSchema, index: number): string {
  const { action } = schema;
  const text =
    "format" in action
      ? ` ${JSON.stringify(typeof action.format === "string" ? action.format : action.format.text)}`
      : "";
  const map = "map" in action ? ` map ${action.map}` : "";
  const fields = schema.fields.map((f) => `${f.name}@${f.offset}: ${printType(f.type)}`).join(", ");
  return `event ${index} ${action.kind}${text}${map} (${fields}) ${schema.size} bytes`;
}

export function printFunction(fn: IrFunction, index?: number): string {
  const matches = fn.matches.length > 0 ? ` matches ${fn.matches.join(" ")}` : "";
  const head = `${fn.kind} ${index === undefined ? "" : `${index} `}${fn.name} (${fn.placement}${fn.context ? `, ${fn.context.program.type}` : ""})${matches}`;
  const slots = fn.slots.map((slot, id) => `  slot s${id} ${JSON.stringify(slot.name)}: ${slot.size} bytes`);
  const blocks = fn.blocks.map((block, id) =>
    [
      `  b${id}${block.parameters.length > 0 ? `(${values(block.parameters)})` : ""}:`,
      ...block.instructions.map((i) => `    ${printInstruction(i)}`),
      `    ${printTerminator(block.terminator)}`,
    ].join("\n"),
  );
  return [head, ...slots, ...blocks].join("\n");
}

const values = (list: readonly Value[]): string => list.map((v) => `v${v}`).join(", ");

function printPlace(place: Place): string {
  const base = place.kind === "slot" ? `s${place.slot}` : place.of;
  return `[${base}${place.offset > 0 ? ` + ${place.offset}` : ""}]`;
}

function printBytes(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes);
  return JSON.stringify(text.endsWith("\0") ? text.slice(0, -1) : text).replaceAll("\\u0000", "\\0");
}

function printSource(source: Source): string {
  switch (source.kind) {
    case "value":
      return `v${source.value}:${source.width * 8}`;
    case "copy":
      return `${printPlace(source.from)}:${source.size}`;
    case "constant":
      return `${printBytes(source.bytes)}:${source.size}`;
    case "string": {
      const limit = source.limit === undefined ? "" : ` limit v${source.limit}`;
      return `string(${source.space} v${source.address}${limit}, ${source.size}${source.padded ? " padded" : ""})`;
    }
    case "memory":
      return `memory(${source.space} v${source.address}, ${source.size})`;
    case "buffer":
      return `buffer(${source.space} v${source.address} length v${source.length}, ${source.capacity}${source.padded ? " padded" : ""})`;
    case "comm":
      return "comm";
    case "stack":
      return `stack(${source.space}, map ${source.map}, ${source.limit}${source.mode === "build_id" ? " build ids" : ""}${source.unwind ? " unwound" : ""})`;
    case "path":
      return `path(v${source.address}, ${source.size})`;
  }
}

const entry = (i: { readonly map: number; readonly key?: Place }): string =>
  `map ${i.map}${i.key === undefined ? "" : printPlace(i.key)}`;
const sized = (i: { readonly size: number; readonly signed: boolean }): string =>
  `${i.signed ? "i" : "u"}${i.size * 8}`;

export function printInstruction(i: Instruction): string {
  const result = "result" in i && i.result !== undefined ? `v${i.result} = ` : "";
  switch (i.op) {
    case "constant":
      return `${result}${i.value}`;
    case "binary":
    case "compare":
      return `${result}${i.kind} v${i.left}, v${i.right}`;
    case "extend":
      return `${result}extend ${i.signed ? "i" : "u"}${i.bits} v${i.value}`;
    case "swap-bytes":
      return `${result}swap-bytes ${i.bits} v${i.value}`;
    case "builtin":
      return `${result}${i.name}`;
    case "load-context":
      return `${result}context + ${i.offset} ${sized(i)}`;
    case "load":
      return `${result}load ${printPlace(i.from)} ${sized(i)}`;
    case "store":
      return `store ${printPlace(i.to)} v${i.value}:${i.size * 8}`;
    case "zero":
      return `zero ${printPlace(i.at)} ${i.size}`;
    case "read":
      return `${result}read ${i.space} v${i.address} + ${i.offset} ${sized(i)}`;
    case "fill":
      return `${i.length === undefined ? "" : `v${i.length} = `}${i.failed === undefined ? "" : `v${i.failed} = failed `}fill ${printPlace(i.to)} ${printSource(i.source)}`;
    case "fill-element":
      return `fill-element ${printPlace(i.to)}[v${i.index} of ${i.count}]:${i.stride} ${printSource(i.source)}`;
    case "compare-strings":
      return `${result}${i.ordered ? "order" : "compare"}-strings ${printPlace(i.left)}, ${i.right instanceof Uint8Array ? printBytes(i.right) : printPlace(i.right)}, ${i.length}`;
    case "compare-bytes":
      return `${result}compare-bytes ${printPlace(i.left)}, ${printPlace(i.right)}, ${i.length}`;
    case "find-string":
      return `${result}find-string ${printPlace(i.text)}:${i.capacity}, ${i.needle instanceof Uint8Array ? printBytes(i.needle) : printPlace(i.needle)}:${i.needleCapacity}`;
    case "concat-strings":
      return `concat-strings ${printPlace(i.to)}:${i.capacity} ${printPlace(i.left)}:${i.leftCapacity}, ${printPlace(i.right)}:${i.rightCapacity}`;
    case "cut-string":
      return `cut-string ${printPlace(i.to)}:${i.capacity} ${printPlace(i.text)} to v${i.length}`;
    case "host-text":
      return `${i.to === undefined ? result : `${printPlace(i.to)}:${i.capacity} `}host-text ${i.name}(${i.args
        .map((arg) => (typeof arg === "number" ? `v${arg}` : `${printPlace(arg.text)}:${arg.capacity}`))
        .join(", ")})`;
    case "string-length":
      return `${result}string-length ${printPlace(i.text)}:${i.capacity}`;
    case "map-lookup":
      return `${result}map-lookup ${entry(i)}`;
    case "entry-load":
      return `${result}entry-load v${i.entry} ${sized(i)}`;
    case "entry-copy":
      return `entry-copy ${printPlace(i.to)} v${i.entry}:${i.size}`;
    case "map-load":
      return `${result}map-load ${entry(i)} ${sized(i)}`;
    case "map-copy":
      return `map-copy ${printPlace(i.to)} ${entry(i)}:${i.size}`;
    case "map-store":
      return `map-store ${entry(i)} ${printSource(i.source)}`;
    case "map-add":
      return `${result}map-add ${entry(i)} v${i.value}${i.old ? " old" : ""}`;
    case "map-has":
    case "map-make":
    case "map-delete":
      return `${result}${i.op} ${entry(i)}`;
    case "map-length":
      return `${result}map-length map ${i.map}`;
    case "aggregate":
      return `aggregate ${entry(i)}${i.value === undefined ? "" : ` v${i.value}`}${i.time === undefined ? "" : ` at v${i.time}`}${i.weight === undefined ? "" : ` times v${i.weight}`}`;
    case "aggregate-read":
      return `${result}aggregate-read ${entry(i)}${i.of === undefined ? "" : ` result ${i.of}`}${i.bucket === undefined ? "" : ` bucket v${i.bucket}`}${i.signed ? " signed" : ""}`;
    case "loop-cut":
      return `loop-cut ${i.loop}`;
    case "rounds":
      return `rounds of function ${i.round} frame s${i.frame}`;
    case "call":
      return `call function ${i.callback} frame s${i.frame}${i.first ? " first" : ""}`;
    case "for-each":
      return `for-each map ${i.map} function ${i.callback}${i.captures === undefined ? "" : ` captures s${i.captures}`}${
        i.order === undefined
          ? ""
          : ` by ${i.order.result ?? i.order.by}${i.order.part ?? ""}${i.order.descending ? " descending" : ""}`
      }${i.limit === undefined ? "" : ` limit v${i.limit}`}`;
    case "emit":
      return `emit ${i.schema}(${i.fields.map(printSource).join(", ")})`;
    case "stack-length":
      return `${result}stack-${i.frame === undefined ? "length" : `frame ${i.frame} of`} ${printPlace(i.stack)}`;
    case "signal":
      return `${result}signal v${i.signal}${i.thread ? " thread" : ""}`;
    case "override":
      return `override v${i.value}`;
    case "write-user":
      return `${result}write-user v${i.address} ${printPlace(i.from)}:${i.size}${i.last === undefined ? "" : ` to v${i.last}`}`;
    case "percpu-address":
      return `${result}percpu-address ${i.symbol}${i.cpu === undefined ? "" : ` cpu v${i.cpu}`}`;
    case "address-of":
      return `${result}address-of ${i.what.kind === "map" ? `map ${i.what.map}` : printPlace(i.what)}`;
    case "kernel-print":
      return `kernel-print ${i.sequence === undefined ? "" : `v${i.sequence} `}${printPlace(i.format)}:${i.formatSize} ${printPlace(i.data)} of ${i.values}`;
    case "packet":
      return `${result}packet file ${i.file} v${i.skb} length v${i.length} without v${i.skipped} of v${i.whole}`;
    case "socket-cookie":
      return `${result}socket-cookie v${i.socket}`;
    case "parse-address":
      return `parse-address ${printPlace(i.to)} ${printBytes(i.text)}`;
  }
}

function printTerminator(t: Terminator): string {
  switch (t.op) {
    case "jump":
      return `jump b${t.to}${t.args.length > 0 ? `(${values(t.args)})` : ""}`;
    case "branch":
      return `branch v${t.condition} ? b${t.then} : b${t.otherwise}`;
    case "guard":
      return `guard b${t.body}, else b${t.exit}${t.rounds === undefined ? "" : `, ${t.rounds} rounds`}`;
    case "return":
      return t.stop === undefined ? "return" : t.stop ? "return stop" : "return next";
  }
}

/** A type in a word or two. */
export function printType(type: Type): string {
  switch (type.kind) {
    case "unknown":
    case "void":
      return type.kind;
    case "boolean":
      return "bool";
    case "integer":
      return `${type.signed ? "i" : "u"}${type.bits}`;
    case "enum":
      return `enum ${type.name}`;
    case "pointer":
      return `${printType(type.target)}*${type.space === "user" ? " user" : ""}`;
    case "struct":
      return `${type.union ? "union" : "struct"} ${type.name}`.trim();
    case "array":
      return `${printType(type.element)}[${type.length}]`;
    case "string":
      return `string[${type.capacity}]`;
    case "buffer":
      return `buffer[${type.capacity}]`;
    case "tuple":
      return `(${type.elements.map(printType).join(", ")})`;
    case "record":
      return `{${type.fields.map((f) => `${f.name}: ${printType(f.type)}`).join(", ")}}`;
    case "sequence":
      return `${type.form}[${type.capacity} of ${type.stride}] ${printType(type.element)}`;
    case "choice":
      return `choice(${type.alternatives.map((one) => `${one.name ?? ""} ${one.type === undefined ? "" : printType(one.type)}`.trim()).join(", ")})`;
    case "stack":
      return `${type.space === "user" ? "u" : "k"}stack(${type.unwind ? "dwarf, " : ""}${type.mode}, ${type.limit})`;
    case "named":
      return type.of;
    case "aggregate": {
      const parameters =
        type.parameters ?? type.asked?.map(({ aggregate, parameters: [...own] = [] }) => [aggregate, ...own].join(" "));
      const details = parameters === undefined ? "" : `(${parameters.join(", ")})`;
      return `${type.aggregate}${details}${type.float ? " of doubles" : type.signed ? " signed" : ""}`;
    }
  }
}
