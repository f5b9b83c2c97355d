import t from 'tap';
import { joinProviders } from '../../../src/lib/ai/providers.ts';
import { describeWebTools } from '../../../src/lib/ai/web-tools/find-web-tools.ts';
import type { Config } from '../../../src/lib/config/config.ts';
import { NO_PROVIDER } from '../../support/ai-client.ts';

const ALL = ['web_search', 'web_fetch'];
const claude = 'anthropic/claude-sonnet-4-5';
const findTools = (settings: Config['ai'], model: string) =>
  describeWebTools(settings, joinProviders(settings, []), model);
const anthropic = { anthropicApiKey: 'anthropic-key-1' };

t.test("A model has web tools if Anthropic's API or OpenRouter serves it", async (t) => {
  for (const [settings, model, tools] of [
    [{}, claude, []],
    [{ baseUrl: 'offline' }, 'm', []],
    [{ baseUrl: 'https://openrouter.ai/api/v1' }, 'm', ALL],
    [{ baseUrl: 'https://OpenRouter.ai:443/api/v1' }, 'm', ALL],
    [{ baseUrl: 'https://us.openrouter.ai/api/v1' }, 'm', ['web_search']],
    [{ baseUrl: 'https://eu.openrouter.ai/api/v1' }, 'm', []],
    [{ baseUrl: 'https://constructor/api/v1' }, 'm', []],
    [{ baseUrl: 'https://openrouter.ai/api/v1' }, claude, ALL],
    [{ baseUrl: 'https://api.openai.com/v1' }, 'm', []],
    [{ baseUrl: 'https://openrouter.ai.example.com/v1' }, 'm', []],
    [{ baseUrl: 'https://notopenrouter.ai/v1' }, 'm', []],
    [{ baseUrl: 'https://example.com/openrouter.ai' }, 'm', []],
    [{ baseUrl: 'https://user:openrouter.ai@example.com/v1' }, 'm', []],
    [anthropic, claude, ALL],
    [{ ...anthropic, anthropicBaseUrl: 'http://127.0.0.1:9' }, claude, ALL],
    [anthropic, 'gpt-4o-mini', []],
    [{ ...anthropic, baseUrl: 'https://api.openai.com/v1' }, 'gpt-4o-mini', []],
    [{ ...anthropic, baseUrl: 'offline' }, 'gpt-4o-mini', []],
  ] as const) {
    t.same(findTools({ ...NO_PROVIDER, ...settings }, model).tools, tools, JSON.stringify([settings, model]));
  }
});

t.test('AI_WEB_TOOLS names a proxy in front of OpenRouter, or switches the tools off everywhere', async (t) => {
  const proxy = { ...NO_PROVIDER, ...anthropic, baseUrl: 'http://127.0.0.1:4000/v1' };
  t.same(findTools({ ...proxy, webTools: 'openrouter' }, 'm').tools, ALL);
  t.same(findTools({ ...NO_PROVIDER, baseUrl: 'offline', webTools: 'openrouter' }, 'm').tools, []);
  t.same(
    findTools({ ...NO_PROVIDER, ...anthropic, webTools: 'openrouter' }, 'm').tools,
    [],
    'no service takes this model',
  );
  for (const model of ['m', claude]) t.same(findTools({ ...proxy, webTools: 'none' }, model).tools, []);
  t.same(findTools({ ...proxy, baseUrl: 'https://openrouter.ai/api/v1', webTools: 'none' }, 'm').tools, []);
});

t.test('A model without web tools has a reason', async (t) => {
  for (const [settings, model, absent] of [
    [{ baseUrl: 'https://openrouter.ai/api/v1' }, 'm', null],
    [{ baseUrl: 'https://api.openai.com/v1' }, 'm', 'provider'],
    [anthropic, 'gpt-4o-mini', 'provider'],
    [{}, 'm', 'offline'],
    [{ baseUrl: 'offline' }, claude, 'offline'],
    [{ baseUrl: 'offline', webTools: 'none' }, 'm', 'off'],
    [{ ...anthropic, webTools: 'none' }, claude, 'off'],
  ] as const) {
    const tools = absent === null ? ALL : [];
    t.same(findTools({ ...NO_PROVIDER, ...settings }, model), { tools, absent }, JSON.stringify([settings, model]));
  }
});
