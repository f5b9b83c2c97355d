import { type AiOutcome, createAi } from '@carillon/api/lib/ai/client';
import {
  findModel,
  findModelList,
  getApiUrl,
  joinProviders,
  type Provider,
  type Providers,
} from '@carillon/api/lib/ai/providers';
import type { Config } from '@carillon/api/lib/config/config';
import { describeCause, type Finding, findingsFor } from '@carillon/api/product/system/checks/finding';

const { ok, warning, problem } = findingsFor('AI provider');
const MAX_TIMEOUT_MS = 30_000;

/**
 * Sends a small request to `AI_BASE_URL`, and asks the other providers for their models. `model` is the default model of
 * tasks; `known` are the providers with those of the settings, if the database could be read.
 */
export async function checkProviders(
  { ai, production }: Pick<Config, 'ai' | 'production'>,
  model: string,
  known: Providers | null = null,
): Promise<Finding[]> {
  const settings = { ...ai, timeoutMs: Math.min(ai.timeoutMs, MAX_TIMEOUT_MS) };
  const providers = known ?? joinProviders(ai, []);
  if (providers.list.length === 0) {
    const message = 'The built-in model "offline" answers, which knows nothing.';
    const fix = 'Set AI_BASE_URL to a provider, or add one on the page /admin/providers.';
    return [production ? warning(message, fix) : ok(message)];
  }
  const asked = findModel(providers, model);
  const findings: Finding[] = [];
  for (const provider of providers.list) {
    const { source, kind, baseUrl } = provider;
    const isAsked = source === 'environment' && kind === 'openai' && asked?.provider === provider;
    findings.push(
      isAsked ? await checkCompatible(settings, baseUrl, asked.model) : await checkList(provider, settings),
    );
  }
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

async function checkList(provider: Provider, settings: Config['ai']): Promise<Finding> {
  const { name, kind, apiKey, source } = provider;
  const isEnvironment = source === 'environment';
  const apiUrl = getApiUrl(provider);
  const [keyName, urlName] =
    kind === 'anthropic' ? ['ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL'] : ['AI_API_KEY', 'AI_BASE_URL'];
  const page = 'on the page /admin/providers';
  const correctKey = isEnvironment ? `Correct ${keyName}.` : `Save the key of ${name} again ${page}.`;
  const correctUrl = isEnvironment ? `Correct ${urlName}, or unset it.` : `Correct the address of ${name} ${page}.`;
  if (apiKey === 'unreadable') {
    return problem(
      `The key of ${name} cannot be decrypted.`,
      `Add its key to ENCRYPTION_KEY, or save it again ${page}.`,
    );
  }
  if (apiKey && !/^[\x21-\x7e]+$/.test(apiKey.value)) {
    return problem('The key has invalid characters.', correctKey);
  }
  const { origin, path, headers } = findModelList(provider);
  const { status, isJson, error } = await get(origin + path, settings, headers);
  const answers = apiKey ? 'answers and accepts the key' : 'answers';
  if (status === 200 && isJson) return ok(`${apiUrl} ${answers}`);
  if (status === 401 || status === 403) return problem(`${apiUrl} rejects the key (${status}).`, correctKey);
  if (status !== null && status >= 500)
    return problem(`${apiUrl} is unavailable (${status}).`, 'Check the status page of the provider.');
  if (status !== null) {
    if (kind === 'openai') return warning(`${apiUrl} lists no models (${status}).`, correctUrl);
    return problem(`${apiUrl} is not the URL of the Anthropic Messages API (${status}).`, correctUrl);
  }
  return error === 'TimeoutError'
    ? problem(`${apiUrl} does not answer in time.`, 'Check the network, or raise AI_TIMEOUT_MS.')
    : problem(`${apiUrl} cannot be reached: ${error}`, `${correctUrl.replace(/\.$/, '')}, or allow the connection.`);
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
