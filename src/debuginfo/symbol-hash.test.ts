// Exported symbols by their hash table, beside what a search through all names finds, and on damaged tables.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { bytesOf, Elf, ElfError } from "./elf.ts";
import { ElfSymbols } from "./elf-symbols.ts";
import { exportedAddress } from "./symbol-hash.ts";

const file = readFileSync(process.execPath);
const names = [
  "v8dbg_SmiShiftSize",
  "v8dbg_class_JSFunction__shared__SharedFunctionInfo",
  "v8dbg_type_Script__SCRIPT_TYPE",
  "node_module_register",
  "uv_sleep",
  "napi_create_object",
];

test("what a program exports is where a search finds it, and nothing else is there", () => {
  const elf = new Elf(bytesOf(file));
  const symbols = new ElfSymbols(elf);
  for (const name of names) {
    const found = symbols.find(name);
    assert.ok(found !== undefined, name);
    assert.equal(exportedAddress(elf, name), found.address, name);
  }
  for (const name of ["", "v8dbg_SmiShiftSiz", "v8dbg_SmiShiftSize2", "malloc", "no such name"])
    assert.equal(exportedAddress(elf, name), undefined, name);
});

test("damaged tables give an error or nothing, in bounded time", () => {
  const elf = new Elf(bytesOf(file));
  const table = elf.section(".gnu.hash");
  assert.ok(table !== undefined);
  const damaged = Buffer.from(file);
  for (let i = 0; i < 200; i++) {
    const at = i < 16 ? i : Math.floor((table.size * i) / 200);
    damaged[table.offset + at] ^= 1 << (i % 8);
    try {
      exportedAddress(new Elf(bytesOf(damaged)), names[i % names.length]);
    } catch (error) {
      assert.ok(error instanceof ElfError, String(error));
    }
    damaged[table.offset + at] = file[table.offset + at];
  }
});
