import { EMPTY, type Html, html } from '../html.ts';
import { ASSET_URLS } from '../http/assets.ts';
import type { Form } from '../http/forms.ts';
import type { PageContext } from '../page.ts';

/** What a page with such a form needs. */
export const PASSKEY_SCRIPTS = [ASSET_URLS.passkey];

interface PasskeyForm {
  action: string;
  kind: 'create' | 'get';
  /** As JSON. */
  options: string;
  button: string;
  fields?: Html;
  isPrimary?: boolean;
  isWide?: boolean;
}

/** A form that a script shows where the browser has passkeys, and fills with the answer of the device. */
export const renderPasskeyForm = (
  { csrfField, texts: { secondFactor } }: Pick<PageContext, 'csrfField' | 'texts'>,
  { action, kind, options, button, fields = EMPTY, isPrimary = false, isWide = false }: PasskeyForm,
): Html => html`<form class="gap" method="post" action="${action}" data-passkey="${kind}" data-options="${options}" hidden>${csrfField}
<input type="hidden" name="response" value="" autocomplete="off">
${fields}
<div class="do"><button${(isPrimary || isWide) && html` class="${[isPrimary && 'primary', isWide && 'wide'].filter(Boolean).join(' ')}"`}>${button}</button></div>
<p class="error" role="alert" hidden>${secondFactor.passkeyFailed}</p>
</form>`;

/** The answer of the device; an empty object for one that cannot be read, which the service refuses. */
export function readPasskey(form: Form): never {
  try {
    return JSON.parse(form.text('response')) as never;
  } catch {
    return {} as never;
  }
}
