// Unwinding tables as the kernel program searches them: trees of two levels in a map (compiler/unwind-layout.ts).
import { nodeKeys, nodeRowBytes, unusedKey } from "../compiler/unwind-layout.ts";
import type { UnwindTable } from "../debuginfo/unwind-table.ts";

/** Code of a binary, by its ELF virtual addresses, and the root of the tree of its rules. */
export interface UnwindTree { readonly low: bigint; readonly high: bigint; readonly root: number }

/** Writes nodes under numbers that were never used, from 1 on. */
export class UnwindNodes {
  readonly #write: (number: number, node: Uint8Array) => void;
  #used = 0;

  /** `write` may throw when there is no room. */
  constructor(write: (number: number, node: Uint8Array) => void) {
    this.#write = write;
  }

  /** A tree for each 65,536 rows. @throws what `write` throws */
  add({ base, starts, rules }: UnwindTable): UnwindTree[] {
    const trees: UnwindTree[] = [];
    // The last row only says where the code ends.
    const rows = starts.length - 1;
    for (let first = 0; first < rows; first += nodeKeys * nodeKeys) {
      const end = Math.min(rows, first + nodeKeys * nodeKeys);
      const root = this.#node();
      for (let leaf = first, i = 0; leaf < end; leaf += nodeKeys, i++) {
        const node = this.#node();
        for (let row = leaf, at = 0; row < Math.min(end, leaf + nodeKeys); row++, at += 2) {
          node.words[at] = starts[row] - starts[first];
          node.words[at + 1] = rules[row];
        }
        root.words[i * 2] = starts[leaf] - starts[first];
        root.words[i * 2 + 1] = node.number;
        this.#write(node.number, node.bytes);
      }
      this.#write(root.number, root.bytes);
      trees.push({ low: base + BigInt(starts[first]), high: base + BigInt(starts[end]), root: root.number });
    }
    return trees;
  }

  #node(): { readonly number: number; readonly bytes: Uint8Array; readonly words: Uint32Array } {
    const bytes = new Uint8Array(nodeKeys * nodeRowBytes);
    const words = new Uint32Array(bytes.buffer);
    for (let at = 0; at < words.length; at += 2) words[at] = unusedKey;
    return { number: ++this.#used, bytes, words };
  }
}
