// Parses a request like the standard runtime: the first JSON value counts, the rest is ignored
// (worker contract §3).

/** @throws SyntaxError */
export function parseFirstJson(text: string): unknown {
  const start = text.search(/\S/);
  if (text[start] !== '{') return JSON.parse(text);
  return JSON.parse(text.slice(0, endOfObject(text, start)));
}

/** The index after the object's last bracket, or the end of the text if it is not closed. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    switch (text[at]) {
      case '"':
        at = endOfString(text, at);
        break;
      case '{':
      case '[':
        depth += 1;
        break;
      case '}':
      case ']':
        depth -= 1;
        if (depth === 0) return at + 1;
        break;
      default:
    }
  }
  return text.length;
}

/** The index of the closing quote. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  return text.length;
}
