import { type AiOutcome, createAi } from '@carillon/api/ai/client';
import { createProviders } from '@carillon/api/ai/providers';
import type { Config } from '@carillon/api/config/config';
import { type Finding, findingsOf, messageOf } from './finding.ts';

const { ok, warning, fault } = findingsOf('AI provider');
const LONGEST_MS = 30_000;
const ANTHROPIC_VERSION = '2023-06-01';

/** Asks the providers that are configured for next to nothing. `model` is the one of tasks that name none. */
export async function examineProvider(
  { ai, production }: Pick<Config, 'ai' | 'production'>,
  model: string,
): Promise<Finding[]> {
  const timeoutMs = Math.min(ai.timeoutMs, LONGEST_MS);
  const settings = { ...ai, timeoutMs };
  const { baseUrl, anthropicApiKey } = ai;
  const findings: Finding[] = [];
  if (baseUrl === 'offline' || (baseUrl === null && anthropicApiKey === null)) {
    const says = 'The built-in model "offline" answers, which knows nothing.';
    findings.push(production ? warning(says, 'Set AI_BASE_URL to a provider.') : ok(says));
  } else if (baseUrl !== null) findings.push(await examineCompatible(settings, baseUrl, model));
  if (anthropicApiKey !== null) findings.push(await examineAnthropic(settings));
  return findings;
}

async function examineCompatible(settings: Config['ai'], baseUrl: string, model: string): Promise<Finding> {
  // What is named anthropic/… would go to Anthropic itself where its key is set.
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
    return await explain(outcome, settings, baseUrl, model);
  } finally {
    await ai.close();
  }
}

async function explain(
  { errorCode, message }: AiOutcome & { ok: false },
  settings: Config['ai'],
  baseUrl: string,
  model: string,
): Promise<Finding> {
  switch (errorCode) {
    case 'AUTHENTICATION_FAILED':
      return fault(`The key is refused: ${message}`, 'Correct AI_API_KEY.');
    case 'TIMEOUT':
      return fault(`${baseUrl} does not answer in time: ${message}`, 'Look at the network, or raise AI_TIMEOUT_MS.');
    case 'QUOTA_EXCEEDED':
      return fault(message, 'Add credit to the account of the provider.');
    case 'RATE_LIMIT_EXCEEDED':
      return warning(message, 'Ask the provider for a higher limit where that is often so.');
    case 'PROVIDER_UNAVAILABLE':
      return /could not be reached/.test(message)
        ? fault(`${baseUrl} cannot be reached: ${message}`, 'Correct AI_BASE_URL, or open the way to it.')
        : fault(message, 'Look at what the provider says of its state.');
  }
  const models = await get(
    `${baseUrl}/models`,
    settings,
    settings.apiKey ? { authorization: `Bearer ${settings.apiKey}` } : {},
  );
  if (models.status === 200 && models.isJson) {
    return fault(
      `${baseUrl} does not answer as ${model}, which tasks without a model of their own use: ${message}`,
      'Set defaultModel in the system settings to a model that this provider has.',
    );
  }
  return fault(
    `${baseUrl} is not the address of an OpenAI-compatible service: ${message}`,
    'Set AI_BASE_URL to the address that ends before /chat/completions, often with /v1.',
  );
}

async function examineAnthropic(settings: Config['ai']): Promise<Finding> {
  const route = createProviders(settings).find('anthropic/any', null);
  if (route.kind !== 'provider') return fault('The key has characters that no key has.', 'Correct ANTHROPIC_API_KEY.');
  const { apiUrl, key } = route;
  const { status, isJson, error } = await get(`${apiUrl}/models?limit=1`, settings, {
    'x-api-key': key,
    'anthropic-version': ANTHROPIC_VERSION,
  });
  if (status === 200 && isJson) return ok(`${apiUrl} answers and takes the key`);
  if (status === 401 || status === 403)
    return fault(`${apiUrl} refuses the key (${status}).`, 'Correct ANTHROPIC_API_KEY.');
  if (status !== null && status >= 500)
    return fault(`${apiUrl} is unavailable (${status}).`, 'Look at what the provider says of its state.');
  if (status !== null) {
    return fault(
      `${apiUrl} is not the address of the Anthropic Messages API (${status}).`,
      'Correct ANTHROPIC_BASE_URL, or unset it.',
    );
  }
  return error === 'TimeoutError'
    ? fault(`${apiUrl} does not answer in time.`, 'Look at the network, or raise AI_TIMEOUT_MS.')
    : fault(`${apiUrl} cannot be reached: ${error}`, 'Correct ANTHROPIC_BASE_URL, or open the way to it.');
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
    const isLate = (error as Error).name === 'TimeoutError';
    return { status: null, isJson: false, error: isLate ? 'TimeoutError' : messageOf(error) };
  }
}
