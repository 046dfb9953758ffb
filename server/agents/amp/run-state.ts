// The end that an Amp process reported, in a small file beside the log, so that the outcome is the
// same after a crash of Drover.

import { readFileSync } from 'node:fs';
import { replaceFile } from '../../files/write-whole.ts';
import { parseLine, textAt } from '../kit/wire/json-line.ts';
import type { AmpResult } from './translate.ts';

export interface AmpState {
  readonly hasStarted: boolean;
  readonly result: AmpResult | null;
  readonly exitIsTold: boolean;
}

export const newState: AmpState = { hasStarted: false, result: null, exitIsTold: false };

function statePath(logPath: string): string {
  return `${logPath}.amp-state.json`;
}

export function readState(logPath: string): AmpState {
  try {
    // Only we write it, completely or not at all.
    return JSON.parse(readFileSync(statePath(logPath), 'utf8')) as AmpState;
  } catch {
    return newState;
  }
}

export function writeState(logPath: string, state: AmpState): void {
  const path = statePath(logPath);
  replaceFile(path, JSON.stringify(state));
}

const leftoverCharsMax = 1_000_000;

/** The thread of a process whose output was not read. */
export function threadInLeftovers(stdoutPath: string): string | null {
  let text: string;
  try {
    text = readFileSync(stdoutPath, 'utf8').slice(0, leftoverCharsMax);
  } catch {
    return null;
  }
  for (const line of text.split('\n')) {
    const message = parseLine(line);
    if (message?.['type'] === 'system') return textAt(message, 'session_id');
  }
  return null;
}
