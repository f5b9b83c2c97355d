import t from 'tap';
import { startTestAi, toFailure } from '../../support/ai-client.ts';

type Body = Record<string, unknown>;

/** `named`: the field `param`; `loc` and others are in the error. */
const toError = (message: string, more: object = {}) => ({
  error: { message, type: 'invalid_request_error', ...more },
});

t.test('A refused temperature leads to one more call without it, in any wording', async (t) => {
  for (const error of [
    toError(
      "litellm.UnsupportedParamsError: gpt-5 models (including gpt-5-codex) don't support temperature=0.7. Only temperature=1 is supported. To drop unsupported params set `litellm.drop_params = True`. Received Model Group=gpt-5",
      { type: 'None', param: null, code: '400' },
    ),
    toError("litellm.UnsupportedParamsError: openai does not support parameters: ['temperature'], for model=o1."),
    toError(
      "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value is supported.",
      { param: 'temperature', code: 'unsupported_value' },
    ),
    toError('`temperature` is deprecated for this model.'),
    toError('invalid temperature: only 1 is allowed for this model'),
    toError('The parameter is not allowed.', { param: 'temperature' }),
    toError('Bad value.', { code: 'unsupported_value', param: 'temperature' }),
    toError('`temperature` is set to 0.7. This model does not support it.'),
    toError('Argument not supported on this model: temperature'),
    toError('Unknown name "temperature": Cannot find field.', { status: 'INVALID_ARGUMENT' }),
    toError('temperature must be 1 when thinking is enabled'),
    toError('temperature: range: 0..0.5'),
    toError('Temperature should be less than or equal to 0.5'),
    toError('temperature 参数非法。取值范围是:(0.0,0.5)'),
    {
      object: 'error',
      message:
        "[{'type': 'extra_forbidden', 'loc': ('body', 'temperature'), 'msg': 'Extra inputs are not permitted', 'input': 0.7}]",
      code: 400,
    },
    {
      detail: [
        { type: 'extra_forbidden', loc: ['body', 'temperature'], msg: 'Extra inputs are not permitted', input: 0.7 },
      ],
    },
    { message: "Provider error: temperature isn't supported" },
    toError('Provider returned error', {
      metadata: { raw: '{"error":{"message":"Unsupported parameter: temperature","code":"unsupported_parameter"}}' },
    }),
  ]) {
    for (const [status, onText] of [
      [400, undefined],
      [422, () => {}],
      [500, undefined],
    ] as const) {
      const { server, ask } = await startTestAi(t);
      server.answer(({ body }) => ('temperature' in body ? { status, body: error } : { text: 'Titan' }));
      t.match(await ask({ onText }), { ok: true, text: 'Titan' }, `${status} ${JSON.stringify(error)}`);
      t.equal(server.requests.length, 2);
      t.equal(server.requests[1]?.body.max_tokens, 1024, 'the other parameters stay');
      t.ok((await ask({ onText })).ok);
      t.equal(server.requests.length, 3, 'from then on at once');
    }
    const { server, ask } = await startTestAi(t);
    server.answer(({ body }) => ('temperature' in body ? { body: error } : { text: 'Titan' }));
    const reported = 'error' in error || 'object' in error;
    t.equal((await ask()).ok, reported, 'inside a 200');
  }
});

