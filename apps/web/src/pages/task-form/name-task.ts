import type { Texts } from '@carillon/texts';

const NAME_LENGTH = 60;

/** The first words of the prompt, with an ellipsis if more of its first line follow. */
export function nameTask(prompt: string, { taskForm }: Texts): string {
  const [line = ''] = prompt.trim().split('\n', 1);
  const whole = line.trim().replace(/\s+/gu, ' ');
  const isCut = [...whole].length > NAME_LENGTH;
  const name = trimEnd(isCut ? cut(whole) : whole);
  if ([...name].length < 3) return taskForm.unnamed(name);
  return isCut ? `${name}…` : name;
}

const trimEnd = (text: string) => text.replace(/[\s,;:.!?…]+$/u, '');

/** Whole words; of one long word its beginning. */
function cut(text: string): string {
  const beginning = [...text].slice(0, NAME_LENGTH).join('');
  const end = beginning.lastIndexOf(' ');
  return end > 0 ? beginning.slice(0, end) : [...text].slice(0, NAME_LENGTH - 1).join('');
}
