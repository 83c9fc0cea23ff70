import assert from "node:assert/strict";
import { test } from "node:test";
import { sharedTable } from "./shared-table.ts";

test("the address that handlers compute of an entry lies in its half, whatever the entry's number", () => {
  for (const stride of [8, 64, 8000, 60_000]) {
    const { entriesAt, entryBytes, room, half } = sharedTable(4, 256, { copies: 1, stride }, 2);
    assert.ok(entriesAt - entryBytes >= 0);
    assert.ok(entriesAt + room * entryBytes <= half);
  }
});
