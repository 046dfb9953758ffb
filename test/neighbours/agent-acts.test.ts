// Lines that an agent's ledger lists as written are really written, even if git refuses: a person's
// `git worktree prune` breaks a `git worktree add` that has just started, and the folder
// disappears.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../remove-folder.ts';
import { agentActs, agentBody, agentScripts, type AgentAct } from './agent-acts.ts';
import { tokensInFiles, tokensOf } from './tokens.ts';

/** It only reads, and refuses everything else. */
const refusingGit = `#!/bin/sh
case "$1" in status | check-ignore) exit 1;; esac
exit 128
`;

/** Those leave processes that outlive the agent. */
const outlives: ReadonlySet<AgentAct> = new Set<AgentAct>(['background', 'background-hidden']);

suite('neighbours: the ledger of an agent', () => {
  let stage: string;

  setup(() => {
    stage = mkdtempSync(join(tmpdir(), 'drover-ledger-'));
    for (const folder of ['acts', 'plans', 'bin', 'slots/slot-1'])
      mkdirSync(join(stage, folder), { recursive: true });
    writeFileSync(join(stage, 'bin', 'git'), refusingGit);
    chmodSync(join(stage, 'bin', 'git'), 0o755);
    writeFileSync(join(stage, 'plans', 't1'), 'pace=0\nshares=\n');
  });
  teardown(() => removeFolder(stage));

  for (const act of (Object.keys(agentActs) as AgentAct[]).filter((each) => !outlives.has(each))) {
    test(`it names nothing that was not written, even if git refuses: ${act}`, () => {
      writeFileSync(join(stage, 'acts', 't1.1'), `${agentScripts[act]}\n`);
      const path = `${join(stage, 'bin')}:${process.env['PATH']}`;
      try {
        execFileSync('sh', ['-c', `id=t1\nattempt=1\nset -e\n${agentBody}`], {
          cwd: join(stage, 'slots', 'slot-1'),
          env: { PATH: path },
          input: '',
          stdio: ['pipe', 'ignore', 'ignore'],
        });
      } catch {
        // It may fail, but its ledger is still correct.
      }
      const lines = readFileSync(join(stage, 'ledger'), 'utf8').split('\n');
      const marked = (mark: string): readonly string[] =>
        lines.filter((line) => line.startsWith(`${mark} `)).flatMap(tokensOf);
      const written = marked('w');
      assert.ok(written.length > 0);
      const there = new Set([...tokensInFiles(stage), ...marked('r')]);
      assert.deepEqual(
        written.filter((token) => !there.has(token)),
        [],
      );
    });
  }
});
