import { Type } from '@sinclair/typebox';

/** For the GET of one resource, with `NOT_MODIFIED` among its responses. */
export const IfNoneMatch = Type.Object({
  'if-none-match': Type.Optional(
    Type.String({ description: 'ETags of representations that the caller has, or `*`: 304 if one is current' }),
  ),
});

/** For a change of one resource, with 412 among its responses. */
export const IfMatch = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      description:
        'The ETag that the change starts from, several, or `*` for any: 412 if the resource has changed since',
    }),
  ),
});

export const NOT_MODIFIED = {
  304: Type.Null({ description: 'The caller has the current representation: see `If-None-Match`' }),
};
