// The completion script, asked by a real bash.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { memoryBackend } from '../../doubles/memory-backend.ts';
import { memoryTerminal } from '../../doubles/terminal.ts';

async function scriptFor(shell: string): Promise<string> {
  const terminal = memoryTerminal(memoryBackend().backends);
  assert.equal(await terminal.run('completion', shell), 0);
  return terminal.stdout.text;
}

suite('completion', () => {
  const cases: readonly {
    readonly words: readonly string[];
    readonly offers: readonly string[];
  }[] = [
    { words: ['st'], offers: ['status'] },
    { words: ['epic', 'a'], offers: ['add'] },
    { words: ['epic', ''], offers: ['add', 'list', 'show', 'edit', 'close'] },
    { words: ['-C', 'folder', 'run', '--w'], offers: ['--workers'] },
    { words: ['worktree', 'prune', '--d'], offers: ['--dry-run'] },
    { words: ['import-jsonl', '--s'], offers: ['--skip-invalid'] },
    { words: ['unpause', '--hi'], offers: ['--hint'] },
    { words: ['status', '--t'], offers: ['--tree'] },
  ];
  for (const { words, offers } of cases) {
    test(`drover ${words.join(' ')}`, async function () {
      const asked = ['drover', ...words].map((word) => `'${word}'`).join(' ');
      const script =
        `${await scriptFor('bash')}\nCOMP_WORDS=(${asked}); COMP_CWORD=${words.length}; ` +
        '_drover; printf "%s\\n" "${COMPREPLY[@]}"';
      const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' });
      assert.equal(stderr, '');
      assert.deepEqual(stdout.trim().split('\n'), offers);
    });
  }

  test('the other shells name the commands too', async () => {
    assert.match(await scriptFor('zsh'), /^#compdef drover/u);
    assert.match(await scriptFor('fish'), /-a 'status' -d 'Show the state of all tasks'/u);
  });
});
