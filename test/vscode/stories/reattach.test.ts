// A run outlives its windows: reload, extension host killed, backend killed, a second window. Each
// time no agent is lost, none is doubled, the panel continues at the right line, and a message
// reports the agents that were found again.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../e2e/support/eventually.ts';
import { processesOf } from '../../e2e/support/processes.ts';
import type { Project } from '../../e2e/support/project.ts';
import type { Page } from '../host/browser.ts';
import { demoProject, directives } from './support/demo-project.ts';
import { endMessages, message } from './support/messages.ts';
import { openDrover, openStream, runCommand, webview, webviews } from './support/parts.ts';
import { openWorkbench, picture, type Workbench } from './support/workbench.ts';

const names = ['Alpha', 'Beta', 'Gamma'] as const;
const stepMs = 250;
const reattached = 'Reattached: 3 agents running';
const ids = new Map<string, string>();

suite('a run outlives its windows', () => {
  let project: Project;
  let bench: Workbench;
  let firstPids: ReadonlyMap<string, number>;

  suiteSetup(async function () {
    this.timeout(240_000);
    project = demoProject({ stepMs });
    await project.expect(0, ['init']);
    for (const name of names) {
      const talk = `say-until ${join(project.folder, 'enough')} ${name} says {{n}}.`;
      const work = directives(talk, `write ${name}.txt ${name}`);
      ids.set(name, await project.add(name, '--description', work));
    }
    bench = await openWorkbench({
      env: project.env,
      folder: project.root,
      settings: { 'drover.showPreflight': false },
    });
    await openDrover(bench.page);
    await runCommand(bench.page, 'Drover: Run All Open Tasks');
    firstPids = await agents(project);
    await openStream(bench.page, 'Alpha');
    await growing(bench.page);
  });

  suiteTeardown(async function () {
    this.timeout(120_000);
    await bench?.close();
    await project?.end(false);
  });

  test('the window is reloaded', async () => {
    const before = await lastLine(bench.page);
    await bench.reload();
    await message(bench.page, reattached);
    await picture(bench.page, 'reattached');
    await growing(bench.page, before);
    assert.deepEqual(await agents(project), firstPids);
  });

  test('the extension host is killed with kill -9', async () => {
    const before = await lastLine(bench.page);
    // The one of the window that was reloaded may still be on its way out.
    const hosts = await eventually('one extension host is there', () => {
      const all = processesOf(bench.host.folder);
      const found = all.filter(({ what }) => what.includes('--type=extensionHost'));
      return found.length === 1 ? found : null;
    });
    await endMessages(bench.page);
    for (const { pid } of hosts) process.kill(pid, 'SIGKILL');
    await message(bench.page, reattached);
    await growing(bench.page, before);
    assert.deepEqual(await agents(project), firstPids);
  });

  test('the backend is killed with kill -9', async () => {
    const before = await lastLine(bench.page);
    await endMessages(bench.page);
    assert.ok(await project.killBackend());
    await message(bench.page, reattached);
    await growing(bench.page, before);
    assert.equal((await agents(project)).size, names.length);
  });

  test('a second window sees the same run and starts nothing', async () => {
    const before = await agents(project);
    const other = await bench.anotherWindow();
    await message(other, reattached);
    await openStream(other, 'Beta');
    await growing(other, 0, 'Beta');
    await growing(bench.page);
    assert.deepEqual(await agents(project), before);
    await other.close();
  });

  test('all tasks have landed, and every line was shown once', async function () {
    this.timeout(240_000);
    writeFileSync(join(project.folder, 'enough'), '');
    await eventually(
      'every task is completed',
      async () => (await project.status()).counts.completed === names.length,
      200_000,
    );
    for (const name of names) {
      assert.equal(project.git('show', `main:${name}.txt`), name);
      const said = [...(await log(project, name)).matchAll(/says (\d+)\./g)].map(([, at]) =>
        Number(at),
      );
      assert.ok(said.length > 0);
      assert.deepEqual(
        said,
        said.map((_, index) => index),
      );
      assert.equal((await project.task(ids.get(name) ?? '')).attempts, 0);
    }
    assert.deepEqual(bench.violations, []);
  });
});

async function log(project: Project, name: string): Promise<string> {
  return await project.expect(0, ['log', ids.get(name) ?? '']);
}

/** The living agents by task: each task has exactly one. */
async function agents(project: Project): Promise<ReadonlyMap<string, number>> {
  return await eventually('three agents are at work', () => {
    const found = new Map<string, number>();
    for (const id of ids.values()) {
      const its = processesOf(project.folder, `DROVER_TASK_ID=${id}`).filter(({ what }) => {
        return /^\S*node \S*demo-agent\.cjs$/.test(what); // not the shell around it
      });
      assert.ok(
        its.length < 2,
        `agents of ${id}: ${its.map(({ pid, what }) => `${pid} ${what}`).join(', ')}`,
      );
      const [only] = its;
      if (only !== undefined) found.set(id, only.pid);
    }
    return found.size === names.length ? found : null;
  });
}

/** Numbers of the lines that a panel shows, in the order in which they stand. */
async function shownLines(page: Page, name = 'Alpha'): Promise<readonly number[]> {
  for (const frame of await webviews(page, 'stream')) {
    const text = await frame.locator('drover-transcript').getByRole('feed').innerText();
    const lines = [...text.matchAll(new RegExp(`${name} says (\\d+)\\.`, 'g'))];
    if (lines.length > 0) return lines.map(([, at]) => Number(at));
  }
  return [];
}

async function lastLine(page: Page): Promise<number> {
  return (await shownLines(page)).at(-1) ?? 0;
}

/** The panel shows lines without a gap, continues after `after`, and keeps going. */
async function growing(page: Page, after = 0, name = 'Alpha'): Promise<void> {
  await webview(page, 'stream');
  const look = async (behind: number): Promise<number> => {
    return await eventually(`${name} says more than ${behind}`, async () => {
      const lines = await shownLines(page, name).catch(() => []);
      const first = lines[0] ?? 0;
      assert.deepEqual(
        lines,
        lines.map((_, index) => first + index),
      );
      const last = lines.at(-1) ?? -1;
      return last > behind ? last : null;
    });
  };
  await look(await look(after));
}
