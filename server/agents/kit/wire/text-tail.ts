// Keeps the end of a program's output: enough to explain a failure, never all of it.

export function withLine(tail: string, line: string, charsMax: number): string {
  return `${tail}${line}\n`.slice(-charsMax);
}

export function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
