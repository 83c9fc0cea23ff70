// One file of declarations as it grows. Its lines go into bytes at once: as strings, a million pieces would outlive
// each collection of garbage until the file is whole.
import { placeOf, type Place, type Structs } from "./type-text.ts";

/** A file's lines, and what they need of other files. */
export class Page {
  readonly place: Place;
  /** Lines so far. */
  count = 0;
  #bytes = Buffer.allocUnsafeSlow(1 << 14);
  #length = 0;
  #last = "";

  /** With a file's name, a page of structs, whose lines are declarations; else they fill interfaces of the library. */
  constructor(structs: Structs, file?: string) {
    this.place = placeOf(structs, file);
  }

  /** A line that fills an interface of the library, or adds to a page of structs. */
  line(text: string, filling = ""): void {
    this.count++;
    if (filling !== this.#last) {
      this.#add(`${end(this.#last)}declare module "strobe" {\n  interface ${filling} {\n`);
      this.#last = filling;
    }
    this.#add(filling === "" ? text : `    ${text};\n`);
  }

  /** The whole file. `title` is its first line, `folder` where structs are, seen from there. */
  bytes(title: string, folder: string): Uint8Array {
    const { imports, library } = this.place;
    const lines = [title];
    if (library.size > 0) lines.push(`import type { ${[...library].sort().join(", ")} } from "strobe";`);
    for (const name of [...imports].sort()) lines.push(`import type * as ${name} from "${folder}${name}.d.ts";`);
    const own = this.#bytes.subarray(0, this.#length);
    // What imports nothing would be a script, not a module, which cannot add to another.
    return Buffer.concat([
      Buffer.from(`${lines.join("\n")}\n`),
      own,
      Buffer.from(`${end(this.#last)}${lines.length === 1 ? "export {};\n" : ""}`),
    ]);
  }

  #add(text: string): void {
    // No character of a string's takes more than three bytes.
    if (this.#length + text.length * 3 > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#length + text.length * 3));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    this.#length += this.#bytes.write(text, this.#length, "utf8");
  }
}

/** What ends an interface. */
function end(filling: string): string {
  return filling === "" ? "" : "  }\n}\n";
}
