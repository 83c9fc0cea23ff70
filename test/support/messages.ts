// The tables of messages (src/messages) as docs/messages.md shows them and their test runs them: entries in the order of
// the source, with what the comments above them say.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Reason } from "../../src/base/failure.ts";
import type { LibraryMessage, Message, SessionMessage, UsageMessage } from "../../src/messages/message.ts";

export interface Entry {
  /** `syntax.unclosedBlock` */
  readonly name: string;
  /** The file's name without its ending. */
  readonly file: string;
  /** A script that gets the message, and what the command line gives it. */
  readonly example?: string;
  /** The surroundings that the example needs: a word of message-examples.ts. */
  readonly on?: string;
  /** The test that sees the message, where no script alone gets it. */
  readonly tested?: string;
  /** Whether it is a part of what is said (`Reason`): its table says once when they come. */
  readonly part: boolean;
  /** When the message comes, in words: where no script alone gets it, and what the example does not say. */
  readonly note?: string;
}

export interface Table {
  readonly file: string;
  /** The file's first comment. */
  readonly about: string;
  readonly entries: readonly Entry[];
  /** When the parts of a table come (`Reason`), by the table's name. */
  readonly notes: ReadonlyMap<string, string>;
}

const folder = "src/messages";

const modules = new Map<string, Record<string, Entries>>();

export function readTables(root = "."): readonly Table[] {
  return readdirSync(join(root, folder))
    .filter(
      (file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !["message.ts", "on-demand.ts"].includes(file),
    )
    .sort()
    .map((file) => readTable(file.slice(0, -3), readFileSync(join(root, folder, file), "utf8")));
}

function readTable(file: string, text: string): Table {
  const about = (/^(?:\/\/.*\n)+/.exec(text)?.[0] ?? "")
    .replaceAll(/^\/\/ ?/gm, "")
    .replaceAll("\n", " ")
    .trim();
  const entries: Entry[] = [];
  const notes = new Map<string, string>();
  let table = "";
  for (const [, when, opened, comment, name, type] of text.matchAll(
    /(?:^\/\*\*((?:(?!\*\/)[^])*)\*\/\n)?^export const (\w+) = \{$|(?:^ {2}\/\*\*((?:(?!\*\/)[^])*)\*\/\n)?^ {2}(\w+): \((?:[^]*?)\): (\w+) =>/gm,
  )) {
    if (opened !== undefined) {
      table = opened;
      if (when !== undefined) notes.set(table, when.replaceAll(/\s*\n \* ?/g, " ").trim());
      continue;
    }
    const said = (comment ?? "")
      .replaceAll(/^\s*\* ?/gm, "")
      .replaceAll("*\\/", "*/")
      .trim();
    const [about = "", example] = said.split(/@example[ \n]/, 2);
    const tag = (word: string): string | undefined => new RegExp(`@${word} (\\S+)`).exec(about)?.[1];
    const note = about.replaceAll(/@\w+ \S+/g, "").trim();
    const [on, tested] = [tag("on"), tag("tested")];
    entries.push({
      name: `${table}.${name}`,
      file,
      part: type === "Reason",
      ...(example === undefined ? {} : { example: example.trim() }),
      ...(note === "" ? {} : { note: note.replaceAll("\n", " ") }),
      ...(on === undefined ? {} : { on }),
      ...(tested === undefined ? {} : { tested }),
    });
  }
  return { file, about, entries, notes };
}

/** `⟨x{i} × 3⟩` in an example is `x0x1x2`, and `{i+1}` is one more. */
export function wholeExample(example: string): string {
  return example.replaceAll(/⟨([^⟨⟩]*) × (\d+)⟩/g, (_, text: string, count: string) =>
    Array.from({ length: Number(count) }, (_, i) =>
      text.replaceAll("{i}", `${i}`).replaceAll("{i+1}", `${i + 1}`),
    ).join(""),
  );
}

/** What an entry says; help is of messages about scripts. */
export type Said = Pick<Message, "message" | "help"> & {
  readonly code: Message["code"] | UsageMessage["code"] | SessionMessage["code"] | LibraryMessage["code"] | "part";
};

type Entries = Record<string, (...values: never[]) => Said | Reason>;

/** Calls `run`; gives the names of the entries that were used meanwhile, and what they said. */
export async function used(tables: readonly Table[], run: () => void | Promise<void>): Promise<Map<string, Said[]>> {
  const found = new Map<string, Said[]>();
  const restore: (() => void)[] = [];
  for (const { file, entries } of tables) {
    const module = modules.get(file) ?? ((await import(`../../src/messages/${file}.ts`)) as Record<string, Entries>);
    modules.set(file, module);
    for (const { name } of entries) {
      const [table = "", key = ""] = name.split(".");
      const of = module[table];
      const entry = of?.[key];
      if (of === undefined || entry === undefined) throw new Error(`src/messages/${file}.ts has no ${name}`);
      of[key] = (...values) => {
        const told = entry(...values);
        const said = typeof told === "string" ? { code: "part" as const, message: told } : told;
        found.set(name, [...(found.get(name) ?? []), said]);
        return told;
      };
      restore.push(() => (of[key] = entry));
    }
  }
  try {
    await run();
  } finally {
    for (const one of restore) one();
  }
  return found;
}

/** The words of an entry, with NUL where it names something. */
export async function messageOf(name: string, file: string): Promise<string> {
  const [table = "", key = ""] = name.split(".");
  const module = (await import(`../../src/messages/${file}.ts`)) as Record<
    string,
    Record<string, (...values: string[]) => Message | Reason>
  >;
  const said = module[table][key](...Array.from({ length: 8 }, () => "\0"));
  return typeof said === "string" ? said : said.message;
}
