// `strobe emit`: one user event, from a shell.
import { readFormat } from "../linux/kernel/tracefs.ts";
import { emitterOf, kernelNameOf, kernelTypes, type KernelField } from "../api/user-event.ts";
import { parseTracepointFormat } from "../machine/kernel/tracepoint-format.ts";
import { tell } from "./files.ts";
import { commands } from "../messages/commands.ts";
import { UsageError } from "./usage-error.ts";

interface Word {
  readonly name: string;
  readonly type?: string;
  readonly value: string;
}

/** The exit code: 1 where the event cannot be registered, or somebody listened and it was not written. */
export function emitUserEvent(argv: readonly string[]): number {
  const quiet = argv.includes("-q");
  const [name, ...words] = argv.filter((word) => word !== "-q");
  if (name === undefined || name.startsWith("-")) throw new UsageError(commands.emitNeedsName());
  const given = words.map(parseWord);
  const kernelName = sayingUsage(() => kernelNameOf(name));
  const fields = fieldsThere(kernelName, given) ?? given.map(fieldOf);
  const values = Object.fromEntries(
    fields.map((field) => [field.name, valueOf(field, given.find((word) => word.name === field.name)!.value)]),
  );
  const event = sayingUsage(() => emitterOf(kernelName, fields));
  if (event.absent !== undefined) {
    tell(`strobe: ${event.absent}\n`);
    return 1;
  }
  if (!event.enabled) {
    if (!quiet) tell(`strobe: nobody listens to user_events:${kernelName}; nothing was written\n`);
    return 0;
  }
  event(values as never);
  if (event.cut > 0) tell(`strobe: a text of ${kernelName} was cut: it does not fit into an event\n`);
  if (event.lost === 0) return 0;
  tell(`strobe: the kernel did not take the event ${kernelName}\n`);
  return 1;
}

/** What the library refuses as a TypeError is said by the command of its words. */
function sayingUsage<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(commands.emitRefused(error.message.replace(/^strobe: /, "")));
  }
}

function parseWord(word: string): Word {
  const match = /^([A-Za-z_]\w*)(?::(\w+))?=(.*)$/s.exec(word);
  if (match === null) throw new UsageError(commands.emitTakesFields(word));
  const [, name, type, value] = match;
  if (type === undefined) return { name, value };
  if (!Object.hasOwn(kernelTypes, type))
    throw new UsageError(commands.emitUnknownType(word, type, Object.keys(kernelTypes)));
  return { name, type: kernelTypes[type as keyof typeof kernelTypes], value };
}

/** The fields of the event that is there already, which all must be given; undefined when there is none, or it is hidden. */
function fieldsThere(kernelName: string, given: readonly Word[]): readonly KernelField[] | undefined {
  let text: string | undefined;
  try {
    text = readFormat("user_events", kernelName);
  } catch {
    return undefined;
  }
  const fields = text === undefined ? undefined : parseTracepointFormat(text)?.fields;
  if (fields === undefined) return undefined;
  const declared = fields.map(({ name, declaration }) => ({ name, type: declaration }));
  const missing = declared.filter(({ name }) => !given.some((word) => word.name === name));
  const strange = given.filter((word) => !declared.some(({ name }) => word.name === name));
  if (missing.length > 0 || strange.length > 0)
    throw new UsageError(
      commands.emitOtherFields(
        kernelName,
        declared.map(({ name }) => name).join(", "),
        given.map(({ name }) => name).join(", "),
      ),
    );
  return declared;
}

const integerShape = /^[+-]?(\d+|0x[0-9a-f]+)$/i;

function fieldOf({ name, type, value }: Word): KernelField {
  return {
    name,
    type: type ?? (integerShape.test(value) ? inferred(BigInt(value.replace(/^[+-]/, ""))) : kernelTypes.string),
  };
}

function inferred(value: bigint): string {
  return value >= 1n << 63n ? kernelTypes.u64 : kernelTypes.i64;
}

function valueOf({ name, type }: KernelField, value: string): string | bigint {
  if (type.includes("char[")) return value;
  if (!integerShape.test(value)) throw new UsageError(commands.emitInteger(name, type, value));
  const negative = value.startsWith("-");
  const number = BigInt(value.replace(/^[+-]/, ""));
  return negative ? -number : number;
}
