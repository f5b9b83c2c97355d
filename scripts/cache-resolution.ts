import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type ResolveFnOutput, registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The URL relative to the repository, and the format if Node names one. */
type Found = [url: string, format?: string];

/** By the kind of import and the folder of the importing file, then by what it names. */
type Resolutions = Record<string, Record<string, Found>>;

const ROOT = pathToFileURL(resolve(import.meta.dirname, '..')).href;
/** Other processes work their few missing resolutions out themselves, which takes less than writing the file. */
const MIN_NEW = 50;

/**
 * For `--import`: the processes of a test run share in the file `RESOLUTION_CACHE` which file each import means. A test
 * file of the API imports 2,000 files, and Node takes longer to find them than to load them.
 */
function shareResolutions(file: string | undefined): void {
  const known = readResolutions(file);
  let added = 0;
  registerHooks({
    resolve(specifier, context, next) {
      const { parentURL, conditions } = context;
      if (!parentURL?.startsWith(ROOT) || specifier.startsWith('node:')) return next(specifier, context);
      const kind = conditions.includes('import') ? 'import' : 'require';
      const folder = `${kind} ${parentURL.slice(ROOT.length, parentURL.lastIndexOf('/'))}`;
      const found = known[folder]?.[specifier];
      if (found) return { url: ROOT + found[0], format: found[1], shortCircuit: true };
      const resolved = next(specifier, context);
      if (isLasting(resolved)) {
        known[folder] ??= {};
        known[folder][specifier] = [
          resolved.url.slice(ROOT.length),
          ...(resolved.format ? [resolved.format] : []),
        ] as Found;
        added++;
      }
      return resolved;
    },
  });
  process.once('exit', () => {
    if (file && added >= MIN_NEW) writeResolutions(file, known);
  });
}

/** Files of the repository without those that tests create. */
const isLasting = ({ url, importAttributes }: ResolveFnOutput) =>
  url.startsWith(ROOT) && !url.includes('/.tap/') && !url.includes('?') && !importAttributes;

function readResolutions(file: string | undefined): Resolutions {
  try {
    return JSON.parse(readFileSync(file ?? '', 'utf8'));
  } catch {
    return {};
  }
}

/** Of processes that end at the same time, the last one wins. */
function writeResolutions(file: string, known: Resolutions): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(known));
  renameSync(draft, file);
}

shareResolutions(process.env.RESOLUTION_CACHE);
