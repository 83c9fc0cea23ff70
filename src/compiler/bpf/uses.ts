// The values that IR reads and writes: for counting uses.
import type { Instruction, Source, Terminator, Value } from "../ir.ts";

function forEachSourceValue(source: Source, visit: (value: Value) => void): void {
  switch (source.kind) {
    case "value": return visit(source.value);
    case "string":
      visit(source.address);
      if (source.limit !== undefined) visit(source.limit);
      return;
    case "memory":
    case "path": return visit(source.address);
    case "buffer":
      visit(source.address);
      visit(source.length);
      return;
    case "copy":
    case "constant":
    case "comm":
    case "stack": return;
  }
}

export function forEachOperand(instruction: Instruction, visit: (value: Value) => void): void {
  switch (instruction.op) {
    case "binary":
    case "compare":
      visit(instruction.left);
      visit(instruction.right);
      return;
    case "extend":
    case "swap-bytes":
    case "store":
    case "map-add":
    case "override": return visit(instruction.value);
    case "read":
    case "write-user": return visit(instruction.address);
    case "fill":
    case "map-store": return forEachSourceValue(instruction.source, visit);
    case "aggregate":
      if (instruction.value !== undefined) visit(instruction.value);
      return;
    case "emit":
      for (const field of instruction.fields) forEachSourceValue(field, visit);
      return;
    case "signal": return visit(instruction.signal);
    case "percpu-address":
      if (instruction.cpu !== undefined) visit(instruction.cpu);
      return;
    case "socket-cookie": return visit(instruction.socket);
    case "constant":
    case "builtin":
    case "load-context":
    case "load":
    case "zero":
    case "compare-strings":
    case "compare-bytes":
    case "find-string":
    case "string-length":
    case "map-load":
    case "map-copy":
    case "map-has":
    case "map-delete":
    case "map-length":
    case "aggregate-read":
    case "for-each":
    case "stack-length":
    case "parse-address": return;
  }
}

export function forEachTerminatorOperand(terminator: Terminator, visit: (value: Value) => void): void {
  switch (terminator.op) {
    case "jump": return terminator.args.forEach(visit);
    case "branch": return visit(terminator.condition);
    case "guard":
    case "return": return;
  }
}
