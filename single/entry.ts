// The heap behind these imports is taken apart into the file when it is built, and put together again when it starts.
import { startupSnapshot } from "node:v8";
import { exitNow, main } from "../src/cli/main.ts";

startupSnapshot.setDeserializeMainFunction(() => {
  void main(process.argv.slice(2)).then(({ exitCode, traced }) => {
    if (traced) exitNow(exitCode);
    process.exit(exitCode);
  });
});
