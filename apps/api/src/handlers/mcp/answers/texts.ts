import { createMarker, fenceText } from '../../../lib/ai/request.ts';
import { cleanLine, cleanText, cutText, takeCharacters } from '../../../product/deliveries/messages/format/text.ts';

const MAX_LINE = 200;
/** Of a prompt or a result. */
export const MAX_TEXT = 20_000;

/** A text of a user, a model or another service as a JSON string in one line. */
export const quote = (text: string) =>
  JSON.stringify(cutText(cleanLine(takeCharacters(text, 10 * MAX_LINE)), MAX_LINE));

/** Data with such texts as JSON in one line. */
export const quoteData = (data: unknown) => cleanLine(JSON.stringify(data));

/** The beginning of a long text, and whether it is not all of it. */
export function shorten(text: string): { text: string; isCut: boolean } {
  return { text: takeCharacters(text, MAX_TEXT), isCut: text.length > MAX_TEXT };
}

/** Encloses a long text between lines that its author cannot write. */
export function fence(title: string, text: string, page: string): string {
  const { text: start, isCut } = shorten(text);
  const fenced = fenceText(title, cleanText(start), createMarker());
  return isCut ? `${fenced}\nThese are its first ${MAX_TEXT} characters. All of it is at ${page}` : fenced;
}
