import { registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import tap, { type Test } from 'tap';

/** The process of a group of test files: runs each as a subtest, one after the other. */

const TAP = 'tap-of:';
const { TEST_FILES = '[]', TAP_TIMEOUT, ...environment } = process.env;
delete process.env.TEST_FILES;
const files = new Map<string, string>();
for (const file of JSON.parse(TEST_FILES) as string[]) files.set(pathToFileURL(resolve(file)).href, file);
const subtests = new Map<string, Test>();
Object.assign(globalThis, { [Symbol.for('carillon.subtests')]: subtests });

// In a test file, `tap` is the subtest of that file, so that its teardown and folders end with it.
registerHooks({
  resolve(specifier, context, next) {
    const { parentURL = '' } = context;
    if (specifier !== 'tap' || !files.has(parentURL)) return next(specifier, context);
    return { url: TAP + encodeURIComponent(parentURL), format: 'module', shortCircuit: true };
  },
  load(url, context, next) {
    if (!url.startsWith(TAP)) return next(url, context);
    const file = JSON.stringify(decodeURIComponent(url.slice(TAP.length)));
    const source = `export default globalThis[Symbol.for('carillon.subtests')].get(${file});`;
    return { format: 'module', source, shortCircuit: true };
  },
});

// The limit is that of a file.
const timeout = Number(TAP_TIMEOUT) * 1000;
tap.setTimeout(timeout * files.size);
for (const [url, file] of files) {
  await tap.test(file, { timeout }, async (t) => {
    subtests.set(url, t);
    await import(url);
  });
  restoreEnvironment();
}

function restoreEnvironment() {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
}
