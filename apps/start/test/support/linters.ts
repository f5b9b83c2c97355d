import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** Nobody is told of the run, and nobody asked for a newer version. */
const QUIET = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' };

export interface Outcome {
  code: number | string | undefined;
  printed: string;
}

/** Redocly's judgement of a document, by the rules of the repository; warnings are printed as well. */
export const redocly = (file: string): Promise<Outcome> =>
  run('@redocly/cli/bin/cli.js', ['lint', file, '--config', `${ROOT}redocly.yaml`, '--format', 'json']);

/** Spectral's, where a hint fails it as an error does. */
export const spectral = (file: string): Promise<Outcome> =>
  run('@stoplight/spectral-cli/dist/index.js', ['lint', file, '-r', `${ROOT}.spectral.yaml`, '-F', 'hint']);

function run(script: string, given: string[]): Promise<Outcome> {
  const { PATH = '' } = process.env;
  const path = fileURLToPath(import.meta.resolve(script));
  return new Promise((resolve) => {
    const options = { cwd: ROOT, env: { PATH, ...QUIET }, maxBuffer: 64 * 1024 * 1024 };
    execFile(process.execPath, [path, ...given], options, (error, stdout, stderr) => {
      resolve({ code: error ? (error.code ?? undefined) : 0, printed: `${stdout}\n${stderr}` });
    });
  });
}
