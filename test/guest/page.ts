// docs/kernels.md, from what the suite found.
export interface KernelColumn {
  readonly release: string;
  readonly failed: ReadonlySet<string>;
  readonly probes: readonly string[];
  readonly language: readonly string[];
}

export function kernelsPage(columns: readonly KernelColumn[]): string {
  // Point releases come and go: the page speaks of the series.
  const titles = columns.map(({ release }) => release.split(".").slice(0, 2).join("."));
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
