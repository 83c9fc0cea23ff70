// `strobe WORD …`: what strobe does besides running a script. A script of that name is run as `./WORD`.

export interface Subcommand {
  /** What stands behind `strobe` in the help. */
  readonly usage: string;
  readonly doc: string;
  /** Gives the exit code. */
  run(argv: readonly string[]): Promise<number>;
}

export const subcommands: Readonly<Record<string, Subcommand>> = {
  fmt: {
    usage: "fmt [--check] [FILE…]",
    doc: "lay out bpftrace scripts (standard input without a file)",
    run: async (argv) => (await import("./format.ts")).formatFiles(argv),
  },
};
