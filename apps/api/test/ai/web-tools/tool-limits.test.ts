import t from 'tap';
import { getHighestUsage, MAX_TOKENS_PER_USE, splitUses } from '../../../src/lib/ai/web-tools/tool-limits.ts';

t.test('Both tools of Anthropic together are used at most as often as the task allows', async (t) => {
  for (let maxToolUses = 2; maxToolUses <= 20; maxToolUses += 1) {
    const { web_search, web_fetch } = splitUses({ tools: ['web_search', 'web_fetch'], maxToolUses });
    t.equal(web_search + web_fetch, maxToolUses);
    t.ok(web_fetch >= 1 && web_search >= web_fetch, `${web_search} searches, ${web_fetch} fetches`);
    t.equal(splitUses({ tools: ['web_search'], maxToolUses }).web_search, maxToolUses);
    t.equal(splitUses({ tools: ['web_fetch'], maxToolUses }).web_fetch, maxToolUses);
  }
  t.same(splitUses({ tools: ['web_fetch', 'web_search'], maxToolUses: 1 }), { web_search: 1, web_fetch: 1 });
  t.same(splitUses({ tools: ['web_fetch', 'web_search'] }), { web_search: 3, web_fetch: 2 }, 'by default 5');
});

t.test('The highest usage of a call counts the input of each step with all results so far', async (t) => {
  const sent = { inputTokens: 1000, maxTokens: 100 };
  const none = { toolUses: 0, inputTokens: 1000, outputTokens: 100, toolCostUsd: 0 };
  t.same(getHighestUsage(sent), none);
  t.same(getHighestUsage({ ...sent, tools: [], maxToolUses: 20 }), none);
  // Step by step: the texts of 100 tokens and the results are sent again with each further step.
  for (const maxToolUses of [1, 2, 5, 20]) {
    let input = 0;
    for (let step = 0; step <= maxToolUses; step += 1) input += 1000 + step * (MAX_TOKENS_PER_USE + 100);
    t.same(getHighestUsage({ ...sent, tools: ['web_search'], maxToolUses }), {
      toolUses: maxToolUses,
      inputTokens: input,
      outputTokens: (maxToolUses + 1) * 100,
      toolCostUsd: maxToolUses * 0.01,
    });
  }
  t.equal(getHighestUsage({ ...sent, tools: ['web_search', 'web_fetch'], maxToolUses: 1 }).toolUses, 2);
});
