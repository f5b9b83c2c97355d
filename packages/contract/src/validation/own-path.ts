/**
 * Returns a path of this application, or `/`. Anything else that a link names, such as another host, would send people
 * away after the sign-in.
 */
export function toOwnPath(next: unknown): string {
  if (typeof next !== 'string' || !next.startsWith('/')) return '/';
  const base = 'http://own.invalid';
  if (!URL.canParse(next, base)) return '/';
  const { origin, pathname, search } = new URL(next, base);
  // Dots may leave a path such as `//other.host`, which a browser reads as another host.
  return origin === base && !pathname.startsWith('//') ? `${pathname}${search}` : '/';
}
