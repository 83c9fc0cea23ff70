// DTrace's language: from text to the tree. No I/O; every mistake becomes a diagnostic.
import { dPreprocessor } from "../../messages/d-preprocessor.ts";
import { dSyntax } from "../../messages/d-syntax.ts";
import type { Diagnostic, Source } from "../diagnostic.ts";
import type { Given, Parsed } from "../language.ts";
import { nearest } from "../nearest.ts";
import * as nodes from "../nodes.ts";
import type { Probe, Program } from "../program.ts";
import { failure } from "../words.ts";
import { actionNames, checkAction } from "./actions.ts";
import { aggregatingNames } from "./aggregations.ts";
import { declared, heading, helperClauses, unassigned, unprinted } from "./around.ts";
import { clause } from "./clauses.ts";
import { Cursor } from "./cursor.ts";
import { declaration, declares } from "./declarations.ts";
import { watched } from "./faults.ts";
import { maybeNullIn } from "./nulls.ts";
import { defaultOptions, optionNames, readOption, withoutEffect } from "./options.ts";
import { preprocess } from "./preprocess.ts";
import { dRules } from "./rules.ts";
import { optionsSetIn } from "./setopt.ts";
import type { Token } from "./tokens.ts";
import { textSize } from "./types.ts";
import { Unit, type Options } from "./unit.ts";

export function parse(source: Source, given: Given): Parsed {
  const { tokens, options, diagnostics } = preprocess(source, given);
  const cursor = new Cursor(source, tokens, diagnostics);
  const settings: Options = defaultOptions();
  // A text that is cut is shown as it is.
  const config: Program["config"][number][] = [{ name: "str_trunc_trailer", value: "", span: { start: 0, end: 0 } }];
  for (const [name, value] of given.settings ?? []) {
    const span = { start: 0, end: 0 };
    // The command has looked at what it was given; what the script says itself counts more.
    const read = readOption({ name, ...(value === "" ? {} : { value }), span }, settings);
    if (typeof read !== "string") config.push(...read);
    if (withoutEffect.has(name)) cursor.warn(span, dPreprocessor.optionWithoutEffect(name));
  }
  for (const option of options) {
    const read = readOption(option, settings);
    if (read === "unknown") {
      const [near] = nearest(option.name, optionNames);
      cursor.report(
        option.span,
        dPreprocessor.unknownOption(
          option.name,
          option.value,
          near === undefined ? undefined : `did you mean \`${near}\`?`,
        ),
      );
    } else if (read === "invalid")
      cursor.report(option.span, dPreprocessor.optionValue(option.name, option.value ?? ""));
    else config.push(...read);
    if (withoutEffect.has(option.name)) cursor.warn(option.span, dPreprocessor.optionWithoutEffect(option.name));
  }
  // What is said last counts.
  const sizes = config.filter(({ name }) => name === "max_strlen");
  for (const one of sizes.slice(0, -1)) config.splice(config.indexOf(one), 1);
  if (sizes.length === 0) config.push({ name: "max_strlen", value: String(textSize), span: { start: 0, end: 0 } });
  const unit = new Unit(
    cursor,
    given,
    settings,
    { actions: actionNames, check: checkAction, aggregating: aggregatingNames },
    addressedNames(tokens),
  );
  unit.switched = optionsSetIn(tokens);
  unit.maybeNull = maybeNullIn(tokens);
  const probes: Probe[] = [];
  try {
    // Clauses are read when all is declared, what stands behind them too.
    for (const start of declarations(unit)) {
      cursor.seek(start);
      probes.push(...clause(unit));
    }
  } catch (error) {
    if (error !== failure) throw error;
  }
  if (tokens.length === 1 && !settings.empty && cursor.diagnostics.length === 0)
    cursor.report(tokens[0], dSyntax.noClauses());
  const span = { start: source.text.length, end: source.text.length };
  // As DTrace has it, only the last one has to be used.
  const last = given.positional.length;
  if (last > 0 && !settings.argref && cursor.diagnostics.length === 0 && !unit.usedMacros.has(String(last)))
    cursor.report(span, dPreprocessor.macroUnused(given.positional[last - 1], last));
  const needed = helperClauses(unit, span);
  const behind = unassigned(unit, span);
  const own =
    behind.length === 0
      ? probes
      : probes.map((probe) => {
          const block = nodes.block([probe.body, ...behind], probe.span);
          unit.clauseOf.set(block, unit.clauseOf.get(probe.body) ?? 0);
          return { ...probe, body: block };
        });
  const program: Program = {
    source,
    rules: dRules,
    config,
    structs: unit.structs,
    enums: unit.enums,
    maps: needed.maps,
    functions: [],
    probes: [
      ...heading(unit, span),
      ...declared(unit, span),
      ...needed.first,
      ...own.map((probe) => watched(probe, unit)),
      ...needed.last,
      ...unprinted(unit, span),
    ],
  };
  return { program, diagnostics: sorted(cursor.diagnostics) };
}

/** Reads all declarations; gives where the clauses between them begin. */
function declarations(unit: Unit): readonly number[] {
  const p = unit.cursor;
  const clauses: number[] = [];
  while (p.token.kind !== "end") {
    if (p.accept(";")) continue;
    if (declares(unit)) declaration(unit);
    else {
      clauses.push(p.index);
      skipClause(p);
    }
  }
  return clauses;
}

/** Behind its body; a mistake in it is the second reading's. */
function skipClause(p: Cursor): void {
  while (p.token.kind !== "end" && !p.at("{") && !p.at(";")) p.advance();
  if (!p.at("{")) return;
  let depth = 0;
  do {
    if (p.at("{")) depth++;
    if (p.at("}")) depth--;
    p.advance();
  } while (depth > 0 && p.token.kind !== "end");
}

/** `&x`, but for `y & x`. */
function addressedNames(tokens: readonly Token[]): ReadonlySet<string> {
  return new Set(
    tokens.flatMap(({ kind, text }, i) => {
      const [before, sign] = [tokens[i - 2], tokens[i - 1]];
      const operator = before?.kind === "punctuation" && before.text !== ")" && before.text !== "]";
      return kind === "identifier" && sign?.text === "&" && sign.kind === "punctuation" && operator ? [text] : [];
    }),
  );
}

function sorted(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return [...diagnostics].sort((a, b) => a.span.start - b.span.start);
}
