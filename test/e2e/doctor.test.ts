// `drover doctor`: lists every agent kind, and starts no program of the project and no backend.

import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { agentKinds } from '../../server/core/plan/task.ts';
import { removeFolder } from '../remove-folder.ts';
import { useProjects } from './support/suite-projects.ts';

interface Report {
  readonly backend: { readonly running: boolean };
  readonly checks: readonly {
    readonly name: string;
    readonly ok: boolean;
    readonly message: string;
  }[];
  readonly agents: readonly {
    readonly kind: string;
    readonly found: boolean;
    readonly version: string | null;
    readonly signed_in: boolean | null;
    readonly path: string | null;
    readonly remedy: string | null;
  }[];
}

suite('e2e: drover doctor', function () {
  this.timeout(120_000);
  const project = useProjects();

  test('every agent kind is listed, and no program that only the project names is started', async () => {
    const here = project({
      settings: '[agent]\nkind = "claude"\npath = "./evil"\n',
      env: { DROVER_AGENT_TYPE: '', DROVER_AGENT_PATH: '' },
    });
    const mark = join(here.folder, 'started');
    for (const path of ['repo/evil', 'repo/node_modules/.bin/gemini']) {
      mkdirSync(join(here.root, 'node_modules/.bin'), { recursive: true });
      here.write(path, `#!/bin/sh\ntouch ${mark}\n`);
      chmodSync(join(here.folder, path), 0o755);
    }
    const env = { PATH: `${join(here.root, 'node_modules/.bin')}:${here.env['PATH'] ?? ''}` };
    await here.expect(0, ['init']);
    const report = await here.json<Report>(['doctor'], { env });
    assert.deepEqual(
      report.agents.map(({ kind }) => kind),
      [...agentKinds],
    );
    const [claude] = report.agents;
    assert.deepEqual(Object.keys(claude ?? {}).toSorted(), [
      'found',
      'kind',
      'path',
      'remedy',
      'signed_in',
      'version',
    ]);
    assert.deepEqual([claude?.found, claude?.version], [true, null]);
    assert.match(claude?.remedy ?? '', /the project contains or names/u);
    assert.equal(report.backend.running, false);
    assert.equal(here.backendPid(), null);
    const seen = report.checks.find(({ name }) => name === 'environment')?.message ?? '';
    assert.match(seen, /^the agent sees .*PATH.*; the gate the same.*; the setup the same/u);
    const text = await here.expect(0, ['doctor'], { env });
    assert.match(text, /^ {2}gemini {7}found, /mu);
    assert.match(text, /^ {2}amp {10}not found: npm install/mu);
    // A fresh clone, before "drover init".
    removeFolder(join(here.root, '.drover'));
    const before = await here.json<Report>(['doctor'], { env });
    assert.equal(before.agents.length, agentKinds.length);
    assert.equal(existsSync(mark), false);
  });

  test('the identity for commits is named, and a missing one is a warning', async () => {
    const here = project();
    await here.expect(0, ['init']);
    const identity = async (): Promise<string> => {
      const { checks } = await here.json<Report>(['doctor']);
      return checks.find(({ name }) => name === 'identity')?.message ?? '';
    };
    here.git('config', '--global', '--unset-all', 'user.name');
    here.git('config', '--global', '--unset-all', 'user.email');
    assert.match(
      await identity(),
      /^warning: commits will bear Drover <drover@localhost>; user\.name or user\.email is not set/u,
    );
    here.git('config', 'user.name', 'Ada');
    here.git('config', 'user.email', 'ada@example.com');
    assert.equal(await identity(), 'commits will bear Ada <ada@example.com>');
    // Only git itself may read settings in other files.
    here.write('identity.ini', '[user]\n\temail = ada@work.example\n');
    here.git('config', 'include.path', join(here.folder, 'identity.ini'));
    assert.equal(await identity(), 'commits will bear Ada <ada@work.example>');
  });
});
