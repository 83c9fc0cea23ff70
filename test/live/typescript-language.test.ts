// What handlers in TypeScript can say, run: types of a program's own, and values as they come out, in the kernel and on the host.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type * as Library from "../../src/index.ts";
import { callsSource } from "../support/programs.ts";
import { bpfObjects, compileC, nothingLeft, temporaryFolder } from "../support/strobe.ts";

const strobe = (await import(pathToFileURL(resolve("dist/index.mjs")).href)) as typeof Library;

const folder = temporaryFolder();
const atStart = bpfObjects();
let functions = "";
before(() => { functions = compileC(folder.path, "functions", callsSource); });
after(async () => {
  folder.remove();
  await nothingLeft(atStart);
});

const deadline = (): AbortSignal => AbortSignal.timeout(20_000);

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const seen: T[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

test("structs, unions and enums of the program's own are laid out as C does", async () => {
  const { arrayOf, bits, enumeration, i16, i32, i64, pointerTo, struct, u32, union } = strobe;
  const point = struct({ x: i32, y: i16, name: "char[8]" });
  const letters = enumeration("letters", { h: 104, e: 101 });
  const box = struct("mine", {
    id: i64, corner: pointerTo(point), center: point, "": union({ small: bits(u32, 3), whole: u32 }), self: "struct mine *",
    get next(): Library.CType<unknown> { return pointerTo(box); },
  });
  const text = struct({ first: letters, rest: arrayOf("char", 12) });
  const boxes = strobe.event<{ id: number; corner: string; x: number; y: number; small: number; whole: number; sizes: readonly [number, number, number]; shown: object }>();
  const texts = strobe.event<{ letter: number; isH: boolean; bytes: string; at: number }>();
  const session = await strobe.trace(
    strobe.uprobe(functions, "leaf_box", ([p]) => {
      const b = strobe.cast(p, box);
      boxes.emit({
        id: b.id, corner: strobe.str(b.corner.name), x: b.corner.x + b.center.x, y: b.center.y, small: b.small, whole: b.whole & 7,
        sizes: [strobe.sizeof(box), strobe.sizeof(arrayOf(point, 3)), strobe.offsetof(box, "center.name")], shown: strobe.deref(b.corner),
      });
    }, { strobe, boxes, box, arrayOf, point }),
    strobe.uprobe(functions, "leaf_text", ([p]) => {
      const bytes = strobe.cast(p, arrayLike);
      texts.emit({ letter: bytes[0], isH: strobe.cast(bytes[0], letters) === letters.h, bytes: strobe.str(strobe.cast(p, text).rest), at: strobe.cast(p, "u8 *")[1] });
    }, { strobe, texts, text, letters, arrayLike: pointerTo("u8") }),
    { command: `${functions} 1`, signal: deadline() },
  );
  const [[first], [second]] = await Promise.all([all(boxes), all(texts)]);
  await session.ended;
  assert.deepEqual(first, {
    id: 77, corner: "corner", x: 8, y: -6, small: 5, whole: 5, sizes: [56, 48, 22], shown: { x: 3, y: 4, name: "corner" },
  });
  assert.deepEqual(second, { letter: 104, isH: true, bytes: "o from user ", at: 101 });
  assert.equal(letters.h, 104);
});
/** What a handler calls it; the capture says what it is. */
declare const arrayLike: Library.CType<Library.Pointer<number>>;

test("settings are a script's", async () => {
  const texts = strobe.event<{ text: string; limit: number }>();
  const session = await strobe.trace(
    strobe.uprobe(functions, "leaf_text", ([text]) => { texts.emit({ text: strobe.str(text), limit: strobe.config.maxStrlen }); }, { strobe, texts }),
    { command: `${functions} 1`, signal: deadline(), settings: { maxStrlen: 6 } },
  );
  assert.deepEqual(await all(texts), [{ text: "hello", limit: 6 }]);
  await session.ended;
  await assert.rejects(strobe.trace(strobe.begin(() => {}), { settings: { maxStrlen: 0 } }), /invalid value `0` for max_strlen/);
});
