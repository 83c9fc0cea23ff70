// The end of a process that is no child of ours: its pidfd (pidfd_open(2), Linux 5.3) becomes readable.
import { check } from "../error.ts";
import { closeFd, pollDescriptor, syscall } from "../ffi.ts";
import { attempts } from "../../messages/on-demand.ts";

/** The same on every architecture, as of all system calls since Linux 5.1. */
const PIDFD_OPEN = 434;

export interface ProcessWatch extends Disposable {
  /** When the process has ended: as a zombie, it has. */
  readonly ended: Promise<void>;
}

/** @throws LinuxError when there is no such process, or it is a thread of one */
export function watchProcess(pid: number): ProcessWatch {
  const descriptor = check(syscall(PIDFD_OPEN, pid), "pidfd_open", () => attempts().watchProcess(pid));
  let close: (() => void) | undefined;
  const ended = new Promise<void>((resolve) => {
    const poll = pollDescriptor(descriptor, () => {
      close?.();
      // libuv calls us outside of any JavaScript turn.
      setImmediate(resolve);
    });
    close = () => {
      close = undefined;
      poll.close();
      closeFd(descriptor);
    };
  });
  return { ended, [Symbol.dispose]: () => close?.() };
}
