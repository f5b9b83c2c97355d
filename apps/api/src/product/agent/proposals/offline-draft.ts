import { DRAFT_FIELD } from './extract-draft.ts';

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const EVERY = new RegExp(`\\b(?:every|each)\\s+(hour|day|weekday|week|month|${DAYS.join('|')})\\b`, 'i');
const AT = /\bat\s+(\d{1,2})(?::(\d{2}))?(?:\s?(am|pm))?\b/i;
const DEFAULT_HOUR = 9;
const MIN_PROMPT = 10;

/** The built-in model understands them: each leads to a proposal. */
const SUGGESTIONS = [
  'Every weekday at 8:00, sum up the news of my field.',
  'Every Friday at 17:00, ask me what I have done this week.',
];

/** What the built-in model adds to its answer, so that proposals and suggestions can be tried without a provider. */
export function writeOfflineEnding(message: string, markerLine: string, proposes: boolean): string {
  const { announcement, draft } = (proposes ? draftTask(message) : null) ?? {};
  return [announcement, markerLine, draft, ...SUGGESTIONS].filter((line) => line !== undefined).join('\n');
}

/** Understands "every" with a day or a period, and a time such as "at 17:00". Null for any other message. */
function draftTask(message: string): { announcement: string; draft: string } | null {
  const [found, period = ''] = EVERY.exec(message) ?? [];
  const prompt = message.trim();
  if (found === undefined || prompt.length < MIN_PROMPT) return null;
  const task = { name: prompt, prompt, recurrencePattern: toPattern(period.toLowerCase(), readTime(message)) };
  return {
    announcement: `It proposes a task with your message as the prompt, because that says “${found}”.`,
    draft: JSON.stringify({ [DRAFT_FIELD]: task }),
  };
}

function readTime(message: string): string {
  const [, hour, minute = '0', half] = AT.exec(message) ?? [];
  const given = hour === undefined ? DEFAULT_HOUR : Number(hour);
  const isAfternoon = half?.toLowerCase() === 'pm';
  const hours = half === undefined ? given : (given % 12) + (isAfternoon ? 12 : 0);
  return hours > 23 || Number(minute) > 59 ? `0 ${DEFAULT_HOUR}` : `${Number(minute)} ${hours}`;
}

function toPattern(period: string, time: string): string {
  switch (period) {
    case 'hour':
      return '0 * * * *';
    case 'day':
      return `${time} * * *`;
    case 'weekday':
      return `${time} * * 1-5`;
    case 'month':
      return `${time} 1 * *`;
    default:
      return `${time} * * ${period === 'week' ? 1 : DAYS.indexOf(period)}`;
  }
}
