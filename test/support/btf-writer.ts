// Writes BTF in memory for tests: the kernel's own documentation (Documentation/bpf/btf.rst) as a program.

export class BtfWriter {
  readonly #words: number[] = [];
  readonly #strings: number[] = [];
  readonly #offsets = new Map<string, number>();
  readonly #base: BtfWriter | undefined;
  readonly #stringBase: number;
  #next: number;

  /**
   * With a base: split BTF, whose ids and strings go on where the base's end. Strings of the base are not written
   * again.
   */
  constructor(base?: BtfWriter) {
    this.#base = base;
    this.#next = base === undefined ? 1 : base.#next;
    this.#stringBase = base === undefined ? 0 : base.#stringBase + base.#strings.length;
    if (base === undefined) this.#strings.push(0);
  }

  int(name: string, bytes: number, encoding: { readonly signed?: boolean; readonly bool?: boolean } = {}): number {
    const flags = (encoding.signed === true ? 1 : 0) | (encoding.bool === true ? 4 : 0);
    return this.#add(name, 1, 0, bytes, [(flags << 24) | (bytes * 8)]);
  }
  pointer(to: number): number {
    return this.#add("", 2, 0, to);
  }
  array(element: number, length: number): number {
    return this.#add("", 3, 0, 0, [element, 0, length]);
  }
  /** Members as [name, type, bit offset, bit width]. */
  struct(
    name: string,
    bytes: number,
    members: readonly (readonly [string, number, number, number?])[],
    union = false,
  ): number {
    const bitFields = members.some((member) => member[3] !== undefined);
    const words = members.flatMap(([own, type, offset, width]) => [
      this.#string(own),
      type,
      bitFields ? ((width ?? 0) << 24) | offset : offset,
    ]);
    return this.#add(name, union ? 5 : 4, members.length, bytes, words, bitFields);
  }
  enum(name: string, constants: readonly (readonly [string, number])[], signed = false): number {
    return this.#add(
      name,
      6,
      constants.length,
      4,
      constants.flatMap(([own, value]) => [this.#string(own), value]),
      signed,
    );
  }
  enum64(name: string, constants: readonly (readonly [string, bigint])[], signed = false): number {
    const words = constants.flatMap(([own, value]) => [
      this.#string(own),
      Number(BigInt.asUintN(32, value)),
      Number(BigInt.asUintN(32, value >> 32n)),
    ]);
    return this.#add(name, 19, constants.length, 8, words, signed);
  }
  forward(name: string, union = false): number {
    return this.#add(name, 7, 0, 0, [], union);
  }
  typedef(name: string, type: number): number {
    return this.#add(name, 8, 0, type);
  }
  volatile(type: number): number {
    return this.#add("", 9, 0, type);
  }
  const(type: number): number {
    return this.#add("", 10, 0, type);
  }
  restrict(type: number): number {
    return this.#add("", 11, 0, type);
  }
  function(name: string, prototype: number): number {
    return this.#add(name, 12, 0, prototype);
  }
  prototype(result: number, parameters: readonly (readonly [string, number])[]): number {
    return this.#add(
      "",
      13,
      parameters.length,
      result,
      parameters.flatMap(([own, type]) => [this.#string(own), type]),
    );
  }
  variable(name: string, type: number): number {
    return this.#add(name, 14, 0, type, [1]);
  }
  dataSection(
    name: string,
    bytes: number,
    variables: readonly (readonly [type: number, offset: number, size: number])[],
  ): number {
    return this.#add(name, 15, variables.length, bytes, variables.flat());
  }
  float(name: string, bytes: number): number {
    return this.#add(name, 16, 0, bytes);
  }
  declarationTag(name: string, type: number, component: number): number {
    return this.#add(name, 17, 0, type, [component]);
  }
  typeTag(name: string, type: number): number {
    return this.#add(name, 18, 0, type);
  }

  bytes(): Uint8Array {
    const types = Uint32Array.from(this.#words);
    const result = new Uint8Array(24 + types.byteLength + this.#strings.length);
    const view = new DataView(result.buffer);
    view.setUint16(0, 0xeb9f, true);
    view.setUint8(2, 1);
    view.setUint32(4, 24, true);
    view.setUint32(12, types.byteLength, true);
    view.setUint32(16, types.byteLength, true);
    view.setUint32(20, this.#strings.length, true);
    result.set(new Uint8Array(types.buffer), 24);
    result.set(this.#strings, 24 + types.byteLength);
    return result;
  }

  #add(
    name: string,
    kind: number,
    count: number,
    sizeOrType: number,
    rest: readonly number[] = [],
    flag = false,
  ): number {
    this.#words.push(this.#string(name), ((flag ? 0x80000000 : 0) | (kind << 24) | count) >>> 0, sizeOrType, ...rest);
    return this.#next++;
  }

  #string(text: string): number {
    if (text === "") return 0;
    let offset = (this.#base === undefined ? undefined : this.#base.#offsets.get(text)) ?? this.#offsets.get(text);
    if (offset === undefined) {
      offset = this.#stringBase + this.#strings.length;
      this.#offsets.set(text, offset);
      this.#strings.push(...Buffer.from(`${text}\0`, "latin1"));
    }
    return offset;
  }
}
