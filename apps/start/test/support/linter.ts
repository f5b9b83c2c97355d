import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const REDOCLY = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'));

/** Lints a document by the rules of `redocly.yaml`; prints warnings too. */
export function lint(file: string): Promise<{ code: number | string | undefined; printed: string }> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  // No telemetry and no check for updates.
  const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' };
  const given = ['lint', file, '--config', `${ROOT}redocly.yaml`, '--format', 'json'];
  const options = { cwd: ROOT, env: { PATH, NODE_COMPILE_CACHE, ...quiet }, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile(process.execPath, [REDOCLY, ...given], options, (error, stdout, stderr) => {
      resolve({ code: error ? (error.code ?? undefined) : 0, printed: `${stdout}\n${stderr}` });
    });
  });
}
