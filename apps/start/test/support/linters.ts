import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** No telemetry and no check for updates. */
const QUIET = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' };

export interface Outcome {
  code: number | string | undefined;
  printed: string;
}

/** Lints a document by the rules of the repository; prints warnings too. */
export const redocly = (file: string): Promise<Outcome> =>
  run('@redocly/cli/bin/cli.js', ['lint', file, '--config', `${ROOT}redocly.yaml`, '--format', 'json']);

/** Fails on hints too. */
export const spectral = (file: string): Promise<Outcome> =>
  run('@stoplight/spectral-cli/dist/index.js', ['lint', file, '-r', `${ROOT}.spectral.yaml`, '-F', 'hint']);

function run(script: string, given: string[]): Promise<Outcome> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  const path = fileURLToPath(import.meta.resolve(script));
  return new Promise((resolve) => {
    const options = { cwd: ROOT, env: { PATH, NODE_COMPILE_CACHE, ...QUIET }, maxBuffer: 64 * 1024 * 1024 };
    execFile(process.execPath, [path, ...given], options, (error, stdout, stderr) => {
      resolve({ code: error ? (error.code ?? undefined) : 0, printed: `${stdout}\n${stderr}` });
    });
  });
}
