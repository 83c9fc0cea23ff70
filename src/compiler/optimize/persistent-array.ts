// An array that is never changed: setting an element gives another one, which shares what it can with the first. Two
// that have much in common are merged in the time that their differences take. Elements that were never set are
// undefined.

const bits = 5;
const width = 1 << bits;

type Node<T> = readonly (Node<T> | T | undefined)[];

export class PersistentArray<T> {
  readonly #root: Node<T> | undefined;
  /** Levels of nodes above the elements' own. */
  readonly #levels: number;

  private constructor(root: Node<T> | undefined, levels: number) {
    this.#root = root;
    this.#levels = levels;
  }

  /** Of so many elements, none of them set. */
  static of<T>(length: number): PersistentArray<T> {
    let levels = 0;
    while (width ** (levels + 1) < length) levels++;
    return new PersistentArray<T>(undefined, levels);
  }

  get(index: number): T | undefined {
    let node = this.#root;
    for (let level = this.#levels; level > 0; level--)
      node = node?.[(index >> (level * bits)) & (width - 1)] as Node<T> | undefined;
    return node?.[index & (width - 1)] as T | undefined;
  }

  with(index: number, element: T): PersistentArray<T> {
    return new PersistentArray(changed(this.#root, this.#levels, index, element), this.#levels);
  }

  /** Each element that is not the very same in both as `choose` has it. `other` is as long as this. */
  merged(
    other: PersistentArray<T>,
    choose: (own: T | undefined, other: T | undefined, index: number) => T | undefined,
  ): PersistentArray<T> {
    return new PersistentArray(merge(this.#root, other.#root, this.#levels, 0, choose), this.#levels);
  }
}

function changed<T>(node: Node<T> | undefined, level: number, index: number, element: T): Node<T> {
  const copy = node === undefined ? [] : node.slice();
  const at = (index >> (level * bits)) & (width - 1);
  copy[at] = level === 0 ? element : changed(copy[at] as Node<T> | undefined, level - 1, index, element);
  return copy;
}

function merge<T>(
  a: Node<T> | undefined,
  b: Node<T> | undefined,
  level: number,
  first: number,
  choose: (a: T | undefined, b: T | undefined, index: number) => T | undefined,
): Node<T> | undefined {
  if (a === b) return a;
  return Array.from({ length: Math.max(a?.length ?? 0, b?.length ?? 0) }, (_, i) => {
    const [own, other, index] = [a?.[i], b?.[i], first + (i << (level * bits))];
    if (own === other) return own;
    return level === 0
      ? choose(own as T | undefined, other as T | undefined, index)
      : merge(own as Node<T> | undefined, other as Node<T> | undefined, level - 1, index, choose);
  });
}
