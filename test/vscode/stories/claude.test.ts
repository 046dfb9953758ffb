// The first run with the real Claude Code, which has a model API on loopback: a permission answered in the panel, a hint sent
// in mid-turn, and three tasks that land.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureAgents } from '../../agents-under-test/install.mjs';
import type { FakeModelApi } from '../../doubles/fake-model-api/fake-model-api.mjs';
import {
  assertOnlyDummy,
  claudeEnvironment,
  conversation,
  says,
  startModelApi,
  writes,
} from '../../e2e/support/claude-project.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { makeProject, type Project } from '../../e2e/support/project.ts';
import type { Frame } from '../host/browser.ts';
import { inTranscript, openDrover, quickPickRow, webview } from './support/parts.ts';
import {
  dragThree,
  epicTitles,
  setUpByButton,
  taskTitles,
  writePlan,
} from './support/plan-in-side-bar.ts';
import { row, treeOf } from './support/tree.ts';
import { openWorkbench, picture, type Workbench } from './support/workbench.ts';

const hint = 'Mind the cents.';

suite('the first run, with Claude Code', () => {
  let fake: FakeModelApi;
  let project: Project;
  let bench: Workbench;
  let tree: Frame;
  let ids: readonly string[];

  suiteSetup(async function () {
    this.timeout(600_000);
    const { claude } = await ensureAgents();
    fake = await startModelApi();
    project = makeProject({
      env: claudeEnvironment(claude, fake),
      settings: 'max_workers = 3\n[gate]\ncommand = "test -e README.md"\n',
    });
    bench = await openWorkbench({ env: project.env, folder: project.root });
    await openDrover(bench.page);
    tree = await treeOf(bench.page);
    await setUpByButton(tree);
    await writePlan(project, bench, tree);
    await dragThree(project, bench, tree);
    const { tasks } = await project.status();
    ids = taskTitles.map((title) => tasks.find((task) => task.title === title)?.id ?? '');
  });

  suiteTeardown(async function () {
    this.timeout(60_000);
    await bench?.close();
    await project?.end(false);
    await fake?.close();
  });

  test('a permission is answered in the panel, with the button of its own request', async () => {
    fake.setScript({ conversations: script(ids, join(project.folder, 'go')) });
    await row(tree, epicTitles[0]).hover();
    await tree.getByRole('button', { name: `Run epic ${epicTitles[0]}` }).click();
    await quickPickRow(bench.page, '3 tasks, up to 3 at once').click();
    const question = await eventually('Claude asks', async () => {
      return (await project.status()).questions[0];
    });
    assert.equal(question.task_id, ids[0]);
    await row(tree, taskTitles[0]).dblclick();
    const stream = await webview(bench.page, 'stream');
    const buttons = stream.locator(`[data-question="${question.id}"]`);
    await buttons.first().waitFor();
    await picture(bench.page, 'claude-asks');
    await buttons.first().click();
    await inTranscript(stream, `Answered: ${question.choices[0] ?? ''}`).waitFor();
    // These words come with the log, and the buttons go with the board.
    await buttons.first().waitFor({ state: 'detached' });
  });

  test('a hint reaches the running turn', async () => {
    const stream = await webview(bench.page, 'stream');
    await stream.getByPlaceholder('Tell the agent something').fill(hint);
    await stream.getByRole('button', { name: 'Send' }).click();
    await stream.locator('drover-transcript .hint', { hasText: hint }).waitFor();
    writeFileSync(join(project.folder, 'go'), '');
    await inTranscript(stream, 'I saw the hint.').waitFor();
    await picture(bench.page, 'claude-hint');
  });

  test('all three tasks are completed and have landed, and only loopback was contacted', async () => {
    await row(tree, `${epicTitles[0]} 3/3`).waitFor({ timeout: 60_000 });
    await project.epicLanded();
    for (const id of ids.slice(0, 3)) {
      const task = await eventually(`${id} is completed`, async () => {
        const { tasks } = await project.status();
        return tasks.find((each) => each.id === id && each.status === 'completed');
      });
      const landed = task.landed_sha ?? '';
      assert.equal(project.git('merge-base', landed, 'main'), landed);
      assert.equal(project.git('show', `main:${id}.txt`), `work of ${id}`);
    }
    assertOnlyDummy(fake);
    assert.deepEqual(bench.violations, []);
  });
});

/**
 * The first task asks for a command that waits for the test: its turn runs while the hint is sent.
 */
function script(ids: readonly string[], goFile: string): ReturnType<typeof conversation>[] {
  const [first = '', ...others] = ids;
  const command = `sh -c "until test -e ${goFile}; do sleep 0.1; done; date > asked.txt"`;
  const waits = { tools: [{ name: 'Bash', input: { command, description: 'Wait for a word' } }] };
  const heard = { ...says('I saw the hint.'), expect: { system: 'while you were working' } };
  return [
    conversation(first, [writes(first), waits, heard]),
    ...others.map((id) => conversation(id, [writes(id), says(`Wrote ${id}.`)])),
  ];
}
