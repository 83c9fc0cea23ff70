// The pages that are made of tables in the source, as text: generate.mjs writes them.

const cell = (text) => text.replaceAll("|", "\\|");
const row = (...cells) => `| ${cells.map(cell).join(" | ")} |`;
const table = (head, rows) => [row(...head), row(...head.map(() => "---")), ...rows].join("\n");
const notice = "<!-- Written by `npm run docs`: change the table it comes from, not this file. -->";

export function builtinsPage(builtins, languages) {
  const groups = [
    [
      "Values",
      "May be written with or without `()`.",
      (b) => b.form === "value" || (b.form === "both" && !b.statement),
    ],
    ["Functions", "", (b) => b.form === "function" && !b.statement && !b.signature.startsWith("@")],
    ["Statements", "They give no value.", (b) => b.statement],
    [
      "Aggregations",
      "Only to be assigned to a map. They add to what the map holds under the key.",
      (b) => b.form === "aggregate" || b.signature.startsWith("@"),
    ],
  ];
  const places = { kernel: "kernel", host: "strobe", both: "both" };
  const remarks = (b) =>
    [...(b.unsafe ? ["needs `--unsafe`"] : []), ...(b.kernel ? [`Linux ${b.kernel.join(".")} and later`] : [])].join(
      ", ",
    );
  const sections = groups.map(([title, text, belongs]) => {
    const rows = builtins
      .filter((b) => belongs(b) && b.spelling?.[languages[0].name]?.length !== 0)
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map((b) => row(`\`${b.signature}\``, b.doc + (remarks(b) ? ` (${remarks(b)})` : ""), places[b.placement]));
    return `## ${title}\n\n${text ? `${text}\n\n` : ""}${table(["", "what it is", "runs in"], rows)}\n`;
  });
  return `# Builtins

${notice}

Everything that a script can name without declaring it. "Runs in" says where: in the \`kernel\`, or in both the kernel and
strobe itself, which runs \`begin\`, \`end\` and \`interval\` probes. See [language.md](language.md) for how they are used, and for
what of bpftrace is missing.

${sections.join("\n")}`;
}

export function probesPage(providers) {
  const rows = providers.map((p) =>
    row(`\`${p.name}\``, p.aliases.map((name) => `\`${name}\``).join(" "), `\`${p.usage}\``, p.doc),
  );
  return `# Probes

${notice}

A probe is its kind and the parts behind it, with colons between. \`strobe -l\` lists what can be probed here, \`strobe -lv\` with
the arguments, \`strobe --info\` which kinds this kernel allows. See [language.md](language.md#probes) for what a handler sees.

${table(["kind", "also", "as written", "fires"], rows)}
`;
}

export function systemtapLibraryPage(functions, aliases, refused) {
  const rows = (of) =>
    of
      .toSorted((a, b) => (a.head < b.head ? -1 : 1))
      .map(({ head, doc }) => row(`\`${head}\``, doc.replaceAll("\n", " ")));
  return `# SystemTap's library

${notice}

What scripts in [SystemTap's language](systemtap.md) may call, and the names of probe points that are made of others. Of the
aliases only the variables that a script asks for are read.

${table(["function", ""], rows(functions))}

${table(["alias", "when"], rows(aliases))}

Refused, because they have no meaning or no way here:

${table(
  ["function", "why", "instead"],
  refused.map(([name, { why, instead }]) => row(`\`${name}()\``, why, instead)),
)}

\`syscall.NAME\`, \`nd_syscall.NAME\` and \`tp_syscall.NAME\` are there for every system call.
`;
}

