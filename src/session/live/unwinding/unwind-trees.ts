// Unwinding tables as the kernel program searches them: trees of two levels in a map (compiler/unwind-layout.ts).
import { nodeKeys, nodeRowBytes, unusedKey } from "../../../compiler/layouts/unwind-layout.ts";
import type { UnwindTable } from "../../../debuginfo/unwind-table.ts";

/** Code of a binary, by its ELF virtual addresses, and the root of the tree of its rules. */
export interface UnwindTree {
  readonly low: bigint;
  readonly high: bigint;
  readonly root: number;
}

const nodeBytes = nodeKeys * nodeRowBytes;
const nodeWords = nodeBytes / 4;

/** Writes nodes under numbers that were never used, from 1 on. */
export class UnwindNodes {
  readonly #write: (numbers: Uint32Array, nodes: Uint8Array) => void;
  #used = 0;

  /** `write` is given the nodes of a tree, one after the other; it may throw when there is no room. */
  constructor(write: (numbers: Uint32Array, nodes: Uint8Array) => void) {
    this.#write = write;
  }

  /** A tree for each 65,536 rows. @throws what `write` throws */
  add({ base, starts, rules }: UnwindTable): UnwindTree[] {
    const trees: UnwindTree[] = [];
    // The last row only says where the code ends.
    const rows = starts.length - 1;
    for (let first = 0; first < rows; first += nodeKeys * nodeKeys) {
      const end = Math.min(rows, first + nodeKeys * nodeKeys);
      const leaves = Math.ceil((end - first) / nodeKeys);
      const root = this.#used + 1;
      this.#used += 1 + leaves;
      const words = new Uint32Array((1 + leaves) * nodeWords);
      for (let at = 0; at < words.length; at += 2) words[at] = unusedKey;
      for (let leaf = 0; leaf < leaves; leaf++) {
        const from = first + leaf * nodeKeys;
        words[leaf * 2] = starts[from] - starts[first];
        words[leaf * 2 + 1] = root + 1 + leaf;
        for (let row = from, at = (1 + leaf) * nodeWords; row < Math.min(end, from + nodeKeys); row++, at += 2) {
          words[at] = starts[row] - starts[first];
          words[at + 1] = rules[row];
        }
      }
      this.#write(
        Uint32Array.from({ length: 1 + leaves }, (_, i) => root + i),
        new Uint8Array(words.buffer),
      );
      trees.push({ low: base + BigInt(starts[first]), high: base + BigInt(starts[end]), root });
    }
    return trees;
  }
}
