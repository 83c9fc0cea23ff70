// Stacks as a flame graph: what calls lies below what it calls, each as wide as its share of the whole.
import { markedName, type SampledFrame, type StackSamples } from "../stack-samples.ts";
import { characterWidth, margin, pageWidth, type Section, pixels, xmlText } from "./section.ts";

const rowHeight = 16;
/** What is narrower is not drawn, but counted. */
const leastWidth = 0.1;
const width = pageWidth - 2 * margin;
/** Shades of each kind of frame: a name always has the same. */
export const shades = 6;

interface Node {
  readonly name: string;
  readonly kind: SampledFrame["kind"] | "label" | "all";
  value: bigint;
  readonly children: Map<string, Node>;
}

/** `samples`: of values that may be added. Undefined where they come to nothing, or one is below 0. */
export function flameGraph(title: string, { samples, measure }: StackSamples): Section | undefined {
  const root = treeOf(samples);
  if (root === undefined || root.value === 0n) return undefined;
  const frames: string[] = [];
  let narrow = 0;
  let deepest = 0;
  const place = (node: Node, depth: number, from: bigint): void => {
    const wide = share(node.value, root.value) * width;
    if (wide < leastWidth) {
      narrow++;
      return;
    }
    deepest = Math.max(deepest, depth);
    frames.push(frame(node, depth, share(from, root.value) * width, wide, root.value));
    let at = from;
    for (const child of inOrder(node)) {
      place(child, depth + 1, at);
      at += child.value;
    }
  };
  place(root, 0, 0n);
  const height = (deepest + 1) * rowHeight;
  const note = narrow === 0 ? "" : `${narrow} narrow ${narrow === 1 ? "frame is" : "frames are"} not drawn`;
  return {
    title,
    note,
    height,
    body:
      `<g class="flame ${measure}" data-width="${width}">` +
      // Rows count from the bottom, which is known only now.
      `<g transform="translate(0 ${height})">${frames.join("")}</g></g>`,
  };
}

function treeOf(samples: StackSamples["samples"]): Node | undefined {
  const root: Node = { name: "all", kind: "all", value: 0n, children: new Map() };
  for (const { labels, frames, value } of samples) {
    if (value < 0n) return undefined;
    root.value += value;
    let node = root;
    const step = (name: string, kind: Node["kind"]): void => {
      const key = `${kind} ${name}`;
      let next = node.children.get(key);
      if (next === undefined) node.children.set(key, (next = { name, kind, value: 0n, children: new Map() }));
      next.value += value;
      node = next;
    };
    for (const label of labels) step(label, "label");
    for (const frame of frames) step(markedName(frame), frame.kind);
  }
  return root;
}

/** By name, so that two graphs of one program can be compared. */
function inOrder({ children }: Node): readonly Node[] {
  return [...children.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** How much of the whole: exact enough for pixels. */
function share(part: bigint, whole: bigint): number {
  return Number((part * 10_000_000n) / whole) / 10_000_000;
}

function frame({ name, kind, value }: Node, depth: number, x: number, wide: number, whole: bigint): string {
  const room = Math.floor((wide - 6) / characterWidth);
  const shown = room < 3 ? "" : name.length <= room ? name : `${name.slice(0, room - 2)}..`;
  const y = -(depth + 1) * rowHeight;
  const percent = (100 * share(value, whole)).toFixed(2);
  const shade = kind === "all" || kind === "mark" ? "" : ` s${shadeOf(name)}`;
  return (
    `<g><title>${xmlText(name)}\n${value} (${percent} %)</title>` +
    `<rect class="${kind}${shade}" x="${pixels(x)}" y="${y}" width="${pixels(wide)}" height="${rowHeight - 1}"/>` +
    `<text x="${pixels(x + 3)}" y="${y + 11}">${xmlText(shown)}</text></g>`
  );
}

function shadeOf(name: string): number {
  let hash = 0;
  for (let i = 0; i < name.length; i++) hash = (hash * 31 + name.charCodeAt(i)) | 0;
  return Math.abs(hash) % shades;
}
