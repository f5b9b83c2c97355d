import { type Static, Type } from '@sinclair/typebox';
import { success } from '../envelopes.ts';
import { errorResponses, type Operation, SIGNED_IN } from '../operation.ts';
import { HttpUrl, nullable, strictObject, stringEnum } from '../primitives.ts';

/** Of a source, and of a secret. */
export const SOURCE_NAME = '^[a-z][a-z0-9_]{0,31}$';

export const Source = strictObject({
  name: Type.String({
    pattern: SOURCE_NAME,
    description: 'Unique in the task. `{{source.<name>}}` in the prompt is the text of the source',
  }),
  url: Type.Optional({
    ...HttpUrl,
    description: 'The address of a page, a feed, JSON or a text. Either this or `search`',
  }),
  select: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      pattern: '\\S',
      description:
        'The part of `url` to read: a JSON Pointer such as `/items/0/price` for JSON, otherwise a CSS selector such as `#price` for HTML. Without it: the readable text of HTML, the new entries of a feed, JSON and text as they are',
    }),
  ),
  secret: Type.Optional(
    Type.String({
      pattern: SOURCE_NAME,
      description: 'The name of a secret of the account, which is sent to the host of `url` as a header',
    }),
  ),
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: '\\S',
      description: "Words to search the web for with the operator's search engine: the source is the first ten results",
    }),
  ),
});
export type Source = Static<typeof Source>;

export const Sources = Type.Array(Source, {
  maxItems: 5,
  description:
    'What Carillon reads before each run, so that the model has fresh facts without tools: pages, feeds, JSON, texts and searches of the web. Sources that the prompt does not name follow it',
});

export const RUN_IF = ['always', 'changed'] as const;
export const RunIf = stringEnum(RUN_IF, {
  description:
    '`changed`: a planned run is left out, without a call to the model, if all sources are as at the last completed run. Runs on demand and retries always run. Needs a source',
});
export type RunIf = Static<typeof RunIf>;

export const PreviewSourcesInput = strictObject({ sources: { ...Sources, minItems: 1 } });
export type PreviewSourcesInput = Static<typeof PreviewSourcesInput>;

export const previewSources = {
  tags: ['tasks'],
  security: SIGNED_IN,
  operationId: 'previewSources',
  summary: 'Preview sources',
  description:
    'Reads the sources now and stores nothing. Returns what the model would be given, each text cut to 4,000 characters. Allowed 10 times a minute.',
  body: PreviewSourcesInput,
  response: {
    200: Type.Object({
      success,
      sources: Type.Array(
        Type.Object({
          name: Type.String(),
          ok: Type.Boolean({ description: 'Whether the source was read' }),
          contentType: nullable(
            Type.String({ description: 'Without parameters; empty if the source does not say it' }),
          ),
          title: nullable(Type.String({ description: 'The title of a page or feed; null without one' })),
          text: nullable(Type.String({ description: 'What the model would be given, cut to 4,000 characters' })),
          bytes: nullable(Type.Integer({ description: 'The size of the source, unpacked' })),
          message: nullable(Type.String({ description: 'Why the source was not read' })),
        }),
        { description: 'In the order of the request' },
      ),
    }),
    ...errorResponses(401, 403, 429),
  },
} satisfies Operation;
