// The names of a task's priorities: the same on the command line, in files and on the wire.

/** The priority of a task that is given none. */
export const normalPriority = 5;

const numbers: Readonly<Record<string, number>> = {
  critical: 10,
  urgent: 10,
  high: 7,
  normal: normalPriority,
  medium: normalPriority,
  low: 2,
};

/** Returns null for anything else. */
export function priorityOfWord(word: string): number | null {
  const key = word.trim().toLowerCase();
  return Object.hasOwn(numbers, key) ? (numbers[key] ?? null) : null;
}
