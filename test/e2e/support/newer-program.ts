// The program under test as a later version of itself: the same bundles with another version
// number.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import assert from 'node:assert/strict';
import { droverProgram } from './program.ts';

export interface VersionChange {
  readonly version: string;
  readonly protocol?: number;
}

/** Writes it below the folder; resolves with its `drover`. */
export function writeOtherVersion(folder: string, change: VersionChange): string {
  const from = dirname(droverProgram());
  const to = join(folder, `drover-${change.version}`);
  mkdirSync(to);
  writeFileSync(join(to, 'package.json'), '{"type":"module"}\n');
  let changes = 0;
  for (const name of readdirSync(from).filter((file) => /\.c?js$/u.test(file))) {
    const before = readFileSync(join(from, name), 'utf8');
    let text = before.replace(/(\bdroverVersion\d* = )"[^"]+"/g, `$1"${change.version}"`);
    if (change.protocol !== undefined) {
      text = text.replace(/(\bprotocolVersion\d* = )\d+/g, `$1${change.protocol}`);
    }
    if (text !== before) changes += 1;
    writeFileSync(join(to, name), text);
  }
  assert.ok(changes > 0, 'no bundle holds the version');
  return join(to, 'cli.js');
}
