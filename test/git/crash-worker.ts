// Runs tasks in slots until it is killed; prints a line after each step, so that the killer can
// choose the time.

import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openGitAdapter } from '../../server/git/repository/adapter.ts';
import type { GitResult } from '../../server/git/port.ts';

const [root = '', slots = '', home = ''] = process.argv.slice(2);
const environment = { PATH: process.env['PATH'], HOME: home, GIT_CONFIG_NOSYSTEM: '1' };

function must<T>(result: GitResult<T>): T {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

const repository = must(await openGitAdapter({ environment, durable: false }).open(root));
const base = repository.facts.headSha ?? '';

async function lane(slot: string): Promise<void> {
  for (let task = 0; task < 1000; task += 1) {
    const path = join(slots, slot);
    const branch = `drover/${slot}-${process.pid}-${task}/1`;
    must(
      await repository.prepareSlot({
        path,
        branch,
        sha: base,
        keepBranch: false,
        dropIgnored: false,
        sparse: null,
        use: 'task',
      }),
    );
    process.stdout.write('prepared\n');
    writeFileSync(join(path, `${slot}-${task}.txt`), `${task}\n`);
    appendFileSync(join(path, 'README.md'), `${slot} ${task}\n`);
    process.stdout.write('worked\n');
    const request = {
      subject: 's',
      trailers: [],
      maxFileSize: 1e6,
      runHooks: false,
      signature: null,
    };
    const done = must(await repository.commitLeftovers({ path, branch, base, ...request }));
    process.stdout.write(`committed ${done.commit} ${branch}\n`);
    if (task % 3 === 2) must(await repository.removeWorktree({ path, label: slot, force: false }));
  }
}

await Promise.all(['c0', 'c1', 'c2', 'c3'].map(lane));
