import type { Formats } from './formats.ts';

/** What the API answers to a form, in English: the entries of `apiMessages` translate it. `{}` is a value, such as a number. */
export const API_MESSAGES = [
  'is required',
  'is not a known field',
  'is not valid',
  'has the wrong form',
  'must not be empty',
  'must not be blank',
  'must not contain spaces',
  'must be printable ASCII characters without spaces',
  'must consist of the letters A to Z, digits, - and _',
  'must be at least {} characters',
  'must be at least {} character',
  'must be at most {} characters',
  'must be at most {} character',
  'must have at least {} items',
  'must have at least {} item',
  'must have at most {} items',
  'must have at most {} item',
  'must have at most {} characters',
  'must be at least {}',
  'must be at most {}',
  'must be one of {}',
  'must be a string',
  'must be a number',
  'must be a number or null',
  'must be an integer',
  'must be an integer or null',
  'must contain an upper-case letter',
  'must contain a lower-case letter',
  'must contain a digit',
  'must be an e-mail address',
  'must be an http or https URL without user name and password',
  'must be an IANA time zone name, such as {}',
  'must be an ISO 8601 date-time with Z or an offset, of the years 1970 to 9999',
  'must be a day (2026-11-20) or an ISO 8601 date-time with Z or an offset',
  'must be a UUID',
  'must not contain the NUL character',
  'must not contain half a surrogate pair',

  'must be in the future',
  'must not be in the future',
  'must not be before the first day',
  'has passed: give a new one in the future',
  'is reached: give a larger number, or null',
  'must be after the next run, or null',
  'must be before the last run, or null',
  'must be after `from`',
  'leaves more than {} planned runs: give a shorter period',
  'must be a day',
  'must be a day, such as 2026-11-20',
  'must be 1 with {}',
  'only an active task can be paused',
  'is not the name of one of your {}',
  'is the name of several {}: give an id',
  'must be a list of tasks',
  'must be one document',
  'must not have tags, such as {}',
  'is too long for one task',
  'must be YAML: {}',
  'must be JSON',
  'must be UTF-8',
  'must have an anchor before each alias, and fewer aliases of aliases',
  'must have at most {} tasks',
  'must have a task, so that not all are pruned',
  'is also that of the task at line {}',
  'A pattern has at most {} characters.',
  'A pattern has exactly five fields: {}.',
  'The {} field ({}) is not valid.',
  'The time zone is not an IANA time zone name.',
  'This pattern never fires.',
  'has passed since the task was proposed: send a new one in `changes`',

  'must be an http or https URL',
  'must be an https URL',
  'must not contain a user name or password',
  'must not be a URL of this service',
  'must name a host',
  'must use port {}',
  'must be a public address',
  'must be a URL with a host',
  'must be a URL that begins with {}',
  'is not one of your channels',
  'is not one of your files',
  'is not one of your tasks',
  'has a name that another one has',
  'This execution has no result to ask about.',
  'must begin with a small letter, and have at most 32 small letters, digits and _',
  'is not a setting of {}',
  'is needed again, because the server is another one',
  'must differ from `from`',
  'must be the server, without /notify and what follows',
  'must be the server, without the topic',
  'is required, or `key`',
  'cannot be given together with `urls`',
  'must be a URL of Apprise, such as ntfy://topic, without spaces',
  'is required for e-mail',
  'must be a token of @BotFather, such as 123456:AbC…',
  'must be the id of a chat, or the @name of a channel',
  'must be base64, padded, after whsec_',

  'must have at most {} KiB as JSON',
  'must be "object": results are objects',
  'must be a path such as price, releases[].date or releases[version].date',
  'must be false for a task without tools',
  'must be at least {}, so that each of the tools may be used',
  'must be empty for the model {}: its provider runs no web tools. Choose a model of one that does (Anthropic or OpenRouter), or leave them out',
  'must not contain {} for the model {}: its provider runs {} only',
  'must have at most {} MiB together',
  'must have at most {} bytes',
  'must have a name',
  'must have a name of at most {} characters',
  'must not have control or direction characters in its name',
  'must be a file of one of these kinds: {}',
  'does not contain a {} file',

  'is required without id',
  'is required, because baseUrl changes',
  'must be left out, because id names a provider',
  'must be visible ASCII characters, without spaces',
  'must end before {}',
  'is wrong',
  'is not accepted: start again',
  'needs a host name: BASE_URL has the address {}',
  'cannot be sent with a code',
  'cannot be sent with {}',
  'is needed: you signed in more than 15 minutes ago',
  'is not the address of this account',
  'must differ from the current one',
  'is required while trials have no duration',

  'must be a host with an optional port, such as {}',
  'must be the name of a header that a request may set',
  'must be printable ASCII characters on one line, without spaces at its ends',
  'There is a secret of this name.',
  'The quota of {} secrets is used up.',
  'must be `always` for a task without sources',
  'has the name of another one',
  'cannot search: the operator has set no search engine',
  'select must be a JSON Pointer, such as {}',
  'select must be a CSS selector, such as {}, or a JSON Pointer, such as {}',
  'names the secret {}, which does not exist',
  'names the secret {}, which is for {}',
  'The source could not be reached: its host or certificate is wrong, it is down, or it is not public.',
  'The source could not be reached: its host or certificate is wrong, it is down, or it is not public. A secret needs https, or an address that the operator allows.',
  'The source did not answer within {} s.',
  'The source redirects more than {} times.',
  'The source answered {}.',
  'The source is larger than 2 MiB.',
  'The answer of the source is not complete.',
  'The compression of the source is unknown or broken.',
  'The source is not a text.',
  'The source is not JSON, which its JSON Pointer needs.',
  'The source is not HTML, which its CSS selector needs.',
  'The source has nothing at its selection.',
  'The source is malformed.',
  'The source takes too long to read.',
  'The search engine got no answer from the engines that it asks.',
  'The search engine answered {}.',
  'The search engine did not answer.',
  'The secret of the source was deleted, or is for another host.',

  'The e-mail address or the password is wrong.',
  'This e-mail address is already registered.',
  'This address is BOOTSTRAP_ADMIN_EMAIL in the settings of the installation. Change it there first.',
  'This account has no password: sign out, and sign in again.',
  'This account has no password yet. Ask for a link by mail to choose one.',
  'Confirm with your password first.',
  'The trial has ended.',
  'The quota of {} active tasks is used up: pause or delete one first.',
  'The quota of {} executions is used up until {}.',
  'The quota of {} tokens is used up until {}.',
  'The quota of {} storage is used up.',
  'The task has spent {} of its monthlyBudgetUsd of {}, and the rest does not cover another run. The next month begins at {}.',
  'Calls in progress have reserved the remaining tokens. Try again in a few seconds.',
  'The service is not available at this moment.',
  'The service is under maintenance. Please try again later.',
  'The service is overloaded. Please try again shortly.',
  'Too many sign-ins at the moment. Try again in a few seconds.',
  'Too many deliveries are in progress. Try again in a few seconds.',
  'The upload took too long. Try again.',
  'This is no longer the next run.',
  'The task has no next run to skip.',
  'This is the last active admin.',
  'A coupon with this code already exists.',
  'There can be {} providers.',
  'This is the default provider. Delete the other ones first.',
  'This provider is set by environment variables: change it there, and restart.',
  'Another provider has the name "{}".',
  'One of your webhooks already has this secret; their inbound URLs would be the same.',
  'Another of your tasks has this externalId.',
  'The channel is not active. Switch it on first.',
  'The webhook is not active. Activate it first.',
  'The e-mail address is not confirmed yet: open the link first.',
] as const;

