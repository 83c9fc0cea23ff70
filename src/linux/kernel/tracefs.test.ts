import assert from "node:assert/strict";
import { test } from "node:test";
import { dynamicEventsIn } from "./tracefs.ts";

test("dynamic events of others are told from those of running strobes, with their groups", () => {
  const others = [
    "p:kprobes/opens do_sys_openat2 file=+0($arg2):ustring",
    "r64:kprobes/opened do_sys_openat2",
    "p:dt_1_dtrace/BEGIN /usr/lib/libdtrace.so.2:0x1234",
    "e:eprobes/ep syscalls/sys_enter_openat",
    "s:wakeup_lat\tu64 lat",
    "u:service_call u32 size",
  ];
  assert.deepEqual(dynamicEventsIn(`${others.join("\n")}\np:strobe_12/event_1 do_exit\n`), {
    lines: others.join("\n"),
    groups: ["kprobes", "dt_1_dtrace", "eprobes", "synthetic", "user_events"],
  });
  assert.deepEqual(dynamicEventsIn("p:strobe_12/event_1 do_exit\n"), { lines: "", groups: [] });
  assert.deepEqual(dynamicEventsIn(""), { lines: "", groups: [] });
});
