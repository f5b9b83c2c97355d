import { createHmac } from 'node:crypto';
import type { ConfirmationRequired } from '@carillon/contract/actions/web/index';
import { parseId } from '@carillon/contract/primitives';
import { type Redirect, redirect } from '../../answer.ts';
import { buildAddress } from '../../components/tables.ts';
import { type Html, html } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import { ActionStop, type SignedInVisit } from '../../visit.ts';

/** The `:id` of the address. Stops with 404 for one that cannot exist. */
export function readIdOf({ request }: SignedInVisit): number {
  const id = parseId((request.params as { id: string }).id);
  if (id === null) throw new ActionStop({ success: false, error: 'Not found', code: 'NOT_FOUND' });
  return id;
}

export const needsConfirmation = (result: { success: boolean; code?: unknown }): result is ConfirmationRequired =>
  !result.success && result.code === 'CONFIRMATION_REQUIRED';

/** Proxies refuse long addresses. */
const MAX_QUERY_LENGTH = 2000;

type Typed = Readonly<Record<string, string>>;

/** Leads to the confirmation, and from there back to the form at `path` with what was typed. */
export function askToConfirm(visit: SignedInVisit, path: string, typed: Typed = {}): Redirect {
  const query = String(new URLSearchParams({ ...typed, kept: sign(visit, path, typed) }));
  const isKept = Object.keys(typed).length > 0 && query.length <= MAX_QUERY_LENGTH;
  const next = isKept ? `${path}?${query}` : path;
  return redirect(buildAddress('/admin/confirm', { next }));
}

/** What was typed before the confirmation; null if there is none. A link from another person fills in no form. */
export function readTyped<T extends string>(visit: SignedInVisit, names: readonly T[]): Record<T, string> | null {
  const { kept, ...typed } = readQuery(visit.request);
  const [path = ''] = visit.request.url.split('?');
  if (kept === undefined || kept !== sign(visit, path, typed)) return null;
  return Object.fromEntries(names.map((name) => [name, typed[name] ?? ''])) as Record<T, string>;
}

const sign = ({ dashboard, viewer }: SignedInVisit, path: string, typed: Typed): string =>
  createHmac('sha256', dashboard.csrfKey)
    .update(JSON.stringify([viewer.sessionId, path, Object.entries(typed).sort()]))
    .digest('base64url');

export const renderKept = (isKept: boolean): Html | false =>
  isKept &&
  html`<div class="notice warn" role="status"><p>Nothing is saved yet. These fields are as you left them: check them, then save.</p></div>`;

/** A text that is no whole number goes through as it is, for the message at its field. */
export const toNumber = (text: string): number => (/^-?\d{1,15}$/.test(text.trim()) ? Number(text) : (text as never));
