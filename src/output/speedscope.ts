// Maps with stacks as a file for speedscope: a profile for each time that one is printed. The format is speedscope's
// own (https://www.speedscope.app/file-format-schema.json). Weights are numbers of JavaScript: above 2^53 they are
// rounded.
import { version } from "../../package.json";
import type { MapOptions, MapSnapshot } from "../session/events.ts";
import type { DocumentWriter } from "./document.ts";
import { markedName, stackSamples, type SampledFrame } from "./stack-samples.ts";

interface Profile {
  readonly type: "sampled";
  readonly name: string;
  readonly unit: "none";
  readonly startValue: 0;
  readonly endValue: number;
  readonly samples: readonly (readonly number[])[];
  readonly weights: readonly number[];
}

export class SpeedscopeWriter implements DocumentWriter {
  readonly #frames: { name: string; file?: string; line?: number }[] = [];
  readonly #indices = new Map<string, number>();
  readonly #profiles: Profile[] = [];

  add(snapshot: MapSnapshot, { top, divisor, services }: MapOptions): boolean {
    const sampled = stackSamples(snapshot, top, divisor, services);
    if (sampled === undefined || !sampled.stacks || !sampled.adds) return false;
    // A profile is made of what took something: it has no place for what is 0 or below.
    if (sampled.samples.some(({ value }) => value < 0n)) return false;
    const weights = sampled.samples.map(({ value }) => Number(value));
    this.#profiles.push({
      type: "sampled",
      name: snapshot.map.shown,
      unit: "none",
      startValue: 0,
      endValue: weights.reduce((sum, weight) => sum + weight, 0),
      samples: sampled.samples.map(({ labels, frames }) => [
        ...labels.map((name) => this.#index({ name, kind: "mark" })),
        ...frames.map((frame) => this.#index(frame)),
      ]),
      weights,
    });
    return true;
  }

  finish(): Uint8Array {
    const file = {
      $schema: "https://www.speedscope.app/file-format-schema.json",
      exporter: `strobe@${version}`,
      shared: { frames: this.#frames },
      profiles: this.#profiles,
    };
    return Buffer.from(`${JSON.stringify(file)}\n`);
  }

  #index(frame: SampledFrame): number {
    const name = markedName(frame);
    const file = frame.source?.file ?? frame.module;
    const line = frame.source?.line || undefined;
    const key = JSON.stringify([name, file, line]);
    const known = this.#indices.get(key);
    if (known !== undefined) return known;
    const index = this.#frames.length;
    this.#frames.push({ name, ...(file === undefined ? {} : { file }), ...(line === undefined ? {} : { line }) });
    this.#indices.set(key, index);
    return index;
  }
}
