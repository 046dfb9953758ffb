// The program under test as a later version of itself: the same bundles with another number in them.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import assert from 'node:assert/strict';
import { droverProgram } from './program.ts';

export interface VersionChange {
  readonly version: string;
  readonly protocol?: number;
}

/** Writes it below the folder; resolves to its `drover`. */
export function writeOtherVersion(folder: string, change: VersionChange): string {
  const from = dirname(droverProgram());
  const to = join(folder, `drover-${change.version}`);
  mkdirSync(to);
  writeFileSync(join(to, 'package.json'), '{"type":"module"}\n');
  for (const name of ['cli.js', 'backend.js']) {
    let text = readFileSync(join(from, name), 'utf8');
    text = replaced(text, /(\bdroverVersion\d* = )"[^"]+"/g, `$1"${change.version}"`);
    if (change.protocol !== undefined) {
      text = replaced(text, /(\bprotocolVersion\d* = )\d+/g, `$1${change.protocol}`);
    }
    writeFileSync(join(to, name), text);
  }
  return join(to, 'cli.js');
}

function replaced(text: string, pattern: RegExp, by: string): string {
  assert.match(text, pattern);
  return text.replace(pattern, by);
}
