import { lazy } from "../../base/lazy.ts";
import type { Language } from "../language.ts";
import { sqlRules } from "./rules.ts";

// Loaded where a question is read.
const parser = lazy<typeof import("./translate.ts")>(() => require("./translate.ts"));

const editor = lazy<typeof import("./editing.ts")>(() => require("./editing.ts"));

export const sql: Language = {
  name: "sql",
  aliases: ["sqlhist"],
  title: "SQL",
  doc: "questions of events in SQL, as libtracefs' sqlhist: `SELECT comm, COUNT(*) FROM sched_waking`",
  endings: [".sql"],
  commands: [],
  rules: sqlRules,
  parse: (source) => parser().parse(source),
  editing: () => editor().editing,
};
