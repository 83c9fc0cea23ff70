import { cpuUsage } from "node:process";
import { spread, table } from "./statistics.mjs";

const sizes = [10, 100, 1000, 10_000];
const many = (count, line) => Array.from({ length: count }, (_, i) => line(i)).join("\n");
const handler = (body) => `config = { max_strlen = 64 } tracepoint:sched:sched_switch { ${body} }`;

/** Scripts of so many statements, as programs write them. */
const scripts = {
  assignments: (count) => handler(`$x = nsecs; ${many(count, (i) => `$x = $x * ${i} + nsecs;`)} @ = $x;`),
  "stores in a map": (count) => handler(many(count, (i) => `@[${i % 100}] = nsecs;`)),
  "stores in maps of their own": (count) => handler(many(Math.min(count, 3000), (i) => `@m${i}[pid] = ${i};`)),
  printf: (count) => handler(many(count, (i) => `printf("${i} %d\\n", pid);`)),
  if: (count) => handler(`$x = 0; ${many(count, (i) => `if (pid == ${i}) { $x = ${i} + nsecs; }`)} @ = $x;`),
  "else if": (count) =>
    handler(`${many(Math.min(count, 1000), (i) => `if (pid == ${i}) { @ = ${i}; } else`)} { @ = 0; }`),
  "comparisons of strings": (count) => handler(many(count, (i) => `if (comm == "a${i}") { @s = comm; }`)),
  loops: (count) => handler(many(count, (i) => `for ($i : 0..pid) { @ = $i + ${i}; }`)),
  probes: (count) => many(count, (i) => `interval:s:${i + 1} { @ = count(); }`),
};

/** Microseconds of CPU time a statement, from the text to the plan: they should not grow with the script. */
export async function compileTime({ kernel, rounds }) {
  const rows = Object.entries(scripts).map(([name, script]) => {
    kernel.compiledInstructions(script(sizes[1]));
    const cells = sizes.map((size) => {
      const text = script(size);
      const statements = text.split("\n").length;
      if (statements < size * 0.9) return `(no more than ${statements})`;
      return spread(
        Array.from({ length: Math.min(rounds, size > 1000 ? 2 : rounds) }, () => {
          const before = cpuUsage();
          kernel.compiledInstructions(text);
          const { user, system } = cpuUsage(before);
          return (user + system) / statements;
        }),
        0,
      );
    });
    return [name, ...cells];
  });
  return table(["microseconds a statement, of", ...sizes.map((size) => `${size} statements`)], rows);
}
