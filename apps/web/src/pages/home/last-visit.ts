import { describeCookie, YEAR_SECONDS } from '../../http/cookies.ts';
import type { UserPageContext } from '../../page.ts';

const COOKIE = 'looked';
/** A look at the page lasts as long: reloading it does not make its answers old. */
const LOOK_MS = 30 * 60_000;

/** Returns when the person looked before this look, and remembers this one; null at the first look in this browser. */
export function recordVisit({ request, reply, now, dashboard }: UserPageContext): Date | null {
  const [before, current] = (request.cookies[COOKIE] ?? '').split('.').map((text) => toInstant(text, now));
  const isSameLook = current && now.getTime() - current.getTime() < LOOK_MS;
  const since = isSameLook ? before : current;
  if (!isSameLook) {
    const value = [since?.getTime() ?? 0, now.getTime()].join('.');
    reply.setCookie(COOKIE, value, { ...describeCookie(dashboard), maxAge: YEAR_SECONDS });
  }
  return since ?? null;
}

function toInstant(text: string, now: Date): Date | null {
  const at = Number(text);
  return Number.isSafeInteger(at) && at > 0 && at <= now.getTime() ? new Date(at) : null;
}
