import { createHmac } from 'node:crypto';
import type { ConfirmationRequired } from '@carillon/contract/actions/web/index';
import type { Texts } from '@carillon/texts';
import { buildAddress } from '../../components/tables.ts';
import { type Html, html } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import { type Redirect, redirect, type UserPageContext } from '../../page.ts';

export const needsConfirmation = (result: { success: boolean; code?: unknown }): result is ConfirmationRequired =>
  !result.success && result.code === 'CONFIRMATION_REQUIRED';

/** Proxies refuse long addresses. */
const MAX_QUERY_LENGTH = 2000;

type FormValues = Readonly<Record<string, string>>;

/** Leads to the confirmation, and from there back to the form at `path` with what was typed. */
export function askToConfirm(context: UserPageContext, path: string, values: FormValues = {}): Redirect {
  const query = String(new URLSearchParams({ ...values, kept: sign(context, path, values) }));
  const isKept = Object.keys(values).length > 0 && query.length <= MAX_QUERY_LENGTH;
  const next = isKept ? `${path}?${query}` : path;
  return redirect(buildAddress('/admin/confirm', { next }));
}

/** What was typed before the confirmation; null if there is none. A link from another person fills in no form. */
export function readFormValues<T extends string>(
  context: UserPageContext,
  names: readonly T[],
): Record<T, string> | null {
  const { kept, ...values } = readQuery(context.request);
  const [path = ''] = context.request.url.split('?');
  if (kept === undefined || kept !== sign(context, path, values)) return null;
  return Object.fromEntries(names.map((name) => [name, values[name] ?? ''])) as Record<T, string>;
}

const sign = ({ dashboard, viewer }: UserPageContext, path: string, values: FormValues): string =>
  createHmac('sha256', dashboard.csrfKey)
    .update(JSON.stringify([viewer.sessionId, path, Object.entries(values).sort()]))
    .digest('base64url');

export const renderKept = ({ admin }: Texts, isKept: boolean): Html | false =>
  isKept && html`<div class="notice warn" role="status"><p>${admin.notSaved}</p></div>`;

/** A text that is no whole number goes through as it is, for the message at its field. */
export const toNumber = (text: string): number => (/^-?\d{1,15}$/.test(text.trim()) ? Number(text) : (text as never));
