import { invalidItem } from '../../../errors.ts';
import { parseWatchPath } from './compare/watch-path.ts';

/** Throws 400 naming the first path that is not valid. */
export function checkWatch(given: string[]): string[] {
  const at = given.findIndex((path) => parseWatchPath(path) === null);
  if (at >= 0)
    throw invalidItem('watch', at, 'must be a path such as price, releases[].date or releases[version].date');
  return given;
}
