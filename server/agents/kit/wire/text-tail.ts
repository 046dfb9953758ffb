// The end of what a program printed: enough to say why it failed, never all of it.

export function withLine(tail: string, line: string, charsMax: number): string {
  return `${tail}${line}\n`.slice(-charsMax);
}

export function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
