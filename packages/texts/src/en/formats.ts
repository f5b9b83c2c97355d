import { createFormats } from '../formats.ts';

export const formats = createFormats('en', {
  dayAtTime: (day, time) => `${day} at ${time}`,
  onDay: (day) => `on ${day}`,
  underAMinute: 'in under a minute',
  justNow: 'just now',
});
