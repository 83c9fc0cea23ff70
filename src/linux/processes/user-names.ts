// Users of this machine, by /etc/passwd.
import { readFileSync } from "node:fs";

/** Names by the users' ids: of several names the first. Empty without the file, as in a minimal container. */
export function userNames(): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  for (const [name, id] of entries()) if (!names.has(id)) names.set(id, name);
  return names;
}

/** The id of the user of this name. */
export function userId(name: string): number | undefined {
  return entries().find(([one]) => one === name)?.[1];
}

function entries(): readonly (readonly [name: string, id: number])[] {
  let text;
  try {
    text = readFileSync("/etc/passwd", "utf8");
  } catch {
    return [];
  }
  return text.split("\n").flatMap((line) => {
    const [name, , uid] = line.split(":");
    return uid === undefined || uid === "" ? [] : [[name, Number(uid)] as const];
  });
}
