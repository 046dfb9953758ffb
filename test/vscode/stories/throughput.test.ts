// Gates that run early, a foreseen conflict and a reviewing agent in the real workbench: what the board, the summary of
// the run, the page of the task and the Problems panel show. The pictures are those of the documents.

import assert from 'node:assert/strict';
import { makeBarrier, type Barrier } from '../../e2e/support/agent-scripts.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { makeProject, type Project } from '../../e2e/support/project.ts';
import { reviewer } from '../../e2e/support/reviewer.ts';
import type { Frame } from '../host/browser.ts';
import { endMessages } from './support/messages.ts';
import { openDrover, runCommand, webview } from './support/parts.ts';
import { row, treeOf } from './support/tree.ts';
import { openWorkbench, picture, type Workbench } from './support/workbench.ts';

const epic = 'Sell more';
const titles = {
  parse: 'Add tax',
  print: 'Print bills',
  left: 'Round prices half up',
  right: 'Round prices half even',
} as const;

const verdict = `() => ({
  verdict: "block",
  findings: [
    { at: "cart.ts:2", severity: "blocking", text: "A total of no prices is NaN." },
    { at: "cart.ts:1", severity: "minor", text: "Name the currency." },
  ],
  criteria: [{ met: true, evidence: "cart.ts:2" }, { met: false, evidence: "No test calls total([])." }],
})`;

/** Two write a file each, two the same line of one file; those wait until the test lets them end. */
const agent = `
prompt=$(cat)
if [ "\${DROVER_REVIEW:-}" = 1 ]; then exec "$DROVER_MCP_COMMAND" -e '${reviewer(verdict, 'cart.ts')}'; fi
case "$prompt" in
  *work:parse*) echo parse > parse.txt;;
  *work:print*) read -r line < ../../print; echo print > print.txt;;
  *work:left*) echo 'half up' > rounding.txt; read -r line < ../../meet;;
  *work:right*) echo 'half even' > rounding.txt; read -r line < ../../meet;;
  *) echo 'export const total = (prices: number[]) =>' > cart.ts; echo '  prices.reduce((a, b) => a + b) / 1;' >> cart.ts;;
esac
echo 'It is written.'
`;

/** The gate of the first task alone is slow; each other one waits for the test. */
const gate =
  'if [ -e print.txt ]; then read -r line < ../../early; elif [ -e parse.txt ]; then read -r line < ../../first; fi';

suite('throughput in the workbench', () => {
  let project: Project;
  let bench: Workbench;
  let tree: Frame;
  const barriers = new Map<string, Barrier>();
  const open = (name: string, count = 1): void => barriers.get(name)?.open(count);

  suiteSetup(async function () {
    this.timeout(600_000);
    project = makeProject({
      agent,
      files: { 'cart.ts': 'export const total = (prices: number[]) =>\n  prices.length;\n' },
      settings: `max_workers = 4\n[gate]\ncommand = "${gate}"\nparallel = 2\n[machine]\nmax_load = 0\n[review]\nagent = "command"\npaths = ["cart.ts"]\n`,
    });
    for (const name of ['print', 'meet', 'early', 'first'])
      barriers.set(name, makeBarrier(project.folder, name));
    await project.expect(0, ['init']);
    const { id } = await project.json<{ id: string }>(['epic', 'add', epic]);
    for (const [work, title] of Object.entries(titles))
      await project.add(title, '--epic', id, '--description', `work:${work}`);
    const settings = { 'workbench.colorTheme': 'Light 2026', 'drover.showPreflight': false };
    bench = await openWorkbench({ env: project.env, folder: project.root, settings });
    await openDrover(bench.page);
    tree = await treeOf(bench.page);
  });

  suiteTeardown(async function () {
    this.timeout(60_000);
    for (const [name] of barriers) open(name, 8);
    await project?.drover(['server', 'stop', '--force']);
    for (const barrier of barriers.values()) barrier.close();
    await bench?.close();
    await project?.end(false);
  });

  test('the board names the merge of each running gate, and a conflict before it happens', async function () {
    this.timeout(240_000);
    const { page } = bench;
    await row(tree, epic).click();
    await page.keyboard.press('Control+Enter');
    const gateOf = async (title: string) =>
      (await project.status()).tasks.find((task) => task.title === title)?.running_gate;
    await eventually('the first gate runs', () => gateOf(titles.parse), 60_000);
    open('print');
    await eventually('a gate runs early', async () => (await gateOf(titles.print))?.early, 60_000);
    await runCommand(page, 'Drover: Open Board and Graph');
    const board = await webview(page, 'board');
    const early = `Gate runs early on the epic + ${titles.parse} + ${titles.print} (2nd in the queue)`;
    await board.getByText(early).waitFor();
    await board
      .getByText(`conflicts with ${titles.right} in rounding.txt`)
      .first()
      .waitFor({ timeout: 120_000 });
    await endMessages(page);
    await picture(page, 'board-forecast', true);
  });

  test('the summary of the run says what early gates cost', async function () {
    this.timeout(240_000);
    const { page } = bench;
    open('early', 4);
    await eventually(
      'both have landed',
      async () => {
        const { tasks } = await project.status();
        return tasks.filter(({ status }) => status === 'completed').length >= 2;
      },
      60_000,
    );
    open('meet', 4);
    open('early', 8);
    open('first', 8);
    await eventually(
      'the run has ended',
      async () => (await project.status()).run?.active === false,
      120_000,
    );
    await runCommand(page, 'Drover: Show Runs');
    const runs = await webview(page, 'run');
    await runs
      .getByText(/of early gates (was|were) not needed/)
      .first()
      .waitFor();
    await endMessages(page);
    await picture(page, 'early-gates', true);
  });

  test('the page of a task shows its review, and the Problems panel its findings', async function () {
    this.timeout(240_000);
    const { page } = bench;
    const title = 'Add up the cart';
    const accept = [
      '--accept',
      'A total is the sum of the prices.',
      '--accept',
      'An empty cart has a total of 0.',
    ];
    const id = await project.add(title, ...accept);
    open('early', 8);
    const { stdout, stderr } = await project.drover(['run', '--task', id]);
    assert.equal((await project.task(id)).status, 'needs_review', stdout + stderr);
    await row(tree, title).dblclick();
    const stream = await webview(page, 'stream');
    await stream.getByRole('tab', { name: 'Task' }).click();
    await stream.getByText('A total of no prices is NaN.', { exact: true }).waitFor();
    await endMessages(page);
    await picture(page, 'task-review', true);
    await runCommand(page, 'Problems: Focus on Problems View');
    const panel = page.locator('.markers-panel');
    await panel.getByText('A total of no prices is NaN.').waitFor();
    await panel.getByText('Drover review').first().waitFor();
    await endMessages(page);
    await picture(page, 'review-findings', true);
    await project.expect(0, ['approve', id]);
    await panel
      .getByText('A total of no prices is NaN.')
      .waitFor({ state: 'detached', timeout: 60_000 });
    assert.deepEqual(bench.violations, []);
  });
});
