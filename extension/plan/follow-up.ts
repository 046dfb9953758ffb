// Turns a message about finished work into the fields of the follow-up task. Pure.

import { firstLineOf } from '../../server/core/format.ts';

const titleCharsMax = 80;

/** The first line is the title; the rest goes into the description. */
export function followUpFields(message: string): {
  readonly title: string;
  readonly description?: string;
} {
  const text = message.trim();
  const line = firstLineOf(text).trim();
  const title = Array.from(line);
  if (title.length <= titleCharsMax)
    return line === text ? { title: line } : { title: line, description: text };
  const cut = title.slice(0, titleCharsMax - 1).join('');
  const words = cut.slice(0, Math.max(cut.lastIndexOf(' '), titleCharsMax / 2)).trimEnd();
  return { title: `${words}…`, description: text };
}
