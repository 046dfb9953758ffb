// How statuses are displayed: a symbol one column wide, a word and a color. Color alone never
// carries a meaning.

import { styleText } from 'node:util';
import type { TaskStatus } from '../../core/plan/state.ts';

export type Tone = 'red' | 'green' | 'yellow' | 'cyan' | 'gray' | 'bold' | 'dim';

export type Paint = (tone: Tone | null, text: string) => string;

/** Colors or none. The caller, who knows the stream, decides once. */
export function createPaint(color: boolean): Paint {
  if (!color) return (_tone, text) => text;
  return (tone, text) =>
    tone === null || text === '' ? text : styleText(tone, text, { validateStream: false });
}

interface Look {
  readonly symbol: string;
  readonly word: string;
  readonly tone: Tone | null;
  /** If space is short, lower ranks are shown first. */
  readonly rank: number;
}

export const looks: { readonly [S in TaskStatus]: Look } = {
  in_progress: { symbol: '●', word: 'running', tone: 'cyan', rank: 0 },
  claimed: { symbol: '◐', word: 'starting', tone: 'cyan', rank: 1 },
  needs_review: { symbol: '◆', word: 'needs review', tone: 'yellow', rank: 2 },
  conflict: { symbol: '▲', word: 'conflict', tone: 'red', rank: 3 },
  failed: { symbol: '✖', word: 'failed', tone: 'red', rank: 4 },
  waiting: { symbol: '◌', word: 'waiting', tone: 'yellow', rank: 5 },
  paused: { symbol: '‖', word: 'paused', tone: 'yellow', rank: 6 },
  ready: { symbol: '○', word: 'queued', tone: null, rank: 7 },
  blocked: { symbol: '·', word: 'blocked', tone: 'dim', rank: 8 },
  completed: { symbol: '✔', word: 'completed', tone: 'green', rank: 9 },
  cancelled: { symbol: '–', word: 'cancelled', tone: 'gray', rank: 10 },
};
