// Measures the structure of the git layer: its rooms, the arrows between them, and its floors. Run
// this file to print the figures in ARCHITECTURE.md.

import { dirname, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readSources, type SourceFile } from './source-files.ts';

const layer = 'server/git';

interface GitHouse {
  readonly lines: number;
  readonly rooms: readonly string[];
  /** `from → to`, for rooms. The layer's own files are vocabulary for all rooms, and not a room. */
  readonly arrows: readonly string[];
  /** Number of rooms on the longest path down. Infinity if a path leads back up. */
  readonly floors: number;
  /** Imports through which the vocabulary depends on a room. */
  readonly upward: readonly string[];
}

export function measureGitHouse(sources: readonly SourceFile[]): GitHouse {
  const files = sources.filter(({ path }) => path.startsWith(`${layer}/`));
  const roomOf = (path: string): string => relative(layer, dirname(path));
  const below = new Map<string, Set<string>>();
  const upward: string[] = [];
  for (const { path, imports } of files) {
    const room = roomOf(path);
    if (room !== '') below.set(room, below.get(room) ?? new Set());
    for (const target of imports.filter((one) => one.startsWith(`${layer}/`))) {
      const other = roomOf(target);
      if (other === '' || other === room) continue;
      if (room === '') upward.push(`${path} imports ${target}`);
      else below.get(room)?.add(other);
    }
  }
  return {
    lines: files.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0),
    rooms: [...below.keys()].sort(),
    arrows: [...below].flatMap(([from, to]) => [...to].map((one) => `${from} → ${one}`)).sort(),
    floors: Math.max(0, ...[...below.keys()].map((room) => depthOf(below, room))),
    upward,
  };
}

function depthOf(
  below: ReadonlyMap<string, ReadonlySet<string>>,
  room: string,
  above: readonly string[] = [],
): number {
  if (above.includes(room)) return Number.POSITIVE_INFINITY;
  const next = [...(below.get(room) ?? [])];
  return 1 + Math.max(0, ...next.map((one) => depthOf(below, one, [...above, room])));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { lines, rooms, arrows, floors } = measureGitHouse(readSources(['server']));
  const counts = `${lines} lines, ${rooms.length} rooms, ${arrows.length} arrows, ${floors} floors`;
  process.stdout.write(`${counts}\n${arrows.join('\n')}\n`);
}
