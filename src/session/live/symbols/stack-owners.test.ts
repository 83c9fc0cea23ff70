import assert from "node:assert/strict";
import { test } from "node:test";
import type { IrMap } from "../../../compiler/ir/ir.ts";
import { u64, type Type } from "../../../language/types.ts";
import type { LiveMap } from "../../maps.ts";
import { StackOwners } from "./stack-owners.ts";

const stack: Type = { kind: "stack", space: "user", mode: "bpftrace", limit: 127 };

/** A map `@[u64, ustack] = u64` with one stack of each process. */
function stacksOf(...pids: number[]): LiveMap {
  const entries = pids.map((pid) => {
    const key = Buffer.alloc(24);
    key.writeUInt32LE(pid, 16);
    return [key, Buffer.alloc(8)] as const;
  });
  const map: Partial<IrMap> = { keys: [u64, stack], value: u64 };
  const live: Partial<LiveMap> = { map: map as IrMap, entries: () => entries };
  return live as LiveMap;
}

function memory(told: boolean) {
  const done: string[] = [];
  return {
    done,
    watch: () => {
      done.push("watch");
      return told;
    },
    read: () => void done.push("read"),
    notice: (pid: number) => void done.push(`notice ${pid}`),
    refresh: (pid: number) => void done.push(`refresh ${pid}`),
  };
}

test("what the kernel tells is read; nothing is looked through", () => {
  const asked = memory(true);
  using owners = new StackOwners([stacksOf(7, 70_000)], [], () => asked);
  owners.watch();
  owners.start(9);
  owners.scan();
  assert.deepEqual(asked.done, ["watch", "notice 9", "read"]);
});

test("where the kernel tells nothing, maps are looked through for processes, and the target is looked at again", () => {
  const asked = memory(false);
  using owners = new StackOwners([stacksOf(7, 70_000)], [], () => asked);
  owners.watch();
  owners.start(9);
  owners.scan();
  assert.deepEqual(asked.done, ["watch", "notice 9", "refresh 9", "notice 7", "notice 70000"]);
});

test("without user stacks and symbols, nothing is asked of anyone", () => {
  const asked = memory(true);
  using owners = new StackOwners([], [u64, { ...stack, space: "kernel" }], () => asked);
  owners.watch();
  owners.start(9);
  assert.deepEqual(asked.done, []);
  using needed = new StackOwners([], [{ kind: "named", of: "usym" }], () => asked);
  needed.watch();
  assert.deepEqual(asked.done, ["watch"]);
});
