// Events to the host (built in place in the ring buffer), and acts on the system.
import { Alu, Jump } from "../../bpf/instruction.ts";
import { InternalError } from "../../base/internal-error.ts";
import type { Instruction } from "../ir/ir.ts";
import {
  mostPacketBytes,
  packetFile,
  packetHead,
  packetLength,
  packetSkipped,
  packetTime,
  packetWhole,
} from "../layouts/packets.ts";
import { sourceOffset } from "../layouts/record-header.ts";
import { addressOf, at, behind, constant, inRegister, kernelMap } from "./emitter.ts";
import type { EventSchema } from "../plan.ts";
import type { Register } from "./machine.ts";
import { count, countLostOf } from "./trouble-counters.ts";
import { bounded, fill, fillComm, fillConstant } from "./memory.ts";
import { context } from "./scalars.ts";
import type { FunctionScope } from "./scope.ts";

type Of<Op extends Instruction["op"]> = Extract<Instruction, { op: Op }>;

export function emitEvent(scope: FunctionScope, instruction: Of<"emit">): void {
  const { emitter } = scope;
  const schema = scope.options.schemas[instruction.schema];
  if (schema === undefined) throw new InternalError(`there is no event ${instruction.schema}`);
  const probe = scope.options.counters.lostOf === undefined ? undefined : probeOf(scope, schema, instruction);
  const record = emitter.callFor("ringbuf_reserve", kernelMap(scope.events), constant(schema.size), constant(0));
  const lost = emitter.label();
  const done = emitter.label();
  emitter.branchConstant(Jump.JEQ, record, 0n, lost);
  // u32 schema, u32 zero
  emitter.storeConstant(behind(record), 8, BigInt(instruction.schema));
  scope.within(() => {
    instruction.fields.forEach((source, i) => {
      const field = behind(record, sourceOffset(schema, i));
      if (source.kind === "comm") fillComm(scope, field, true);
      else fill(scope, field, source, false);
    });
  });
  // Without flags the kernel wakes the reader only when it has read everything before.
  emitter.call("ringbuf_submit", inRegister(record), constant(0));
  emitter.bind(done);
  emitter.cold(() => {
    emitter.bind(lost);
    if (probe !== undefined) countLostOf(scope, probe);
    else count(scope, scope.options.counters.lost[instruction.schema]);
    emitter.jump(done);
  });
}

/** The number of the probe that an event says it is of; undefined where its schema is of one alone. */
function probeOf(scope: FunctionScope, { header = [] }: EventSchema, { fields }: Of<"emit">): Register | undefined {
  const source = fields[header.indexOf("probe")];
  if (source?.kind !== "value" || scope.constantOf(source.value) !== undefined) return undefined;
  return scope.useScalar(source.value);
}

/** The kernel copies the packet behind what is known of it, from wherever its parts are. */
export function emitPacket(
  scope: FunctionScope,
  { result, file, skb, length: bytes, skipped, whole }: Of<"packet">,
): void {
  const { emitter } = scope;
  const length = emitter.copy(scope.useScalar(bytes));
  const fits = emitter.label();
  emitter.branchConstant(Jump.JLE, length, BigInt(mostPacketBytes), fits);
  emitter.set(length, BigInt(mostPacketBytes));
  emitter.bind(fits);
  const head = emitter.temporary(packetHead);
  emitter.store(at(head, packetTime), 8, emitter.callFor("ktime_get_boot_ns"));
  emitter.storeConstant(at(head, packetFile), 4, BigInt(file));
  emitter.store(at(head, packetSkipped), 4, scope.useScalar(skipped));
  emitter.store(at(head, packetLength), 4, length);
  emitter.store(at(head, packetWhole), 4, scope.useScalar(whole));
  // The bytes to copy are in the upper half of the flags (BPF_F_CTXLEN_MASK), BPF_F_CURRENT_CPU in the lower.
  const flags = emitter.copy(length);
  emitter.aluConstant(Alu.LSH, flags, 32n);
  emitter.alu(Alu.OR, flags, emitter.constant(0xffff_ffffn));
  emitter.call(
    "skb_output",
    inRegister(scope.use(skb)),
    kernelMap(scope.packets),
    inRegister(flags),
    addressOf(head),
    constant(packetHead),
  );
  emitter.move(scope.resultRegister(result), emitter.copy(0));
}

export function printInKernel(
  scope: FunctionScope,
  { sequence, format, formatSize, data, values }: Of<"kernel-print">,
): void {
  const what = [
    addressOf(scope.place(format)),
    constant(formatSize),
    addressOf(scope.place(data)),
    constant(values * 8),
  ];
  if (sequence === undefined) scope.emitter.call("trace_vprintk", ...what);
  else scope.emitter.call("seq_printf", inRegister(scope.use(sequence)), ...what);
}

export function sendSignal(scope: FunctionScope, instruction: Of<"signal">): void {
  const { emitter } = scope;
  emitter.call(
    instruction.thread ? "send_signal_thread" : "send_signal",
    inRegister(scope.useScalar(instruction.signal)),
  );
  if (instruction.result !== undefined) emitter.move(scope.resultRegister(instruction.result), emitter.copy(0));
}

export function overrideReturn(scope: FunctionScope, instruction: Of<"override">): void {
  scope.emitter.call("override_return", inRegister(context(scope)), inRegister(scope.use(instruction.value)));
}

export function writeUser(scope: FunctionScope, instruction: Of<"write-user">): void {
  const { emitter } = scope;
  const { address, from, size, last } = instruction;
  const bytes = last === undefined ? undefined : bounded(scope, scope.useScalar(last), size - 1);
  if (bytes !== undefined) emitter.add(bytes, 1);
  emitter.call(
    "probe_write_user",
    inRegister(scope.use(address)),
    addressOf(scope.place(from)),
    bytes === undefined ? constant(size) : inRegister(bytes),
  );
  if (instruction.result !== undefined) emitter.move(scope.resultRegister(instruction.result), emitter.copy(0));
}

export function socketCookie(scope: FunctionScope, instruction: Of<"socket-cookie">): void {
  const { emitter } = scope;
  emitter.move(
    scope.resultRegister(instruction.result),
    emitter.callFor("get_socket_cookie", inRegister(scope.use(instruction.socket))),
  );
}

/** A constant address in network order: 4 bytes of IPv4 or 16 of IPv6. */
export function storeAddress(scope: FunctionScope, instruction: Of<"parse-address">): void {
  const bytes = addressBytes(new TextDecoder().decode(instruction.text).replace(/\0.*$/s, ""));
  fillConstant(scope, at(scope.place(instruction.to), 0), bytes, bytes.length);
}

/** Bytes of a textual address. */
export function addressBytes(text: string): Uint8Array {
  if (!text.includes(":")) return ipv4Bytes(text);
  const [head = "", tail] = text.split("::");
  const groups = (part: string): number[] =>
    (part === "" ? [] : part.split(":")).flatMap((group) => {
      if (group.includes(".")) return [...ipv4Bytes(group)];
      const word = Number.parseInt(group, 16);
      return [word >> 8, word & 255];
    });
  const first = groups(head);
  const last = tail === undefined ? [] : groups(tail);
  const bytes = new Uint8Array(16);
  bytes.set(first);
  bytes.set(last, 16 - last.length);
  return bytes;
}
function ipv4Bytes(text: string): Uint8Array {
  return Uint8Array.from(text.split(".").map(Number));
}
