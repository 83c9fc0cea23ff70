// One picture of all maps that were printed: flame graphs of stacks, histograms, heat maps and bars, one below the
// other, in a file that needs nothing else.
import { bucketCount } from "../../language/aggregations/buckets.ts";
import { aggregationOf, shapedPart } from "../../language/aggregations/table.ts";
import type { MapOptions, MapSnapshot } from "../../session/events.ts";
import type { DocumentWriter } from "../document.ts";
import { usedBuckets, type Bucket } from "../histogram.ts";
import { orderedEntries } from "../map-order.ts";
import { stackSamples } from "../stack-samples.ts";
import { elementTexts, forTerminal, memoryOf, readWords } from "../values.ts";
import { bars, heatMap, histogram } from "./charts.ts";
import { flameGraph, shades } from "./flame-graph.ts";
import { script } from "./script.ts";
import { margin, pageWidth, type Section, xmlText } from "./section.ts";

/** Rows and histograms of a map that are drawn: the largest. */
const mostRows = 50;

export class SvgWriter implements DocumentWriter {
  readonly #sections: (Section | Histograms)[] = [];
  readonly #histograms = new Map<string, Histograms>();

  add(snapshot: MapSnapshot, options: MapOptions): boolean {
    const { map } = snapshot;
    if (map.value.kind === "aggregate" && aggregationOf(map.value).shape === "buckets") {
      this.#addBuckets(snapshot, options);
      return true;
    }
    const sampled = stackSamples(snapshot, options.top, options.divisor, options.services);
    if (sampled === undefined) return false;
    const title = map.shown;
    if (sampled.stacks) {
      const section = sampled.adds ? flameGraph(title, sampled) : undefined;
      if (section) this.#sections.push(section);
      return section !== undefined;
    }
    const largest = sampled.samples.slice(-mostRows).reverse();
    const rows = largest.map(({ labels, value }) => ({ label: labels.join(", ") || title, value }));
    const section = bars(title, rows);
    if (section) this.#sections.push({ ...section, note: left(sampled.samples.length, "key") });
    return section !== undefined;
  }

  finish(lost: number): Uint8Array {
    const sections = this.#sections.flatMap((one) => ("columns" in one ? drawings(one) : [one]));
    let y = 40;
    const placed = sections.map(({ title, note, height, body }) => {
      const text =
        `<text class="title" x="${margin}" y="${y + 14}">${xmlText(title)}</text>` +
        `<text class="note end" x="${pageWidth - margin}" y="${y + 14}">${xmlText(note)}</text>`;
      const drawing = `<g transform="translate(${margin} ${y + 24})">${body}</g>`;
      y += height + 48;
      return text + drawing;
    });
    const nothing =
      sections.length === 0 ? `<text x="${margin}" y="60">No map was printed that could be drawn.</text>` : "";
    const losses = lost === 0 ? "" : `<text class="lost" x="${margin}" y="34">${lost} events were lost</text>`;
    return Buffer.from(
      `<?xml version="1.0" encoding="UTF-8"?>\n` +
        `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${pageWidth} ${y + 40}" ` +
        `width="${pageWidth}" height="${y + 40}">\n` +
        `<style>${style}</style>\n<rect class="page" width="100%" height="100%"/>\n` +
        `<text id="details" x="${margin}" y="20"> </text>` +
        `<text id="found" class="end" x="${pageWidth - 160}" y="20"> </text>` +
        `<text id="reset" class="button end" x="${pageWidth - 80}" y="20">Reset</text>` +
        `<text id="search" class="button end" x="${pageWidth - margin}" y="20">Search</text>${losses}\n` +
        `${placed.join("\n")}${nothing}\n<script><![CDATA[${script}]]></script>\n</svg>\n`,
    );
  }

  #addBuckets(snapshot: MapSnapshot, { top, divisor, services }: MapOptions): void {
    const { map } = snapshot;
    if (map.value.kind !== "aggregate") return;
    const { part, at } = shapedPart(map.value, "buckets");
    const by = BigInt(divisor || 1);
    let histograms = this.#histograms.get(map.name);
    if (histograms === undefined) {
      histograms = { title: map.shown, columns: [], prints: 0 };
      this.#histograms.set(map.name, histograms);
      this.#sections.push(histograms);
    }
    const print = histograms.prints++;
    for (const [key, value] of orderedEntries(snapshot, top)) {
      const label = elementTexts(map.keys, memoryOf(key), 0, forTerminal(services)).join(", ");
      const words = readWords(memoryOf(value), 0, value.length);
      const buckets = usedBuckets(part.of, words.slice(at, at + bucketCount(part.of)));
      histograms.columns.push({ label, print, buckets: buckets.map((one) => ({ ...one, count: one.count / by })) });
    }
  }
}

/** What was printed of a map of histograms, in that order. */
interface Histograms {
  readonly title: string;
  readonly columns: { readonly label: string; readonly print: number; readonly buckets: readonly Bucket[] }[];
  prints: number;
}

/** A drawing a key: a histogram where the map was printed once, else a heat map. */
function drawings({ title, columns, prints }: Histograms): readonly Section[] {
  const labels = [...new Set(columns.map(({ label }) => label))];
  const drawn = labels.slice(-mostRows).reverse();
  return drawn.flatMap((label, i) => {
    const own = columns.filter((column) => column.label === label);
    const name = label === "" ? title : `${title}[${label}]`;
    const section =
      prints === 1
        ? histogram(name, own[0].buckets)
        : heatMap(
            name,
            Array.from({ length: prints }, (_, print) => own.find((column) => column.print === print)?.buckets ?? []),
          );
    const note = i === 0 ? left(labels.length, "key") : "";
    return section === undefined ? [] : [{ ...section, note: [section.note, note].filter(Boolean).join("; ") }];
  });
}

function left(all: number, thing: string): string {
  return all <= mostRows ? "" : `the ${mostRows} largest of ${all} ${thing}s`;
}

/** Hue, saturation and the lightness of the first shade of each kind of frame; `amount`: of sums. */
const colours = {
  count: {
    user: [20, 90, 58],
    kernel: [36, 95, 52],
    inlined: [48, 80, 62],
    interpreted: [130, 50, 55],
    label: [0, 0, 80],
  },
  amount: {
    user: [212, 70, 62],
    kernel: [225, 60, 56],
    inlined: [195, 60, 66],
    interpreted: [170, 50, 58],
    label: [0, 0, 80],
  },
} as const;

const frameStyles = Object.entries(colours)
  .flatMap(([measure, kinds]) =>
    Object.entries(kinds).flatMap(([kind, [hue, saturation, light]]) =>
      Array.from(
        { length: shades },
        (_, i) => `.${measure} .${kind}.s${i}{fill:hsl(${hue + 3 * i} ${saturation}% ${light + 2 * i}%)}`,
      ),
    ),
  )
  .join("");

const style =
  `text{font:12px ui-monospace,"DejaVu Sans Mono",Menlo,monospace;fill:#1c1c1c;white-space:pre}` +
  `.page{fill:#fbfaf7}.end{text-anchor:end}.title{font-weight:bold}.note{fill:#666}.lost{fill:#b00020}` +
  `.button{fill:#245;cursor:pointer}.flame text{pointer-events:none}.flame rect{cursor:pointer}` +
  `.flame rect:hover{stroke:#000}.all{fill:#ddd}.mark{fill:#bbb}.bar{fill:#4a7fb5}.heat{fill:#a3220b}` +
  `${frameStyles}.match{fill:#d63ad6!important}`;
