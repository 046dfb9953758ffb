// The imports of a room, as in its README: rooms of its own layer, and other layers as a whole.

import { dirname } from 'node:path';
import { readSources, type SourceFile } from '../source-files.ts';

const widthMax = 100;

const serverLayers =
  'core protocol config durable store git agents sandbox workers workflows rpc cli main';
/** The more particular one first. */
const layers = [
  ...serverLayers.split(' ').map((name) => `server/${name}`),
  'extension',
  'webview/messages',
  'webview',
];

function layerOf(room: string): string | null {
  return layers.find((layer) => room === layer || room.startsWith(`${layer}/`)) ?? null;
}

/** Files by the folder in which they lie. */
export function roomsOf(files: readonly SourceFile[]): ReadonlyMap<string, SourceFile[]> {
  const code = files.filter(({ path }) => path.endsWith('.ts'));
  return Map.groupBy(code, ({ path }) => dirname(path));
}

export function importsOfRoom(room: string, files: readonly SourceFile[]): readonly string[] {
  const named = files
    .flatMap(({ imports }) => imports.map((target) => dirname(target)))
    .filter((target) => target !== room)
    .flatMap((target) => {
      const layer = layerOf(target);
      if (layer === null) return [];
      return [layer === layerOf(room) ? target : layer];
    });
  return [...new Set(named)].toSorted();
}

/** The README with its last paragraph as the files have it. */
export function withImports(readme: string, room: string, files: readonly SourceFile[]): string {
  const named = importsOfRoom(room, files).map((name) => `\`${name}\``);
  const text = `May import: ${named.length === 0 ? 'nothing' : named.join(', ')}.`;
  return `${readme.split('\n\n').slice(0, 2).join('\n\n').trimEnd()}\n\n${wrapped(text)}\n`;
}

function wrapped(text: string): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + 1 + word.length > widthMax) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines.join('\n');
}

export const readRooms = (): ReadonlyMap<string, SourceFile[]> => roomsOf(readSources());
