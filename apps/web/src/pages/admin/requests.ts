import type { ConfirmationRequired } from '@carillon/contract/actions/web/index';
import { parseId } from '@carillon/contract/primitives';
import { type Redirect, redirect } from '../../answer.ts';
import { type Html, html } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import { buildAddress } from '../../parts/tables.ts';
import { ActionStop, type SignedInVisit } from '../../visit.ts';

/** The `:id` of the address. Stops with 404 for one that cannot exist. */
export function readIdOf({ request }: SignedInVisit): number {
  const id = parseId((request.params as { id: string }).id);
  if (id === null) throw new ActionStop({ success: false, error: 'Not found', code: 'NOT_FOUND' });
  return id;
}

export const needsConfirmation = (result: { success: boolean; code?: unknown }): result is ConfirmationRequired =>
  !result.success && result.code === 'CONFIRMATION_REQUIRED';

/** Leads to the confirmation, and from there back to the form at `path` with what was typed. */
export const askToConfirm = (path: string, typed: Readonly<Record<string, string>> = {}): Redirect =>
  redirect(
    buildAddress('/admin/confirm', {
      next: Object.keys(typed).length === 0 ? path : `${path}?${new URLSearchParams({ ...typed, kept: '1' })}`,
    }),
  );

/** What was typed before the confirmation; null if there is none. */
export function readTyped<T extends string>(visit: SignedInVisit, names: readonly T[]): Record<T, string> | null {
  const query = readQuery(visit.request);
  if (query.kept !== '1') return null;
  return Object.fromEntries(names.map((name) => [name, query[name] ?? ''])) as Record<T, string>;
}

export const renderKept = (isKept: boolean): Html | false =>
  isKept &&
  html`<div class="notice warn" role="status"><p>Nothing is saved yet. These fields are as you left them: check them, then save.</p></div>`;

/** A text that is no whole number goes through as it is, for the message at its field. */
export const toNumber = (text: string): number => (/^-?\d{1,15}$/.test(text.trim()) ? Number(text) : (text as never));
