import { type Static, type TSchema, Type } from '@sinclair/typebox';

// Text lengths count code points.

/** A string of a closed set. */
export const stringEnum = <const W extends readonly string[]>(list: W, options: { description?: string } = {}) =>
  Type.Unsafe<W[number]>({ type: 'string', enum: [...list], ...options });

/** `schema` or null, as a list of types: OpenAPI 3.1 and the response serializer both support that. */
export const nullable = <T extends TSchema>(schema: T) =>
  typeof schema.type === 'string'
    ? Type.Unsafe<Static<T> | null>({
        ...schema,
        type: [schema.type, 'null'],
        ...(schema.enum ? { enum: [...schema.enum, null] } : {}),
      })
    : Type.Unsafe<Static<T> | null>({ anyOf: [schema, { type: 'null' }] });

/** An optional query parameter: callers may omit it, handlers always get a value. */
export const withDefault = <T extends TSchema>(schema: T, value: Static<T>): T =>
  Type.Optional({ ...schema, default: value }) as unknown as T;

/** A reference to a schema of `NAMED_SCHEMAS`, by its `$id`. */
export const ref = <T extends TSchema>(schema: T, description?: string) =>
  Type.Unsafe<Static<T>>({ $ref: `${schema.$id}#`, ...(description ? { description } : {}) });

/** An object that rejects unknown fields. */
export const strictObject = <P extends Record<string, TSchema>>(
  properties: P,
  options: { description?: string } = {},
) => Type.Object(properties, { additionalProperties: false, ...options });

export const DAY_MS = 86_400_000;

export const MAX_ID = 2_147_483_647;
export const Id = Type.Integer({ minimum: 1, maximum: MAX_ID });
export const Uuid = Type.String({ format: 'uuid' });

/** An instant in a response: a `Date`, serialized in UTC with milliseconds. */
export const Instant = Type.Unsafe<Date | string>({ type: 'string', format: 'date-time' });
/** An instant in a request. */
export const InstantInput = Type.String({ format: 'date-time', description: 'ISO 8601 with Z or an offset' });
export const DayOrInstantInput = Type.String({
  format: 'date-or-date-time',
  description: 'A day (2026-11-20) or an ISO 8601 date-time with Z or an offset',
});

export const TimeZone = Type.String({ format: 'time-zone', description: 'IANA time zone name' });
export const Email = Type.String({ format: 'email', maxLength: 254 });
export const HttpUrl = Type.String({ format: 'http-url', maxLength: 2048 });

/** A name that a person gives. White space at its ends is removed before its length is checked. */
const name = (minLength: number, description: string) =>
  Type.String({ 'x-trim': true, minLength, maxLength: 100, description });
export const UserName = name(2, 'The name. Spaces at its ends are removed');
export const TaskName = name(3, 'The name. Spaces at its ends are removed');
/** Of a thing that only its owner sees. */
export const OwnName = name(1, 'For its owner. Spaces at its ends are removed');

/** The characters of which a password needs one each. */
export const PASSWORD_CHARACTERS = {
  '\\p{Lu}': 'must contain an upper-case letter',
  '\\p{Ll}': 'must contain a lower-case letter',
  '0-9': 'must contain a digit',
};

/** Matches in linear time, and without lookahead, which not every language has. */
const matchEach = (ranges: readonly string[]): string =>
  ranges.length === 0
    ? ''
    : `[^${ranges.join('')}]*(?:${ranges.map((range) => `[${range}]${matchEach(ranges.filter((other) => other !== range))}`).join('|')})`;

export const Password = Type.String({
  format: 'password',
  minLength: 8,
  maxLength: 128,
  pattern: `^${matchEach(Object.keys(PASSWORD_CHARACTERS))}`,
  description: 'At least 8 characters with an upper-case letter, a lower-case letter and a digit',
});

/** A password to compare: one that cannot exist is wrong, not invalid. */
export const GivenPassword = Type.String({ format: 'password', minLength: 1, maxLength: 1024 });

export const Cursor = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^[A-Za-z0-9_-]+$',
  description: '`pagination.nextCursor` of the previous page',
});
export const Offset = withDefault(Type.Integer({ minimum: 0, maximum: MAX_ID }), 0);

/** How many items a list returns. A larger number counts as `max`, so the schema has no maximum. */
export const pageLimit = (defaultLimit: number, max = 100) =>
  withDefault(
    Type.Integer({
      minimum: 1,
      'x-cap': max,
      description: `The maximum number of entries on a page; more than ${max} counts as ${max}`,
    }),
    defaultLimit,
  );

export const IdParams = Type.Object({ id: Id });

export const LANGUAGES = ['en', 'pt-BR'] as const;

export const Language = stringEnum(LANGUAGES, {
  description: 'The language of pages, mails, messages of channels, alerts and notifications',
});
export type Language = Static<typeof Language>;
