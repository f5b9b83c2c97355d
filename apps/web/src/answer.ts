import type { Html } from './html.ts';

export interface Notice {
  kind: 'info' | 'warn';
  text: string;
}

/** A page that a handler shows. */
export interface Page {
  /** The text of its `<h1>`, and the first part of the title. */
  title: string;
  /** What follows the heading. */
  body: Html;
  /** Beside the heading: buttons. */
  aside?: Html | undefined;
  /** Below the heading. */
  lead?: Html | string | undefined;
  /** Above the heading: the way back. */
  crumb?: { href: string; text: string } | undefined;
  status?: number;
  /** Whether the page refreshes itself when something changes. */
  isLive?: boolean;
  /** Addresses of scripts that improve this page. */
  scripts?: readonly string[];
}

/** Where a browser goes after a form was accepted. */
export interface Redirect {
  to: string;
  /** Shown once, on the next page. */
  notice?: Notice | undefined;
  /** `Set-Cookie` headers. */
  cookies?: readonly string[];
}

/** A file that the browser saves. */
export interface Download {
  /** Made by this application. */
  fileName: string;
  type: string;
  content: AsyncIterable<string>;
}

export type Answer = Page | Redirect | Download;

export const isDownload = (answer: Answer): answer is Download => 'fileName' in answer;

export const isRedirect = (answer: Answer): answer is Redirect => 'to' in answer;

/** A redirect with a notice. */
export const redirect = (to: string, text?: string): Redirect => ({
  to,
  notice: text === undefined ? undefined : { kind: 'info', text },
});

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
