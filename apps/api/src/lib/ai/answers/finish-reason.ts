export type FinishReason = 'stop' | 'length' | 'content_filter' | 'error';

const MEANINGS: [words: RegExp, reason: FinishReason][] = [
  [
    /content[_ -]?filter|safety|recitation|block|prohibited|spii|refus|moderat|guardrail|policy|sensitive|toxic/i,
    'content_filter',
  ],
  [
    /length|max[_ -]?(?:\w+[_ -])?tokens?|maxtokens|tokens?[_ -]?limit|context[_ -]?window|error[_ -]limit|truncated/i,
    'length',
  ],
  [/error|abort|cancel|fail|time[_ -]?out|insufficient|unavailable|malformed/i, 'error'],
];

/** What the reason of a provider means, whatever its spelling. An unknown one is a complete answer. */
export const readFinishReason = (reason: string): FinishReason =>
  MEANINGS.find(([words]) => words.test(reason))?.[1] ?? 'stop';