export type ApiMessage = (typeof API_MESSAGES)[number];

interface MessageTexts {
  apiMessages: { exact: Partial<Record<ApiMessage, string>> };
  formats: Formats;
}

const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

const escapePattern = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The messages with values, the longest first: the pattern of a short one may match a long one. */
const patterns = API_MESSAGES.filter((message) => message.includes('{}'))
  .toSorted((a, b) => b.length - a.length)
  .map((message) => ({
    message,
    pattern: new RegExp(`^${message.split('{}').map(escapePattern).join('(.+?)')}$`, 's'),
  }));

/** Says a message of the API in the language of the reader; one that is not known stays as it is. */
export function translateApiMessage(text: string, texts: MessageTexts): string {
  const item = /^(item \d+) (.*)$/s.exec(text);
  if (item) return `${item[1]} ${translateApiMessage(item[2] ?? '', texts)}`;
  const exact: Readonly<Record<string, string | undefined>> = texts.apiMessages.exact;
  const known = exact[text];
  if (known !== undefined) return known;
  for (const { message, pattern } of patterns) {
    const [, ...values] = pattern.exec(text) ?? [];
    const translated = exact[message];
    if (values.length > 0 && translated !== undefined) {
      return translated.replaceAll('{}', () => showValue(values.shift() ?? '', texts));
    }
  }
  return text;
}

/** Instants are moments at which quotas are renewed, which are those of UTC. */
const showValue = (value: string, { formats }: MessageTexts): string =>
  INSTANT.test(value) ? `${formats.fullMoment(new Date(value), 'UTC')} UTC` : value;
