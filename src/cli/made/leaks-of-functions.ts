// `strobe leaks --kernel get=… put=…`: objects that functions take and give back: references, devices, whatever has a
// function for either.
import { questions } from "../../messages/questions.ts";
import { UsageError } from "../usage-error.ts";
import { chosenCondition } from "./chosen.ts";
import type { Asked, Written } from "./made-script.ts";
import { readSighting, type Sighting } from "./sighting.ts";

type Role = "get" | "put" | "free";

export function pairsScript(asked: Asked): Written {
  const given: Record<Role, Sighting[]> = { get: [], put: [], free: [] };
  for (const word of asked.words) {
    const [, role, text] = /^(get|put|free)=(.*)$/s.exec(word) ?? [];
    if (role === undefined) throw new UsageError(questions.leaksRole(word));
    const kernel = asked.has("kernel");
    const sighting = readSighting(`${role}=`, text, kernel ? "kprobe" : undefined);
    if (sighting.probe === undefined) throw new UsageError(questions.roleNeedsKernel(word, role));
    given[role as Role].push(sighting);
  }
  for (const role of ["get", "put"] as const)
    if (given[role].length === 0) throw new UsageError(questions.roleMissing(role));
  for (const option of ["library", "older"])
    if (asked.text(option) !== undefined) throw new UsageError(questions.notForPairs(option));
  const spaces = new Set(Object.values(given).flatMap((all) => all.map(({ space }) => space)));
  if (spaces.size > 1) throw new UsageError(questions.pairsOfOneSpace());
  const stack = spaces.has("user") ? "ustack" : "kstack";
  // Addresses of a program are a process's own.
  const key = (object: string): string => `${spaces.has("user") ? "(uint64)pid" : "(uint64)0"}, ${object}`;
  const condition = chosenCondition(asked.options);
  const handlers = [
    ...given.get.map(
      ({ probe, object }) => `${probe} /${condition}/ {
  $o = (uint64)(${object});
  if ($o != 0) {
    if (!has_key(@since, (${key("$o")}))) {
      @since[${key("$o")}] = nsecs;
    }
    $since = @since[${key("$o")}];
    @taken[${key("$o")}, $since] = count();
    @takers[$o, $since, ${stack}] = count();
  }
}
`,
    ),
    ...given.put.map(
      ({ probe, object }) => `${probe} {
  $o = (uint64)(${object});
  if (has_key(@since, (${key("$o")}))) {
    $since = @since[${key("$o")}];
    @given[${key("$o")}, $since] = count();
    @givers[$o, $since, ${stack}] = count();
  }
}
`,
    ),
    ...given.free.map(
      ({ probe, object }) => `// What has this address later is another object.
${probe} { delete(@since, (${key(`(uint64)(${object})`)})); }
`,
    ),
  ];
  const object = "(void *)$kv.0.1";
  const each = (of: string, to: string): string => `  for ($kv : @${of}) {
    if (has_key(@open, ($kv.0.0, $kv.0.1))) {
      @${to}[(void *)$kv.0.0, $kv.0.2] = (int64)$kv.1;
    }
  }
`;
  return {
    text: `config = { max_map_keys = ${asked.number("room", 200_000)} }

${handlers.join("")}end {
  for ($kv : @taken) {
    $left = (int64)$kv.1 - (int64)@given[$kv.0.0, $kv.0.1, $kv.0.2];
    if ($left > 0) {
      @open[$kv.0.1, $kv.0.2] = 1;
      @left[${object}] = (left=$left, taken=(int64)$kv.1, given=(int64)$kv.1 - $left);
    }
  }
${each("takers", "taken_by")}${each("givers", "given_by")}  clear(@open);
  clear(@since);
  clear(@taken);
  clear(@given);
  clear(@takers);
  clear(@givers);
}
`,
    options: { pid: asked.options.pid, only: undefined },
  };
}
