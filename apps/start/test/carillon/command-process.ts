import { runCarillon } from '../../src/carillon/cli.ts';

/** Sent by `openCarillon`. */
export interface CommandRequest {
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
}

/** Ends the output of a command on both streams. */
export const END_OF_OUTPUT = '\0';

if (import.meta.main) {
  process.on('message', async ({ args, env, cwd }: CommandRequest) => {
    process.chdir(cwd);
    const code = await runCarillon([...args], env, new AbortController().signal);
    for (const stream of [process.stdout, process.stderr]) stream.write(END_OF_OUTPUT);
    process.send?.(code);
  });
}
