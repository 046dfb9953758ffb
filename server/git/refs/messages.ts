// Builds commit messages: text by people and agents becomes one subject line and trailers.

import { commitSubject } from '../../core/visible-text.ts';
import { toSingleLine } from './refs.ts';

/** Subject, an empty line, trailers. Each is one line, whatever a title contains. */
export function commitMessage(subject: string, trailers: readonly string[]): string {
  const first = commitSubject(subject) || 'drover: work of a task';
  const rest = trailers.map(toSingleLine).filter((trailer) => trailer !== '');
  return rest.length > 0 ? `${first}\n\n${rest.join('\n')}\n` : `${first}\n`;
}
