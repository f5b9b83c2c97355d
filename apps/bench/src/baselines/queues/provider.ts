import { Pool } from 'undici';

export interface Completion {
  text: string;
  model: string;
  inputTokens: number;
  outputTokens: number;
}

/** A chat completions client with one connection for each concurrent call. */
export function createProvider(concurrency: number) {
  const { AI_URL = '' } = process.env;
  const { origin, pathname } = new URL(`${AI_URL}/chat/completions`);
  const pool = new Pool(origin, { connections: concurrency });
  return {
    async ask(prompt: string): Promise<Completion> {
      const { statusCode, body } = await pool.request({
        path: pathname,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'openai/gpt-5-mini',
          messages: [{ role: 'user', content: prompt }],
          max_tokens: 256,
          temperature: 0.7,
        }),
      });
      if (statusCode !== 200) throw new Error(`The AI server answered ${statusCode}.`);
      const { model, choices, usage } = (await body.json()) as {
        model: string;
        choices: { message: { content: string } }[];
        usage: { prompt_tokens: number; completion_tokens: number };
      };
      const text = choices[0]?.message.content ?? '';
      return { text, model, inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens };
    },
  };
}
