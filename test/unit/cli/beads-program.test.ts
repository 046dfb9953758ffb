// Labels and dependencies that a sync removes in bd, because bd's import only adds them.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beadsProgram, type BeadsProgram } from '../../../server/cli/beads-program.ts';
import { removeFolder } from '../../remove-folder.ts';

const issue = (labels: readonly string[]): string =>
  `${JSON.stringify({ id: 't-1', title: 'One', status: 'open', labels })}\n`;

suite('removals in bd', () => {
  let folder: string;
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-bd-'));
    mkdirSync(join(folder, '.beads', 'dolt'), { recursive: true });
  });
  teardown(() => removeFolder(folder));

  const pending = (): string => join(folder, 'place.pending');

  /** `shown`: the labels of the issue, which this bd refuses to remove. */
  async function refusing(shown: readonly string[]): Promise<BeadsProgram> {
    const script = `#!/bin/sh
case "$1" in
  version) echo 'bd version 1.0.3' ;;
  update) printf 'Warning: permissions\\nError: database is locked\\n' >&2; exit 1 ;;
  show) echo '${JSON.stringify([{ id: 't-1', labels: shown }])}' ;;
esac
`;
    writeFileSync(join(folder, 'bd'), script, { mode: 0o755 });
    const file = join(folder, '.beads', 'issues.jsonl');
    const env = { PATH: `${folder}:/usr/bin:/bin` };
    const bd = await beadsProgram(file, join(folder, 'place'), env);
    assert.ok(bd !== null);
    await bd.willWrite(issue(['old']), issue([]));
    return bd;
  }

  test('a removal that bd refuses is reported, and retried by the next sync', async () => {
    const bd = await refusing(['old']);
    const problem = 'bd update t-1 --remove-label old: Error: database is locked';
    assert.equal(await bd.take(), problem);
    assert.ok(existsSync(pending()));
    assert.equal(await bd.take(), problem);
  });

  test('a removal that bd has already made is not a failure', async () => {
    const bd = await refusing([]);
    assert.equal(await bd.take(), null);
    assert.ok(!existsSync(pending()));
  });
});
