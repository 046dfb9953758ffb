// A machine with several projects: each lists itself when its backend starts, and a page offers all.

import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { eventually } from '../e2e/support/eventually.ts';
import type { Project } from '../e2e/support/project.ts';
import { useProjects } from '../e2e/support/suite-projects.ts';
import { closeSharedBrowser } from '../vscode/host/browser.ts';
import { desktop, openPage, startWeb } from './support/web-program.ts';

suite('the projects of a page', function () {
  this.timeout(180_000);
  const project = useProjects();
  suiteTeardown(closeSharedBrowser);

  /** A project of the same user as `first`. */
  function beside(first: Project): Project {
    return project({ env: { HOME: first.env['HOME'] ?? '' } });
  }

  async function begin(here: Project, title: string): Promise<void> {
    await here.expect(0, ['init', '--yes']);
    await here.add(title);
  }

  test('a project that ran before is offered, a project that starts later is added, and a deleted one is removed', async () => {
    const first = project();
    const second = beside(first);
    const third = beside(first);
    await begin(first, 'Task of the first');
    await begin(second, 'Task of the second');
    await begin(third, 'Task of the third');
    assert.equal((await second.drover(['run'])).code, 0);
    await second.killBackend();
    const web = await startWeb(first);
    const { page, problems } = await openPage(web.url, desktop);
    const tree = page.frameLocator('iframe[title="Tasks"]');
    await tree.getByRole('treeitem', { name: 'Task of the first' }).waitFor();
    const choice = page.getByRole('combobox', { name: 'Project' });
    const offered = async (): Promise<number> => await choice.getByRole('option').count();
    assert.equal(await offered(), 2);
    assert.equal(second.backendPid(), null);

    const [, other] = await choice
      .getByRole('option')
      .evaluateAll((options) =>
        options.map((option) => (option as unknown as { value: string }).value),
      );
    await choice.selectOption(other ?? '');
    await tree.getByRole('treeitem', { name: 'Task of the second' }).waitFor();
    assert.notEqual(second.backendPid(), null);

    assert.equal((await third.drover(['run'])).code, 0);
    await eventually('the third project is offered', async () => (await offered()) === 3);

    renameSync(second.root, `${second.root}-moved`);
    await tree.getByRole('treeitem', { name: 'Task of the first' }).waitFor();
    await eventually('the second project left', async () => (await offered()) === 2);
    renameSync(`${second.root}-moved`, second.root);
    assert.deepEqual(problems, []);
    await web.stop();
  });
});
