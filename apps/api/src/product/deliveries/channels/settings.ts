import { normalizeEmail } from '@carillon/contract/validation/formats';
import type { ChannelKind, QuietHours } from '@carillon/db';
import type { Caller, Context } from '../../../context.ts';
import { invalidField } from '../../../errors.ts';
import { CHANNEL_SENDERS } from '../messages/kinds/index.ts';
import type { ChannelSender, ChannelSettings } from '../messages/sender.ts';

const SETTING_FIELDS = ['url', 'botToken', 'chatId', 'topic', 'token', 'urls', 'key', 'address'] as const;
/** Of these a channel has one: what is given replaces the other. */
const ALTERNATIVES = { urls: 'key', key: 'urls' } as const;
const DEFAULT_DIGEST_HOUR = 8;

/** The settings of the kinds as a request has them; null removes one. */
type GivenSettings = { [F in (typeof SETTING_FIELDS)[number]]?: ChannelSettings[F] | null };

export const hasSettings = (given: GivenSettings): boolean =>
  SETTING_FIELDS.some((field) => given[field] !== undefined);

/** `stored` with what is given. Throws 400 that names the field for what the kind does not take or cannot use. */
export function mergeSettings(
  ctx: Context,
  kind: ChannelKind,
  given: GivenSettings,
  stored: ChannelSettings = {},
): ChannelSettings {
  const sender = CHANNEL_SENDERS[kind];
  const merged: ChannelSettings = { ...stored };
  for (const field of SETTING_FIELDS) {
    const value = given[field];
    if (value === undefined) continue;
    if (!sender.fields.includes(field)) throw invalidField(field, `is not a setting of ${kind}`);
    if (field in ALTERNATIVES) delete merged[ALTERNATIVES[field as keyof typeof ALTERNATIVES]];
    if (value === null) delete merged[field];
    else Object.assign(merged, { [field]: field === 'address' ? normalizeEmail(value as string) : value });
  }
  sender.check(ctx, merged);
  assertSecretsStay(sender, given, stored, merged);
  return merged;
}

/** Keeps a caller who may change a channel from having its stored secrets sent to another server. */
function assertSecretsStay(
  sender: ChannelSender,
  given: GivenSettings,
  stored: ChannelSettings,
  merged: ChannelSettings,
) {
  if (stored.url === undefined || merged.url === undefined) return;
  if (new URL(stored.url).origin === new URL(merged.url).origin) return;
  const { shown } = sender.show(stored);
  for (const field of SETTING_FIELDS) {
    const isKept = stored[field] !== undefined && merged[field] !== undefined && given[field] === undefined;
    if (isKept && !(field in shown)) throw invalidField(field, 'is needed again, because the server is another one');
  }
}

interface Pacing {
  quiet: QuietHours | null;
  minIntervalMinutes: number | null;
  digest: 'off' | 'hourly' | 'daily';
  digestHour: number | null;
  digestTimezone: string | null;
  urgent: boolean;
}

const NO_PACING: Pacing = {
  quiet: null,
  minIntervalMinutes: null,
  digest: 'off',
  digestHour: null,
  digestTimezone: null,
  urgent: false,
};

export const PACING_FIELDS = Object.keys(NO_PACING) as (keyof Pacing)[];

type GivenPacing = { [F in keyof Pacing]?: Pacing[F] | undefined };

/** When the messages of a channel are sent: `before` with what is given. Throws 400. */
export function mergePacing(caller: Caller, kind: ChannelKind, given: GivenPacing, before: Pacing = NO_PACING): Pacing {
  const ofDigest = { ...given, digest: given.digest === 'off' ? undefined : given.digest };
  const misplaced = (['digest', 'digestHour', 'digestTimezone'] as const).find(
    (field) => ofDigest[field] !== undefined,
  );
  if (kind !== 'email' && misplaced) throw invalidField(misplaced, `is not a setting of ${kind}`);
  if (given.quiet && given.quiet.from === given.quiet.to) throw invalidField('quiet.to', 'must differ from `from`');
  const merged = PACING_FIELDS.map((field) => [field, given[field] === undefined ? before[field] : given[field]]);
  const after = Object.fromEntries(merged) as Pacing;
  if (after.digest !== 'daily') return after;
  const digestTimezone = after.digestTimezone ?? caller.timezone ?? 'UTC';
  return { ...after, digestHour: after.digestHour ?? DEFAULT_DIGEST_HOUR, digestTimezone };
}