export function languagesPage(languages) {
  const code = (words) => words.map((word) => `\`${word}\``).join(" ");
  const rows = languages.map((one) =>
    row(
      one.title,
      one.doc,
      code(one.endings),
      one.parse === undefined ? "`strobe run FILE`" : code([one.name, ...one.aliases]),
      [one.format ? "`fmt`" : "", one.editing ? "`lsp`" : "", one.translate ? `\`--emit ${one.aliases[0]}\`` : ""]
        .filter((word) => word !== "")
        .join(", "),
    ),
  );
  const rules = [
    [
      "integers",
      ({ integers: i }) =>
        `${i.widths === "C" ? "as wide as in C" : "64 bits"}; ${i.signed === "all" ? "signed" : "unsigned where both operands are"}; a quotient ${i.division}; by 0: ${i.byZero}`,
    ],
    ["`+` joins texts", ({ texts }) => (texts.plusJoins ? "yes" : "no")],
    ["an object as a condition", ({ objectsAreTrue }) => (objectsAreTrue ? "true" : "refused")],
    ["a missing key reads as", ({ maps }) => maps.missing],
    ["a failed read gives", ({ failedRead }) => failedRead],
    ["storing 0 under a key", ({ maps }) => `${maps.storingZero} it`],
    ["a variable lives in its", ({ variables }) => variables.scope],
    ["maps are printed at the end", ({ printsMapsAtEnd }) => (printsMapsAtEnd ? "all, by name" : "no")],
    [
      "a name is written",
      ({ spelling }) => code([spelling.map("m"), spelling.variable("x"), spelling.cast("uint8", "x")]),
    ],
  ];
  return `# Languages

${notice}

All languages are written into one tree, which one checker and one compiler read. A script's language is told by the ending
of its file, by the command in its first line (\`#!/usr/bin/env bpftrace\`), or by \`--lang\`; else it is ${languages[0].title}.

${table(["language", "what it is", "files", "`--lang`", "also"], rows)}

## Rules

What a script means by the same tree is the language's to say (\`src/language/rules.ts\`).

${table(
  ["", ...languages.map(({ title }) => title)],
  rules.map(([what, of]) => row(what, ...languages.map((one) => of(one.rules)))),
)}

## Probes

A front-end gives of each probe (\`ProbeSpec\`, \`src/language/probe-spec.ts\`) the kind, its parts, its options, and the text as
written. No kind reads the text: it is what messages show. Parts are nothing but data: unquoted, not joined, however the
language writes them. Which parts a kind takes, [probes.md](probes.md) says; which options, its line in
\`src/providers/registry.ts\`. What a kind does not take is refused with the place. So a language may write, for instance:

${table(
  ["as a language may write it", "kind", "parts", "options"],
  [
    row('\`kernel.function("vfs_read").return.maxactive(9)\`', "\`kretprobe\`", "\`vfs_read\`", "\`maxactive\`: \`9\`"),
    row(
      '\`kernel.function("tun_get_user@drivers/net/tun.c:1700")\`',
      "\`kprobe\`",
      "\`tun_get_user@drivers/net/tun.c\`, \`1700\`",
      "",
    ),
    row('\`kernel.statement("*@kernel/fork.c:2100")\`', "\`kprobe\`", "\`@kernel/fork.c\`, \`2100\`", ""),
    row('\`process("/bin/sh").statement("main@main.c:10")\`', "\`uprobe\`", "\`/bin/sh\`, \`main@main.c\`, \`10\`", ""),
    row("\`timer.ms(100)\`", "\`interval\`", "\`ms\`, \`100\`", ""),
    row("\`syscall::open*:entry\`", "\`tracepoint\`", "\`syscalls\`, \`sys_enter_open*\`", ""),
  ],
)}

\`optional\`, \`sufficient\` and \`sequence\` are the spec's own: no kind knows them. Names of what was found go back through
the language's \`Spelling.probe(name, asked)\` (\`kprobe:vfs_read\`, and the spec that it was found for): \`probe\`, messages, losses and
\`-l\` show what it gives. \`Language.patterns\` reads what \`-l\` is asked for.
`;
}

/** Text in roff: man(7). */
const roff = (text) =>
  text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("…", "...")
    .replace(/^([.'])/, "\\&$1");
const paragraph = (term, text) => `.TP\n${term}\n${roff(text)}\n`;

export function manPage(flags, subcommands, providers) {
  const rows = Object.values(flags);
  const groups = [...new Set(rows.map(({ group }) => group))];
  const spelled = ({ short, long, value }) => {
    const names = [...(short ? [`\\fB\\-${short}\\fR`] : []), ...(long ? [`\\fB\\-\\-${roff(long)}\\fR`] : [])];
    return `${names.join(", ")}${value ? ` \\fI${value}\\fR` : ""}`;
  };
  const options = groups.map(
    (group) =>
      `.SS ${group}\n${rows
        .filter((row) => row.group === group)
        .map((row) => paragraph(spelled(row), row.doc))
        .join("")}`,
  );
  return `.\\" Written by \`npm run docs\`: change the tables it comes from, not this file.
.TH STROBE 1 "" strobe
.SH NAME
strobe \\- ask a running Linux system a question
.SH SYNOPSIS
.B strobe
[\\fIoptions\\fR] \\fIFILE\\fR [\\fIparameters\\fR]
.br
.B strobe
[\\fIoptions\\fR] \\fB\\-e\\fR '\\fIPROGRAM\\fR' [\\fIparameters\\fR]
.br
.B strobe
\\fICOMMAND\\fR [\\fIarguments\\fR]
.SH DESCRIPTION
strobe traces the kernel and programs while they run. A script says at which probes something is done, and what. It is written
in bpftrace's language, in SystemTap's or, in a program of its own, in TypeScript. When strobe ends, nothing of it is left.
.PP
A tool that strobe brings along is run by its name: \\fBstrobe tools\\fR lists them.
\\fBstrobe help\\fR \\fIWORD\\fR explains a builtin, a kind of probe, an option, a setting or a message.
.SH OPTIONS
${options.join("")}.SH COMMANDS
${Object.values(subcommands)
  .map(({ usage, doc }) => paragraph(`\\fBstrobe ${roff(usage)}\\fR`, doc))
  .join("")}.SH PROBES
${providers.map(({ usage, doc }) => paragraph(`\\fB${roff(usage)}\\fR`, doc)).join("")}.SH EXIT STATUS
What the script's exit() was given, 0 at its end without; 1 where it could not be run.
`;
}
