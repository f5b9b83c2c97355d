import { type Static, type TSchema, Type } from '@sinclair/typebox';

/** The words that the other schemas are made of. Text lengths count code points (decisions §4). */

/** One of a closed set of words. */
export const words = <const W extends readonly string[]>(list: W, options: { description?: string } = {}) =>
  Type.Unsafe<W[number]>({ type: 'string', enum: [...list], ...options });

/** `schema` or null, said as a list of types, which both OpenAPI 3.1 and the response serializer keep. */
export const nullable = <T extends TSchema>(schema: T) =>
  typeof schema.type === 'string'
    ? Type.Unsafe<Static<T> | null>({
        ...schema,
        type: [schema.type, 'null'],
        ...(schema.enum ? { enum: [...schema.enum, null] } : {}),
      })
    : Type.Unsafe<Static<T> | null>({ anyOf: [schema, { type: 'null' }] });

/** A query parameter that may be left out: callers may omit it, handlers always find it. */
export const withDefault = <T extends TSchema>(schema: T, value: Static<T>): T =>
  Type.Optional({ ...schema, default: value }) as unknown as T;

/** A reference to a schema that the application registers under its `$id`. */
export const ref = <T extends TSchema>(schema: T, description?: string) =>
  Type.Unsafe<Static<T>>({ $ref: `${schema.$id}#`, ...(description ? { description } : {}) });

/** An object that refuses fields it does not name. */
export const strict = <P extends Record<string, TSchema>>(properties: P, options: { description?: string } = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options });

export const LARGEST_ID = 2_147_483_647;
export const Id = Type.Integer({ minimum: 1, maximum: LARGEST_ID });
export const Uuid = Type.String({ format: 'uuid' });

/** An instant that leaves: a `Date`, written in UTC with milliseconds. */
export const Instant = Type.Unsafe<Date | string>({ type: 'string', format: 'date-time' });
/** An instant that comes in: ISO 8601 with `Z` or an offset. */
export const InstantText = Type.String({ format: 'date-time', description: 'ISO 8601 with Z or an offset' });
/** The edge of a period: a day (`2026-11-20`) or an instant. */
export const DayOrInstantText = Type.String({
  format: 'date-or-date-time',
  description: 'A day (2026-11-20) or an ISO 8601 date-time with Z or an offset',
});

export const TimeZone = Type.String({ format: 'time-zone', description: 'IANA time zone name' });
export const Email = Type.String({ format: 'email', maxLength: 254 });
export const HttpUrl = Type.String({ format: 'http-url', maxLength: 2048 });
export const UserName = Type.String({ minLength: 2, maxLength: 100, pattern: '\\S' });
export const TaskName = Type.String({ minLength: 3, maxLength: 100, pattern: '\\S' });

/** Specification "Input limits": at least 8 characters with upper case, lower case and digit; at most 128 (decisions §3). */
export const Password = Type.Unsafe<string>({
  type: 'string',
  minLength: 8,
  maxLength: 128,
  allOf: [{ pattern: '\\p{Lu}' }, { pattern: '\\p{Ll}' }, { pattern: '[0-9]' }],
  description: 'At least 8 characters with an upper-case letter, a lower-case letter and a digit',
});

export const Cursor = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^[A-Za-z0-9_-]+$',
  description: '`pagination.nextCursor` of the page before',
});
export const Offset = withDefault(Type.Integer({ minimum: 0, maximum: LARGEST_ID }), 0);
export const pageSize = (preset: number) => withDefault(Type.Integer({ minimum: 1, maximum: 100 }), preset);

/** The path parameter of everything that has an integer id. */
export const IdParams = Type.Object({ id: Id });
