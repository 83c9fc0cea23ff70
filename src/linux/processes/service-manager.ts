// What a service manager is told by the socket that it names in NOTIFY_SOCKET (sd_notify(3)): systemd's `Type=notify`.
import { LinuxError } from "../error.ts";
import { closeFd, syscall } from "../ffi.ts";
import { refusalHints, attempts } from "../../messages/on-demand.ts";
import type { Reason } from "../../base/failure.ts";

const [SOCKET, SENDTO] = process.arch === "arm64" ? [198, 206] : [41, 44];
const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const MSG_NOSIGNAL = 0x4000;
/** sun_path's size in struct sockaddr_un. */
const longestPath = 108;
const EINVAL = 22;

/** `state`: lines of `NAME=VALUE`. `socket`: a path, or `@` and an abstract name. @throws LinuxError */
export function tellServiceManager(socket: string, state: string): void {
  const failed = (call: string, code: number, hint?: Reason): LinuxError =>
    new LinuxError({
      call,
      code,
      doing: attempts().tellServiceManager(state, socket),
      ...(hint === undefined ? {} : { hint }),
    });
  const name = Buffer.from(socket);
  if (!/^[/@]./.test(socket) || name.length >= longestPath)
    throw failed("connect", EINVAL, refusalHints().socketAddress());
  if (name[0] === 0x40) name[0] = 0;
  const address = Buffer.concat([new Uint8Array(Uint16Array.of(AF_UNIX).buffer), name]);
  const descriptor = syscall(SOCKET, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) throw failed("socket", -descriptor);
  try {
    const text = Buffer.from(state);
    const sent = syscall(SENDTO, descriptor, text, text.length, MSG_NOSIGNAL, address, address.length);
    if (sent < 0) throw failed("sendto", -sent);
  } finally {
    closeFd(descriptor);
  }
}
