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
import {
  type DoctorTexts,
  describeCause,
  type Finding,
  findingsFor,
} from '@carillon/api/product/system/checks/finding';

const { ok, warning, problem } = findingsFor('AI provider');
const MAX_TIMEOUT_MS = 30_000;

/**
 * Sends a small request to `AI_BASE_URL`, and asks the other providers for their models. `model` is the default model of
 * tasks; `known` are the providers with those of the settings, if the database could be read.
 */
export async function checkProviders(
  { ai, production }: Pick<Config, 'ai' | 'production'>,
  model: string,
  texts: DoctorTexts,
  known: Providers | null = null,
): Promise<Finding[]> {
  const settings = { ...ai, timeoutMs: Math.min(ai.timeoutMs, MAX_TIMEOUT_MS) };
  const providers = known ?? joinProviders(ai, []);
  if (providers.list.length === 0) {
    return [production ? warning(texts.offlineAnswers, texts.setProvider) : ok(texts.offlineAnswers)];
  }
  const asked = findModel(providers, model);
  const findings: Finding[] = [];
  for (const provider of providers.list) {
    const { source, kind, baseUrl } = provider;
    const isAsked = source === 'environment' && kind === 'openai' && asked?.provider === provider;
    findings.push(
      isAsked
        ? await checkCompatible(settings, baseUrl, asked.model, texts)
        : await checkList(provider, settings, texts),
    );
  }
  return findings;
}

async function checkCompatible(
  settings: Config['ai'],
  baseUrl: string,
  model: string,
  texts: DoctorTexts,
): Promise<Finding> {
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
    if (outcome.ok) return ok(texts.modelAnswers(baseUrl, model, outcome.durationMs));
    return await explainFailure(outcome, settings, baseUrl, model, texts);
  } finally {
    await ai.close();
  }
}

async function explainFailure(
  { errorCode, message }: AiOutcome & { ok: false },
  settings: Config['ai'],
  baseUrl: string,
  model: string,
  texts: DoctorTexts,
): Promise<Finding> {
  switch (errorCode) {
    case 'AUTHENTICATION_FAILED':
      return problem(texts.keyRejected(message), texts.correct('AI_API_KEY'));
    case 'TIMEOUT':
      return problem(texts.noAnswerInTime(baseUrl, message), texts.raiseAiTimeout);
    case 'QUOTA_EXCEEDED':
      return problem(message, texts.addCredit);
    case 'RATE_LIMIT_EXCEEDED':
      return warning(message, texts.askForLimit);
    case 'PROVIDER_UNAVAILABLE':
      if (/could not be reached/.test(message)) {
        return problem(texts.unreachable(baseUrl, message), texts.correctAiAddress);
      }
      // A 200 of something else than a provider, such as a web page.
      if (!/could not be used/.test(message)) return problem(message, texts.checkStatusPage);
  }
  const models = await get(
    `${baseUrl}/models`,
    settings,
    settings.apiKey ? { authorization: `Bearer ${settings.apiKey}` } : {},
  );
  if (models.status === 200 && models.isJson) {
    return problem(texts.modelDoesNotAnswer(baseUrl, model, message), texts.setDefaultModel);
  }
  return problem(texts.notCompatible(baseUrl, message), texts.setAiAddress);
}

async function checkList(provider: Provider, settings: Config['ai'], texts: DoctorTexts): Promise<Finding> {
  const { name, kind, apiKey, source } = provider;
  const isEnvironment = source === 'environment';
  const apiUrl = getApiUrl(provider);
  const [keyName, urlName] =
    kind === 'anthropic'
      ? (['ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL'] as const)
      : (['AI_API_KEY', 'AI_BASE_URL'] as const);
  const correctKey = isEnvironment ? texts.correct(keyName) : texts.saveKeyAgain(name);
  const correctUrl = isEnvironment ? texts.correctOrUnset(urlName) : texts.correctProviderAddress(name);
  if (apiKey === 'unreadable') {
    return problem(texts.providerKeyUnreadable(name), texts.addKeyOrSave);
  }
  if (apiKey && !/^[\x21-\x7e]+$/.test(apiKey.value)) {
    return problem(texts.keyInvalid, correctKey);
  }
  const { origin, path, headers } = findModelList(provider);
  const { status, isJson, error } = await get(origin + path, settings, headers);
  if (status === 200 && isJson) return ok(apiKey ? texts.acceptsKey(apiUrl) : texts.answers(apiUrl));
  if (status === 401 || status === 403) return problem(texts.rejectsKey(apiUrl, status), correctKey);
  if (status !== null && status >= 500) return problem(texts.unavailable(apiUrl, status), texts.checkStatusPage);
  if (status !== null) {
    if (kind === 'openai') return warning(texts.listsNoModels(apiUrl, status), correctUrl);
    return problem(texts.notAnthropic(apiUrl, status), correctUrl);
  }
  if (error === 'TimeoutError') return problem(texts.providerSilent(apiUrl), texts.raiseAiTimeout);
  const fix = isEnvironment ? texts.correctOrAllow(urlName) : texts.correctProviderOrAllow(name);
  return problem(texts.unreachable(apiUrl, String(error)), fix);
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
