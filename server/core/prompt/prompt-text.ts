// Bounds and fences untrusted text in a prompt, so that it cannot be mistaken for Drover's own
// text.

/** Keeps the start of the text, and states how much was omitted. */
export function cutEnd(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const kept = wholeCharacters(text.slice(0, maxLength));
  return `${kept}\n[… ${text.length - kept.length} characters left out]`;
}

/** Keeps the end, which in a log usually names the error; states how much was omitted. */
export function cutStart(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const kept = wholeCharacters(text.slice(-maxLength));
  return `[${text.length - kept.length} characters left out …]\n${kept}`;
}

/** Removes half of a surrogate pair at a cut, which is not a valid character. */
function wholeCharacters(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]/, '').replace(/[\uD800-\uDBFF]$/, '');
}

/** Formats untrusted text as one short line without line breaks and control characters. */
export function toSingleLine(text: string, maxLength = 200): string {
  // eslint-disable-next-line no-control-regex
  const line = text.replaceAll(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim();
  return line.length > maxLength ? `${wholeCharacters(line.slice(0, maxLength - 1))}…` : line;
}

/** Uses a fence that is longer than any in the text, so that the text cannot close it. */
export function fenced(text: string): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text.replace(/\s+$/, '')}\n${fence}`;
}

/** Formats an age for a prompt: `3 h`, `2 days`. */
export function roughAge(ageMs: number): string {
  const minutes = Math.floor(Math.max(ageMs, 0) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} days ago`;
}
