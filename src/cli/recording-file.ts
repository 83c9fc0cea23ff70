// Recordings as files: opened to be read, whoever wrote them; made so that only their owner reads them.
import { closeSync, constants, fstatSync, fchmodSync, ftruncateSync, openSync, readSync, type Stats } from "node:fs";
import { isDamage } from "../providers/registry.ts";
import { isRecording, type RecordingBytes } from "../recordings/frames.ts";
import { Recording } from "../recordings/reader.ts";
import { during, readSome } from "./files.ts";
import { pipedBytes } from "./piped-bytes.ts";
import type { Progress } from "./progress.ts";
import { recordingFiles } from "../messages/recording-files.ts";
import { UsageError } from "./usage-error.ts";
import { replayable, type ReplayableRecording } from "../providers/recorded.ts";
import { lazy } from "../base/lazy.ts";
import { attempts } from "../messages/on-demand.ts";

// Loaded for a file that is not strobe's.
const perfData = lazy<typeof import("../recordings/perf-data.ts")>(() => require("../recordings/perf-data.ts"));
const perfRecordings = lazy<typeof import("../providers/perf-recording.ts")>(() =>
  require("../providers/perf-recording.ts"),
);
const traceDat = lazy<typeof import("../recordings/trace-dat.ts")>(() => require("../recordings/trace-dat.ts"));
const traceDatRecordings = lazy<typeof import("../providers/trace-dat-recording.ts")>(() =>
  require("../providers/trace-dat-recording.ts"),
);
const foreign = lazy<typeof import("../providers/foreign-recording.ts")>(() =>
  require("../providers/foreign-recording.ts"),
);

export interface OpenedRecording extends Disposable {
  readonly recording: ReplayableRecording;
}

/**
 * A file, a pipe that has one (`<(perf record -o -)`), or standard input by `-`. @throws LinuxError, UsageError, RecordingError
 */
export function openRecording(named: string, progress?: Progress): OpenedRecording {
  const [path, descriptor] =
    named === "-"
      ? ["standard input", 0]
      : [
          named,
          during(
            () => attempts().readFile(named),
            () => openSync(named, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY),
          ),
        ];
  const close = (): void => {
    if (descriptor !== 0) closeSync(descriptor);
  };
  try {
    const bytes = bytesOf(descriptor, path, progress);
    const start = bytes.read(0, 16);
    const ours = isRecording(start);
    const perf = !ours && perfData().isPerfData(start);
    if (!ours && !perf && !traceDat().isTraceDat(start)) throw new UsageError(recordingFiles.noRecording(path));
    try {
      const recording = ours
        ? replayable(new Recording(bytes))
        : new (foreign().ForeignRecording)(
            perf
              ? perfRecordings().perfTrace(new (perfData().PerfData)(bytes))
              : traceDatRecordings().traceDatTrace(new (traceDat().TraceDat)(bytes)),
            bytes.size,
          );
      return { recording, [Symbol.dispose]: close };
    } catch (error) {
      throw isDamage(error) ? error.in(path) : error;
    }
  } catch (error) {
    close();
    throw error;
  }
}

/** @throws LinuxError, UsageError */
function bytesOf(descriptor: number, path: string, progress?: Progress): RecordingBytes {
  const stat = fstatSync(descriptor);
  if (stat.isFile()) return fileBytes(descriptor, stat.size, progress);
  if (!stat.isFIFO() && !stat.isSocket()) throw new UsageError(recordingFiles.notRegular(path));
  return during(
    () => attempts().readFile(path),
    () => pipedBytes((room) => readSome(descriptor, room), path),
  );
}

function fileBytes(descriptor: number, size: number, progress?: Progress): RecordingBytes {
  return {
    size,
    read(offset, length) {
      progress?.read(offset, size);
      const bytes = Buffer.alloc(Math.max(0, Math.min(length, size - offset)));
      let got = 0;
      while (got < bytes.length) {
        const more = readSync(descriptor, bytes, got, bytes.length - got, offset + got);
        if (more === 0) break;
        got += more;
      }
      return bytes.subarray(0, got);
    },
  };
}

/**
 * Makes the file, for its owner's eyes alone; what was there is gone. A file that another user has put there, or a link
 * to elsewhere, is refused: what is written to it would be theirs to read.
 * @throws LinuxError, UsageError
 */
export function createRecording(path: string): number {
  const { O_WRONLY, O_CREAT } = constants;
  return openOwn(path, O_WRONLY | O_CREAT, (descriptor) => {
    fchmodSync(descriptor, 0o600);
    ftruncateSync(descriptor);
  });
}

/** Opens a recording of our own, to be read and written behind its end. @throws LinuxError, UsageError */
export function reopenRecording(path: string): number {
  const { O_RDWR, O_APPEND } = constants;
  return openOwn(path, O_RDWR | O_APPEND, (descriptor) => fchmodSync(descriptor, 0o600));
}

/** @throws LinuxError, UsageError */
function openOwn(path: string, flags: number, take: (descriptor: number) => void): number {
  const descriptor = during(
    () => attempts().writeTo(path),
    () => openSync(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600),
  );
  try {
    const { uid, nlink } = fstatRegular(descriptor, path);
    if (nlink > 1) throw new UsageError(recordingFiles.hasOtherNames(path));
    if (uid !== process.geteuid?.()) throw new UsageError(recordingFiles.belongsToAnother(path));
    during(
      () => attempts().writeTo(path),
      () => take(descriptor),
    );
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** A recording of strobe's. @throws UsageError, RecordingError */
export function readRecording(descriptor: number, path: string, progress?: Progress): Recording {
  const bytes = fileBytes(descriptor, fstatSync(descriptor).size, progress);
  if (!isRecording(bytes.read(0, 16))) throw new UsageError(recordingFiles.notOurs(path));
  try {
    return new Recording(bytes);
  } catch (error) {
    throw isDamage(error) ? error.in(path) : error;
  }
}

/** @throws UsageError */
function fstatRegular(descriptor: number, path: string): Stats {
  const stat = fstatSync(descriptor);
  if (!stat.isFile()) throw new UsageError(recordingFiles.writtenToFile(path));
  return stat;
}
