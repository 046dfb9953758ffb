// Writes the hint to an agent whose change conflicts with another running task, or with work that
// landed after it started.

import { fenced, toSingleLine } from './prompt-text.ts';

export interface ForecastHint {
  /** The other task. Null for landed work, which may come from several tasks. */
  readonly other: { readonly id: string; readonly title: string } | null;
  readonly files: readonly string[];
  /** The other change to these files, as a diff. */
  readonly diff: string;
}

const filesMax = 10;
const diffMax = 4_000;

export function forecastHint({ other, files, diff }: ForecastHint): string {
  const named = files.slice(0, filesMax).map((file) => `\`${toSingleLine(file, 200)}\``);
  const more = files.length - named.length;
  const list = `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  const first =
    other === null
      ? `Work that has landed since you started changes the same lines of ${list} as you do. Git cannot merge the two changes.`
      : `The task ${other.id} (${toSingleLine(other.title, 200)}) runs at the same time and changes the same lines of ${list} as you do. Git cannot merge the two changes.`;
  const rest =
    'The task that lands second must redo that part. Avoid changing these lines if your task allows it; otherwise write your change so that both changes can coexist. The other change, as data:';
  return [`${first} ${rest}`, '', fenced(diff.slice(0, diffMax))].join('\n');
}
