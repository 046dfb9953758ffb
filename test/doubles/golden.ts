// Golden texts: what a person sees, kept in files. `UPDATE_GOLDEN=1` writes them again; review the
// difference.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export function checkGolden(name: string, text: string): void {
  const path = fileURLToPath(new URL(`../golden/${name}.txt`, import.meta.url));
  const whole = text.endsWith('\n') ? text : `${text}\n`;
  if (process.env['UPDATE_GOLDEN'] === '1') {
    writeFileSync(path, whole);
    return;
  }
  assert.ok(existsSync(path), `${path} is missing; make it with UPDATE_GOLDEN=1`);
  assert.equal(whole, readFileSync(path, 'utf8'));
}
