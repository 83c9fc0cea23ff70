// The kernels that guests run, oldest first. Adding one is a line.
interface Named {
  /** What `--kernel` takes. */
  readonly name: string;
  /** Older than strobe supports: it is there to see how strobe says so. */
  readonly belowFloor?: boolean;
  /** Has a fault of its own, which one test is about: the suites do not run on it. */
  readonly faulty?: boolean;
}

export interface DebianKernel extends Named {
  readonly source?: undefined;
  /** The Debian suite that carries it. */
  readonly suite: string;
  /** The suite's package that depends on the newest image, or an image. */
  readonly package: string;
}

/** Built by build-kernel.ts, with what Debian's leave out. */
export interface OwnKernel extends Named {
  readonly source: "own";
}

export type Kernel = DebianKernel | OwnKernel;

export const kernels: readonly Kernel[] = [
  { name: "5.10", suite: "bullseye", package: "linux-image-cloud-amd64", belowFloor: true },
  { name: "6.1", suite: "bookworm", package: "linux-image-cloud-amd64" },
  { name: "6.12", suite: "trixie", package: "linux-image-cloud-amd64" },
  { name: "6.18", suite: "trixie-backports", package: "linux-image-6.18.15+deb13-cloud-amd64", faulty: true },
  { name: "7", suite: "sid", package: "linux-image-cloud-amd64" },
  { name: "own", source: "own" },
];
