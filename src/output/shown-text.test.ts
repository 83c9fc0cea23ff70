import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesText } from "../language/text-bytes.ts";
import { ByteWriter, isPlainText } from "./bytes.ts";
import { shownText } from "./shown-text.ts";

test("what drives a terminal is spelled out", () => {
  const cases: readonly [string, string][] = [
    ["plain ~ grüße 🐝\ttab", "plain ~ grüße 🐝\ttab"],
    ["\x1b[2J\x07\b\0\x7f", "\\x1b[2J\\x07\\x08\\x00\\x7f"],
    ["a\r\nb", "a\\r\\nb"],
    ["\u0080\u009b\u009f\u00a0", "\\u0080\\u009b\\u009f\u00a0"],
    ["\u202egnp.exe", "\\u202egnp.exe"],
    [bytesText(Uint8Array.of(0x9b, 0x61, 0xff, 0xc2)), "\\x9ba\\xff\\xc2"],
    ["\\x1b stays", "\\x1b stays"],
  ];
  for (const [text, shown] of cases) assert.equal(shownText(text), shown);
  assert.equal(shownText("a\nb\r\n", true), "a\nb\\r\n");
});

test("of any bytes, nothing that drives a terminal is left, and what does not is as it was", () => {
  for (let first = 0; first < 256; first++) {
    for (const second of [0x1b, 0x41, 0x80, 0x9b, 0xbf, 0xc2, 0xff]) {
      const bytes = Uint8Array.of(0x61, first, second, 0x62);
      const out = new ByteWriter();
      out.constant(bytes);
      out.escapeControls(0);
      const shown = new TextDecoder("utf-8", { fatal: true }).decode(out.view());
      // oxlint-disable-next-line no-control-regex
      assert.doesNotMatch(shown, /[\0-\x08\x0a-\x1f\x7f-\x9f]/);
      const plain = [...bytes].every((byte) => byte >= 32 && byte < 127);
      assert.equal(isPlainText(new DataView(bytes.buffer), 0, 4), plain);
      if (plain) assert.equal(shown, Buffer.from(bytes).toString("latin1"));
    }
  }
});
