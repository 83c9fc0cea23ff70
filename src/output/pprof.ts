// Maps with stacks as a profile for pprof: a gzipped protocol buffer (github.com/google/pprof, proto/profile.proto). A
// kind of sample for each time that a map is printed; what stands in a key beside stacks are labels.
import { gzipSync } from "node:zlib";
import type { MapOptions, MapSnapshot } from "../session/events.ts";
import type { DocumentWriter } from "./document.ts";
import { stackSamples, type SampledFrame } from "./stack-samples.ts";

/** Numbers of the fields of each message in profile.proto. */
const profile = { sampleType: 1, sample: 2, mapping: 3, location: 4, function: 5, text: 6, time: 9 } as const;
const valueType = { type: 1, unit: 2 } as const;
const sample = { locations: 1, values: 2, label: 3 } as const;
const label = { key: 1, text: 2 } as const;
const mapping = { id: 1, file: 5, hasFunctions: 7 } as const;
const location = { id: 1, mapping: 2, line: 4 } as const;
const line = { function: 1, number: 2 } as const;
const func = { id: 1, name: 2, systemName: 3, file: 4 } as const;

interface Sample {
  /** Innermost first. */
  readonly locations: readonly number[];
  readonly labels: readonly string[];
  readonly kind: number;
  readonly value: bigint;
}

export class PprofWriter implements DocumentWriter {
  readonly #texts = new Map<string, number>([["", 0]]);
  readonly #kinds: string[] = [];
  readonly #samples: Sample[] = [];
  readonly #out = new Message();
  readonly #ids = {
    mapping: new Map<string, number>(),
    function: new Map<string, number>(),
    location: new Map<string, number>(),
  };

  add(snapshot: MapSnapshot, { top, divisor, services }: MapOptions): boolean {
    const sampled = stackSamples(snapshot, top, divisor, services);
    if (sampled === undefined || !sampled.stacks || !sampled.adds) return false;
    const kind = this.#kinds.push(snapshot.map.shown) - 1;
    for (const { labels, frames, value } of sampled.samples) {
      const locations = frames.map((frame) => this.#location(frame)).reverse();
      this.#samples.push({ locations, labels, kind, value });
    }
    return true;
  }

  finish(): Uint8Array {
    const out = this.#out;
    for (const kind of this.#kinds)
      out.message(profile.sampleType, (one) =>
        one.integer(valueType.type, this.#text(kind)).integer(valueType.unit, this.#text("count")),
      );
    for (const { locations, labels, kind, value } of this.#samples)
      out.message(profile.sample, (one) => {
        one.integers(sample.locations, locations);
        one.integers(
          sample.values,
          this.#kinds.map((_, i) => (i === kind ? value : 0n)),
        );
        labels.forEach((text, i) =>
          one.message(sample.label, (pair) =>
            pair.integer(label.key, this.#text(`key${i}`)).integer(label.text, this.#text(text)),
          ),
        );
      });
    out.integer(profile.time, BigInt(Date.now()) * 1_000_000n);
    for (const text of this.#texts.keys()) out.bytes(profile.text, Buffer.from(text));
    return gzipSync(out.content());
  }

  #location(frame: SampledFrame): number {
    const { module, source } = frame;
    const key = JSON.stringify([frame.name, frame.kind, module, source?.file, source?.line]);
    return numbered(this.#ids.location, key, (id) => {
      const of = this.#function(frame);
      const from = module === undefined ? undefined : this.#mapping(module);
      this.#out.message(profile.location, (one) => {
        one.integer(location.id, id);
        if (from !== undefined) one.integer(location.mapping, from);
        one.message(location.line, (at) => at.integer(line.function, of).integer(line.number, source?.line ?? 0));
      });
    });
  }

  #function({ name, kind, source }: SampledFrame): number {
    const file = source?.file ?? "";
    return numbered(this.#ids.function, JSON.stringify([name, kind, file]), (id) => {
      const text = this.#text(kind === "kernel" ? `${name}_[k]` : name);
      this.#out.message(profile.function, (one) =>
        one
          .integer(func.id, id)
          .integer(func.name, text)
          .integer(func.systemName, text)
          .integer(func.file, this.#text(file)),
      );
    });
  }

  #mapping(module: string): number {
    return numbered(this.#ids.mapping, module, (id) =>
      this.#out.message(profile.mapping, (one) =>
        one.integer(mapping.id, id).integer(mapping.file, this.#text(module)).integer(mapping.hasFunctions, 1),
      ),
    );
  }

  #text(text: string): number {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    this.#texts.set(text, this.#texts.size);
    return this.#texts.size - 1;
  }
}

/** The number of a key, from 1 on; `add` is told that of a new one. */
function numbered(ids: Map<string, number>, key: string, add: (id: number) => void): number {
  const known = ids.get(key);
  if (known !== undefined) return known;
  const id = ids.size + 1;
  ids.set(key, id);
  add(id);
  return id;
}

/** A message of protocol buffers as it grows (protobuf.dev/programming-guides/encoding). */
class Message {
  #bytes = Buffer.alloc(256);
  #length = 0;

  integer(field: number, value: number | bigint): this {
    return this.#varint(field << 3).#varint(value);
  }

  /** Packed. */
  integers(field: number, values: readonly (number | bigint)[]): this {
    return this.message(field, (one) => {
      for (const value of values) one.#varint(value);
    });
  }

  message(field: number, write: (message: Message) => void): this {
    const inner = new Message();
    write(inner);
    return this.bytes(field, inner.content());
  }

  bytes(field: number, content: Uint8Array): this {
    this.#varint((field << 3) | 2).#varint(content.length);
    this.#room(content.length);
    this.#bytes.set(content, this.#length);
    this.#length += content.length;
    return this;
  }

  content(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #varint(value: number | bigint): this {
    let rest = BigInt.asUintN(64, BigInt(value));
    this.#room(10);
    while (rest >= 0x80n) {
      this.#bytes[this.#length++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#bytes[this.#length++] = Number(rest);
    return this;
  }

  #room(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const bytes = Buffer.alloc(2 * (this.#length + more));
    bytes.set(this.content());
    this.#bytes = bytes;
  }
}
