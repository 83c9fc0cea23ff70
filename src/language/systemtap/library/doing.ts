// What a script does: it ends, prints for the time being, draws, runs commands, sends signals.
import type { LibraryFunction } from "./function.ts";
import * as tree from "../tree.ts";

const { call, integer } = tree;

const mostSpeculations = 256;

const speculated = (name: "commit" | "discard", doc: string): LibraryFunction => ({
  parameters: ["long"],
  doc,
  does: ([id], span) => [tree.statement(tree.hostText(name, [id], span))],
});

const writes = (text: string, doc: string): LibraryFunction => ({
  parameters: [],
  doc,
  does: (_, span) => [tree.statement(call("printf", [tree.text(text, span)], span))],
});

export const doing: Readonly<Record<string, LibraryFunction>> = {
  thread_indent: {
    parameters: ["long"],
    result: "string",
    doc: "Microseconds since the thread's first call, its name and id, and spaces; the number is added to those.",
    text: ([delta], span, unit) => unit.indent(delta, span),
  },
  speculation: {
    parameters: [],
    result: "long",
    doc: "A new speculation: what is kept for it waits; 0 where there are 256 already.",
    value: (_, span) => tree.hostText("speculation", [integer(mostSpeculations, span), integer(0, span)], span),
  },
  speculate: {
    parameters: ["long", "string"],
    doc: "Keeps a text for a speculation.",
    does: ([id, text], span) => [
      tree.statement(tree.hostText("speculate", [id], span)),
      tree.statement(call("printf", [tree.text("%s", span), text], span)),
      tree.statement(tree.hostText("speculated", [], span)),
    ],
  },
  commit: speculated("commit", "Prints what is kept for a speculation."),
  discard: speculated("discard", "Forgets what is kept for a speculation."),
  exit: {
    parameters: [],
    doc: "Ends tracing; end probes still run.",
    does: (_, span, unit) => [unit.exit(span)],
  },
  abort: {
    parameters: [],
    doc: "Ends tracing at once: nothing more of the handler runs; end probes do.",
    does: (_, span, unit) => [unit.abort(span)],
  },
  system: {
    parameters: ["string"],
    doc: "Runs a shell command.",
    does: ([command], span) => [tree.statement(call("system", [tree.text("%s", span), command], span))],
  },
  raise: {
    parameters: ["long"],
    doc: "Sends a signal to the current process.",
    does: ([signal], span) => [tree.statement(call("signal", [signal], span))],
  },
  ansi_clear_screen: writes("\x1b[1;1H\x1b[J", "Clears the terminal."),
  ansi_new_line: writes("\n", "Moves to a new line of the terminal."),
  ansi_reset_color: writes("\x1b[0;0m", "The terminal's own colour."),
  ansi_cursor_hide: writes("\x1b[>5I", "Hides the terminal's cursor."),
  ansi_cursor_show: writes("\x1b[>5h", "Shows the terminal's cursor."),
  ansi_cursor_move: {
    parameters: ["long", "long"],
    doc: "Moves the terminal's cursor to a column and a row.",
    does: ([x, y], span) => [tree.statement(call("printf", [tree.text("\x1b[%d;%dH", span), y, x], span))],
  },
};
