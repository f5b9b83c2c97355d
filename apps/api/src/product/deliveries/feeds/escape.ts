const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** For text and attributes, of HTML and of XML. */
export const escapeMarkup = (text: string): string => text.replace(/[&<>"']/g, (one) => ENTITIES[one] as string);

/** Control characters, halves of characters and the two others that XML 1.0 has no spelling for. */
const IMPOSSIBLE = /[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** For text and attributes of XML, whatever the text is. */
export const escapeXml = (text: string): string => escapeMarkup(text.replace(IMPOSSIBLE, '\ufffd'));
