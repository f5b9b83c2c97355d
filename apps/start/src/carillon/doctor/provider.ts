import { type AiOutcome, createAi } from '@carillon/api/lib/ai/client';
import { createProviders } from '@carillon/api/lib/ai/providers';
import type { Config } from '@carillon/api/lib/config/config';
import { describeCause, type Finding, findingsFor } from './finding.ts';

const { ok, warning, problem } = findingsFor('AI provider');
const MAX_TIMEOUT_MS = 30_000;
const ANTHROPIC_VERSION = '2023-06-01';

/** Sends a small request to each configured provider. `model` is the default model of tasks. */
export async function checkProvider(
  { ai, production }: Pick<Config, 'ai' | 'production'>,
  model: string,
): Promise<Finding[]> {
  const timeoutMs = Math.min(ai.timeoutMs, MAX_TIMEOUT_MS);
  const settings = { ...ai, timeoutMs };
  const { baseUrl, anthropicApiKey } = ai;
  const findings: Finding[] = [];
  if (baseUrl === 'offline' || (baseUrl === null && anthropicApiKey === null)) {
    const message = 'The built-in model "offline" answers, which knows nothing.';
    findings.push(production ? warning(message, 'Set AI_BASE_URL to a provider.') : ok(message));
  } else if (baseUrl !== null) findings.push(await checkCompatible(settings, baseUrl, model));
  if (anthropicApiKey !== null) findings.push(await checkAnthropic(settings));
  return findings;
}

async function checkCompatible(settings: Config['ai'], baseUrl: string, model: string): Promise<Finding> {
  // Without the Anthropic key, anthropic/… models are also sent to this provider.
  const ai = createAi({ ...settings, anthropicApiKey: null });
  try {
    const prompt = 'Answer with the word ok.';
    const outcome = await ai.ask({
      model,
      prompt,
      maxTokens: 16,
      temperature: 70,
      signal: new AbortController().signal,
    });
    if (outcome.ok) return ok(`${baseUrl} answers as ${model} within ${outcome.durationMs} ms`);
    return await explainFailure(outcome, settings, baseUrl, model);
  } finally {
    await ai.close();
  }
}

async function explainFailure(
  { errorCode, message }: AiOutcome & { ok: false },
  settings: Config['ai'],
  baseUrl: string,
  model: string,
): Promise<Finding> {
  switch (errorCode) {
    case 'AUTHENTICATION_FAILED':
      return problem(`The key is rejected: ${message}`, 'Correct AI_API_KEY.');
    case 'TIMEOUT':
      return problem(`${baseUrl} does not answer in time: ${message}`, 'Check the network, or raise AI_TIMEOUT_MS.');
    case 'QUOTA_EXCEEDED':
      return problem(message, 'Add credit to the account at the provider.');
    case 'RATE_LIMIT_EXCEEDED':
      return warning(message, 'If this happens often, ask the provider for a higher limit.');
    case 'PROVIDER_UNAVAILABLE':
      if (/could not be reached/.test(message)) {
        return problem(`${baseUrl} cannot be reached: ${message}`, 'Correct AI_BASE_URL, or allow the connection.');
      }
      // A 200 of something else than a provider, such as a web page.
      if (!/could not be used/.test(message)) return problem(message, 'Check the status page of the provider.');
  }
  const models = await get(
    `${baseUrl}/models`,
    settings,
    settings.apiKey ? { authorization: `Bearer ${settings.apiKey}` } : {},
  );
  if (models.status === 200 && models.isJson) {
    return problem(
      `${baseUrl} does not answer as ${model}, the default model of tasks: ${message}`,
      'Set defaultModel in the system settings to a model that this provider has.',
    );
  }
  return problem(
    `${baseUrl} is not the URL of an OpenAI-compatible service: ${message}`,
    'Set AI_BASE_URL to the URL without /chat/completions; it often ends with /v1.',
  );
}

async function checkAnthropic(settings: Config['ai']): Promise<Finding> {
  const route = createProviders(settings).find('anthropic/any', null);
  if (route.kind !== 'provider') return problem('The key has invalid characters.', 'Correct ANTHROPIC_API_KEY.');
  const { apiUrl, key } = route;
  const { status, isJson, error } = await get(`${apiUrl}/models?limit=1`, settings, {
    'x-api-key': key,
    'anthropic-version': ANTHROPIC_VERSION,
  });
  if (status === 200 && isJson) return ok(`${apiUrl} answers and accepts the key`);
  if (status === 401 || status === 403)
    return problem(`${apiUrl} rejects the key (${status}).`, 'Correct ANTHROPIC_API_KEY.');
  if (status !== null && status >= 500)
    return problem(`${apiUrl} is unavailable (${status}).`, 'Check the status page of the provider.');
  if (status !== null) {
    return problem(
      `${apiUrl} is not the URL of the Anthropic Messages API (${status}).`,
      'Correct ANTHROPIC_BASE_URL, or unset it.',
    );
  }
  return error === 'TimeoutError'
    ? problem(`${apiUrl} does not answer in time.`, 'Check the network, or raise AI_TIMEOUT_MS.')
    : problem(`${apiUrl} cannot be reached: ${error}`, 'Correct ANTHROPIC_BASE_URL, or allow the connection.');
}

async function get(url: string, { timeoutMs }: Config['ai'], headers: Record<string, string>) {
  try {
    const response = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    const isJson = await response.json().then(
      () => true,
      () => false,
    );
    return { status: response.status, isJson, error: null };
  } catch (error) {
    const isTimeout = (error as Error).name === 'TimeoutError';
    return { status: null, isJson: false, error: isTimeout ? 'TimeoutError' : describeCause(error) };
  }
}
