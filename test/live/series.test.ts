// tseries() where the kernel records it: each aggregation, keyed and not, of a workload whose calls are known.
import assert from "node:assert/strict";
import { test } from "node:test";
import { strobe } from "../support/strobe.ts";

interface Point {
  readonly interval_start: string;
  readonly value: number;
}

test("tseries keeps what each aggregation makes of the values of an interval", async () => {
  // dd asks for 1 byte, 20 times: descriptor 0. A day long, an interval is nearly always one; over midnight there are
  // two.
  const script = `tracepoint:syscalls:sys_enter_read /pid == cpid && args.fd == 0/ {
    @n++;
    @last = tseries(@n, 1d, 3); @key[1] = tseries(-@n, 1d, 3, "min"); @max = tseries(@n, 1d, 3, "max");
    @sum = tseries(args.count, 1d, 3, "sum"); @avg[comm] = tseries(7, 1d, 3, "avg");
  }`;
  const { stdout, stderr, code } = await strobe([
    "-q",
    "-f",
    "json",
    "-e",
    script,
    "-c",
    "dd if=/dev/zero of=/dev/null bs=1 count=20 status=none",
  ]);
  assert.equal(stderr, "");
  assert.equal(code, 0);
  const series = new Map<string, Point[]>();
  for (const line of stdout.trim().split("\n")) {
    const { type, data } = JSON.parse(line) as {
      type: string;
      data: Record<string, Point[] | Record<string, Point[]>>;
    };
    if (type !== "tseries") continue;
    for (const [name, points] of Object.entries(data))
      series.set(name, Array.isArray(points) ? points : Object.values(points)[0]);
  }
  assert.deepEqual([...series.keys()], ["@avg", "@key", "@last", "@max", "@sum"]);
  const values = (name: string): number[] => (series.get(name) ?? []).map(({ value }) => value);
  assert.equal(values("@last").at(-1), 20);
  assert.equal(Math.min(...values("@key")), -20);
  assert.equal(Math.max(...values("@max")), 20);
  assert.equal(
    values("@sum").reduce((a, b) => a + b),
    20,
  );
  assert.ok(values("@avg").every((value) => value === 7));
  assert.match(series.get("@last")![0].interval_start, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{9}$/);
});

test("without a key there are more intervals than a per-CPU value of the kernel holds", async () => {
  // The counters of what is lost lie behind such a series.
  const script =
    'tracepoint:syscalls:sys_enter_read /pid == cpid && args.fd == 0/ { @ = tseries(1, 1ms, 30000, "sum"); printf("."); @n = count(); }';
  const { stdout, stderr, code } = await strobe([
    "-q",
    "-f",
    "json",
    "-e",
    script,
    "-c",
    "dd if=/dev/zero of=/dev/null bs=1 count=20 status=none",
  ]);
  assert.equal(code, 0, stderr);
  assert.equal(stderr, "");
  const series = stdout.split("\n").find((line) => line.startsWith('{"type": "tseries"')) ?? "";
  const points = (JSON.parse(series) as { data: Record<string, Point[]> }).data["@"];
  assert.equal(
    points.reduce((sum, { value }) => sum + value, 0),
    20,
  );
  assert.match(stdout, /^\{"type": "map", "data": \{"@n": 20\}\}$/m);
});
