const MAX_LENGTH = 100;

/** In UTF-16 units, before the text is read. */
const MAX_READ = 1000;

/**
 * The name that a client gives itself, which may be anything: one line without invisible characters, or null. Later
 * clients describe themselves in each request, earlier ones only in the first, so that the user agent has to do.
 */
export function findClientName(info: { name: string; version: string } | undefined, userAgent: string | undefined) {
  const given = info ? `${info.name.slice(0, MAX_READ)} ${info.version.slice(0, MAX_READ)}` : (userAgent ?? '');
  const visible = given
    .slice(0, MAX_READ)
    .toWellFormed()
    .replaceAll(/\p{Cf}/gu, '');
  const name = [...visible.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim()].slice(0, MAX_LENGTH).join('').trim();
  return name === '' ? null : name;
}
