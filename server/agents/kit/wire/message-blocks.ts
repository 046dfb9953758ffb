// Blocks of a model's message as several agents print them: their text, and a title for a tool
// call.

import { isAbsolute, relative } from 'node:path';
import { asObject, textAt, type Json } from './json-line.ts';

const titleCharsMax = 200;

/** Text of a message or a tool result: a string, or blocks of which some contain text. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((block: unknown) => {
      const one = asObject(block) ?? {};
      return textAt(one, 'text') ?? `[${textAt(one, 'type') ?? 'content'}]`;
    })
    .join('\n');
}

/** One line that describes a tool call to people. */
export function toolTitle(name: string, input: Json, cwd: string): string {
  const path =
    textAt(input, 'file_path') ?? textAt(input, 'notebook_path') ?? textAt(input, 'path');
  const what =
    path === null
      ? (textAt(input, 'command') ??
        textAt(input, 'cmd') ??
        textAt(input, 'description') ??
        textAt(input, 'pattern') ??
        textAt(input, 'query') ??
        textAt(input, 'url') ??
        textAt(input, 'prompt') ??
        '')
      : shortPath(path, cwd);
  const firstLine = what.split('\n', 1)[0] ?? '';
  return `${name} ${firstLine}`.trim().slice(0, titleCharsMax);
}

function shortPath(path: string, cwd: string): string {
  const inside = relative(cwd, path);
  return inside === '' || inside.startsWith('..') || isAbsolute(inside) ? path : inside;
}
