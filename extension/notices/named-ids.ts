// The backend's sentences name tasks and epics by their ids, like the command; in VS Code, people
// know them by their titles. Pure.

import type { StatusSnapshot } from '../../server/protocol/views.ts';

const titleCharsMax = 60;
/**
 * Matches ids that Drover creates, and imported ids with a number, because an id without one may be
 * a word. A trailing dot ends the sentence; a part of a path or of a branch does not count.
 */
const id =
  /(?<![\w./-])(?:(?:task|epic)-[a-z0-9]+|[A-Za-z][A-Za-z0-9_]*-(?=[A-Za-z_-]*[0-9])[\w-]+)(?:\.[0-9]+)*(?![\w/-])/gu;

/** Replaces each id that is on the board with the title. */
export function withTitles(
  text: string,
  board: Pick<StatusSnapshot, 'tasks' | 'epics'> | null,
): string {
  if (board === null) return text;
  const titles = new Map([...board.epics, ...board.tasks].map((each) => [each.id, each.title]));
  return text.replace(id, (each) => {
    const title = titles.get(each);
    return title === undefined ? each : `“${shortened(title)}”`;
  });
}

function shortened(title: string): string {
  const characters = Array.from(title.replace(/\s+/gu, ' ').trim());
  const isLong = characters.length > titleCharsMax;
  return isLong ? `${characters.slice(0, titleCharsMax - 1).join('')}…` : characters.join('');
}