t.test('A refused max_tokens leads to another name, a lower limit or none', async (t) => {
  for (const [error, accepts, limit] of [
    [
      toError(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      ),
      'max_completion_tokens',
      9000,
    ],
    [toError('max_tokens is not supported', { param: null }), 'max_completion_tokens', 9000],
    [toError('Unrecognized request argument supplied: max_tokens'), 'max_completion_tokens', 9000],
    [
      toError(
        'max_tokens is too large: 9000. This model supports at most 4096 completion tokens, whereas you provided 9000.',
      ),
      'max_tokens',
      4096,
    ],
    [toError('Invalid max_tokens value, the valid range of max_tokens is [1, 8192]'), 'max_tokens', 8192],
    [
      toError(
        '`max_tokens` must be less than or equal to `8,192`, the maximum value for `max_tokens` is less than the `context_window` for this model',
      ),
      'max_tokens',
      8192,
    ],
    [toError('max_tokens: 9000 > 8192, which is the maximum'), 'max_tokens', 8192],
    [
      toError('it has a max_tokens value of 9000 but the supported range is from 1 (inclusive) to 8193 (exclusive).'),
      'max_tokens',
      8192,
    ],
  ] as const) {
    const { server, ask } = await startTestAi(t);
    server.answer(({ body }) => ((body as Body)[accepts] === limit ? { text: 'Titan' } : { status: 400, body: error }));
    t.match(await ask({ maxTokens: 9000 }), { ok: true }, error.error.message);
    t.equal(server.requests.length, 2);
    t.equal(server.requests[1]?.body.temperature, 0.7);
  }
});

t.test('A model that knows neither limit is asked without one, and one whose context is full only then', async (t) => {
  const { server, ask } = await startTestAi(t);
  const find = (body: Body) => ['max_tokens', 'max_completion_tokens'].find((name) => name in body);
  server.answer(({ body }) => {
    const name = find(body as Body);
    return name ? { status: 422, body: toError(`Unknown field: ${name}`) } : {};
  });
  t.ok((await ask({ model: 'a' })).ok);
  t.ok((await ask({ model: 'a' })).ok);
  t.strictSame(
    server.requests.map(({ body }) => find(body as Body)),
    ['max_tokens', 'max_completion_tokens', undefined, undefined],
  );
  const message =
    "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 8192 tokens and your request has 100 input tokens (8192 > 8192 - 100).";
  server.answer(({ body }) =>
    find(body as Body) && body.max_tokens === 8192 ? { status: 400, body: toError(message) } : {},
  );
  t.ok((await ask({ model: 'b', maxTokens: 8192 })).ok);
  t.ok((await ask({ model: 'b', maxTokens: 100 })).ok);
  t.equal(server.requests.at(-1)?.body.max_tokens, 100, 'shorter requests keep their limit');
});

t.test('Both parameters may be refused at once', async (t) => {
  const { server, ask } = await startTestAi(t);
  const error = toError("o1 does not support parameters: ['temperature', 'max_tokens'], for model=o1-mini");
  server.answer(({ body }) => ('temperature' in body || 'max_tokens' in body ? { status: 400, body: error } : {}));
  t.ok((await ask()).ok);
  t.equal(server.requests.length, 2);
});

t.test('An unrelated refusal is not repeated', async (t) => {
  const { server, ask } = await startTestAi(t);
  const prompt = 'Unsupported sensors: what is the temperature in Paris, and what does max_tokens=5 mean?';
  for (const error of [
    toError('The model `test-model` does not exist.'),
    toError("This model's maximum context length is 4096 tokens. However, you requested 5000 tokens."),
    toError('Invalid type for messages.', { param: 'messages' }),
    toError('Unsupported value. Allowed beside it: temperature.', { param: 'messages' }),
    toError(`Unsupported content: ${prompt}`),
    toError('The model gpt-temperature-2 is not supported.'),
    toError('Invalid image. The temperature of the camera is shown.'),
    toError('You must provide a model parameter.'),
    { detail: [{ type: 'missing', loc: ['body', 'max_tokens'], msg: 'Field required' }] },
    toError('', { param: 'top_p' }),
  ]) {
    server.requests.length = 0;
    server.answer(() => ({ status: 400, body: error }));
    t.match(toFailure(await ask({ prompt })).errorCode, /INVALID_REQUEST|UNKNOWN_MODEL/);
    t.equal(server.requests.length, 1, JSON.stringify(error));
  }
  for (const status of [401, 402, 403, 429, 503]) {
    server.requests.length = 0;
    server.answer(() => ({ status, body: toError('temperature is not supported') }));
    t.notOk((await ask()).ok);
    t.equal(server.requests.length, 1, String(status));
  }
});
