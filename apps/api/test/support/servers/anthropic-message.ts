type Block = Record<string, unknown> & { type: string };

/** A message of Anthropic's API, from which a server makes an answer in one piece or a stream. */
export interface AnthropicMessage {
  content: Block[];
  stop_reason?: string;
  usage?: object;
}

const USAGE = { input_tokens: 1000, output_tokens: 100 };

export const searchFor = (query: string, id = 'srvtoolu_1'): Block => ({
  type: 'server_tool_use',
  id,
  name: 'web_search',
  input: { query },
});

export const searchResult = (content: unknown, id = 'srvtoolu_1'): Block => ({
  type: 'web_search_tool_result',
  tool_use_id: id,
  content,
});

export const foundPage = (url: string, title: string) => ({
  type: 'web_search_result',
  url,
  title,
  encrypted_content: 'EqgfCioIARgBIiQ3YTAwMjY1',
  page_age: 'April 30, 2026',
});

export const fetchPage = (url: string, id = 'srvtoolu_2'): Block => ({
  type: 'server_tool_use',
  id,
  name: 'web_fetch',
  input: { url },
});

export const fetchedPage = (url: string, title: string | null, id = 'srvtoolu_2'): Block => ({
  type: 'web_fetch_tool_result',
  tool_use_id: id,
  content: {
    type: 'web_fetch_result',
    url,
    content: {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'Full text.' },
      title,
      citations: { enabled: true },
    },
    retrieved_at: '2026-11-23T10:30:00Z',
  },
});

export const citedText = (text: string, ...citations: object[]): Block => ({ type: 'text', text, citations });

export const citeResult = (url: unknown, title: unknown) => ({
  type: 'web_search_result_location',
  url,
  title,
  encrypted_index: 'Eo8BCioIAhgBIiQyYjQ0OWJm',
  cited_text: 'Titan is the largest moon',
});

export const citePage = (index: number, title: string | null) => ({
  type: 'char_location',
  document_index: index,
  document_title: title,
  start_char_index: 0,
  end_char_index: 10,
  cited_text: 'Full text.',
});

export const buildAnswer = (
  model: unknown,
  { content, stop_reason = 'end_turn', usage = USAGE }: AnthropicMessage,
) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: `${model}-20250929`,
  content,
  stop_reason,
  stop_sequence: null,
  usage,
});

/** The events of a message as the API streams them. */
export function buildEvents(model: unknown, message: AnthropicMessage): object[] {
  const answer = buildAnswer(model, message);
  const { stop_reason, usage } = answer;
  return [
    {
      type: 'message_start',
      message: { ...answer, content: [], stop_reason: null, usage: { ...USAGE, output_tokens: 1 } },
    },
    { type: 'ping' },
    ...message.content.flatMap(buildBlockEvents),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
}

function buildBlockEvents(block: Block, index: number): object[] {
  const { start, deltas } = splitBlock(block);
  return [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

const halves = (text: string) => [text.slice(0, text.length / 2), text.slice(text.length / 2)];

function splitBlock(block: Block): { start: Block; deltas: object[] } {
  if (block.type === 'text') {
    const { text, citations, ...start } = block;
    const cited = Array.isArray(citations) ? citations.map((citation) => ({ type: 'citations_delta', citation })) : [];
    return {
      start: { ...start, text: '', ...(citations ? { citations: [] } : {}) },
      deltas: [...cited, ...halves(String(text)).map((half) => ({ type: 'text_delta', text: half }))],
    };
  }
  if (block.type === 'thinking') {
    const { thinking, signature } = block;
    const pieces = halves(String(thinking)).map((half) => ({ type: 'thinking_delta', thinking: half }));
    return {
      start: { ...block, thinking: '', signature: '' },
      deltas: [...pieces, { type: 'signature_delta', signature }],
    };
  }
  if (block.type === 'server_tool_use') {
    const pieces = ['', ...halves(JSON.stringify(block.input))];
    return {
      start: { ...block, input: {} },
      deltas: pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    };
  }
  return { start: block, deltas: [] };
}
