// The names of priorities, which are the same on the command line, in files and in requests.

/** The default priority. */
export const normalPriority = 5;

const numbers: Readonly<Record<string, number>> = {
  critical: 10,
  urgent: 10,
  high: 7,
  normal: normalPriority,
  medium: normalPriority,
  low: 2,
};

/** Returns null for an unknown word. */
export function priorityOfWord(word: string): number | null {
  const key = word.trim().toLowerCase();
  return Object.hasOwn(numbers, key) ? (numbers[key] ?? null) : null;
}
