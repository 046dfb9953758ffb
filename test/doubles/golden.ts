// Golden texts: output for people, kept in files. `UPDATE_GOLDEN=1` writes them again; review the
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
  const before = existsSync(path) ? readFileSync(path, 'utf8') : '';
  if (whole === before) return;
  throw new assert.AssertionError({
    message: `${path} differs. If the new text is right, run the test again with UPDATE_GOLDEN=1.`,
    actual: whole,
    expected: before,
    operator: 'strictEqual',
  });
}
