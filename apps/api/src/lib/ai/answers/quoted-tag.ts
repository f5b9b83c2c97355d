const ANY_OPENING = /<(?:\w{1,20}:)?(?:think(?:ing)?|thoughts?|reasoning)\b|\[THINK\]|◁think▷/i;
const FENCE = /^ {0,3}(?:```|~~~)/gm;
const QUOTING_BEFORE = /(?:(?:^|[\s(:,=[{])["'“‘«„]|[([{|]|(?:^|\n)[ \t]*(?:[-*+|]|\d+[.)])[ \t]+)$/;
const SENTENCE_BEFORE = /[^\s.!?…:;)\]}"'”’*_][ \t]+$/;
const SENTENCE_AFTER = /^(?:[ \t]+[\p{Ll}|]|[ \t]*[,;.:)"'”’»|])/u;

/** Whether a text writes about a closing tag rather than with it. */
export function isQuoted(before: string, after: string): boolean {
  const line = before.slice(before.lastIndexOf('\n') + 1);
  if ((before.match(FENCE)?.length ?? 0) % 2 === 1 || line.split('`').length % 2 === 0) return true;
  if (ANY_OPENING.test(before)) return true;
  const near = before.slice(-50);
  return QUOTING_BEFORE.test(near) || (SENTENCE_BEFORE.test(near) && SENTENCE_AFTER.test(after));
}
