// docs/kernels.md, from what the suite found.
export interface KernelColumn {
  /** The kernel's name, not its release: point releases come and go. */
  readonly name: string;
  readonly failed: ReadonlySet<string>;
  readonly probes: readonly string[];
  readonly language: readonly string[];
}

export function kernelsPage(columns: readonly KernelColumn[]): string {
  const titles = columns.map(({ name }) => `Linux ${name}`);
  const rows = (columns[0]?.probes ?? []).map((name) => `| ${name} | ${columns.map(({ failed }) => (failed.has(name) ? "no" : "yes")).join(" | ")} |`);
  const language = columns.map(({ failed, language }) => `${language.filter((name) => !failed.has(name)).length} of ${language.length}`);
  return `# What works on which kernel

Written by the guest suite (\`STROBE_UPDATE=1 npm run test:guest\`), which boots each of these kernels and counts exactly what a
known program does. The kernels are Debian's cloud images.

| | ${titles.join(" | ")} |
|---|${titles.map(() => "---|").join("")}
${rows.join("\n")}
| scripts of the language's tests | ${language.join(" | ")} |
`;
}
