/**
 * A `fetch` for chat completions that makes a stream of one event out of an answer that came in one piece although a
 * stream was asked for: some services know no streams, and say so only by what they answer.
 */
export function streaming(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    // In JSON these bytes can be nothing but that field.
    const wanted = typeof init?.body === 'string' && init.body.includes('"stream":true');
    if (!wanted || !/^application\/json\b/i.test(response.headers.get('content-type') ?? '')) return response;
    const { headers } = response;
    return new Response(`data: ${eventOf(await response.text())}\n\ndata: [DONE]\n\n`, { headers });
  };
}

interface Completion {
  choices?: { message?: unknown }[];
}

/** The one event of a completion: an event of a stream has a `delta` where a completion has its `message`. */
function eventOf(text: string): string {
  let completion: Completion | null;
  try {
    completion = JSON.parse(text);
  } catch {
    return text.replaceAll(/[\r\n]+/g, ' ');
  }
  if (!Array.isArray(completion?.choices)) return JSON.stringify(completion);
  const choices = completion.choices.map((choice) => ({ index: 0, ...choice, delta: choice?.message }));
  return JSON.stringify({ ...completion, choices });
}
