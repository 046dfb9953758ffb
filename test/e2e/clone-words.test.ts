// Runs every command in a clone that contains everything a hostile clone can contain: which
// programs run, and after which consent. docs/clones.md has the table; this test writes it and
// keeps it correct.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { startWebReceiver, type WebReceiver } from '../doubles/web-receiver.ts';
import { eventually } from './support/eventually.ts';
import { holdTable, hostileClone, marksOf } from './support/hostile-clone.ts';
import { useProjects } from './support/suite-projects.ts';

/** A call of each command that needs no consent to the clone's settings. `ID` is a task. */
const calls: Readonly<Record<string, readonly string[]>> = {
  init: ['init'],
  epic: ['epic add E', 'epic list'],
  add: ['add Task', 'add Other --agent claude'],
  templates: ['templates'],
  edit: ['edit ID --priority 2'],
  spec: ['spec design.md --yes'],
  status: ['status', 'status --json'],
  show: ['show ID'],
  why: ['why ID'],
  pr: ['pr ID', 'pr ID --reply t text', 'pr ID --watch off --fix off'],
  review: ['review ID', 'review ID --overrule 1'],
  notes: ['notes', 'notes add text', 'notes keep x', 'notes drop x'],
  log: ['log ID'],
  events: ['events'],
  diff: ['diff ID'],
  snapshots: ['snapshots ID'],
  report: ['report ID'],
  search: ['search First'],
  trace: ['trace export ID'],
  metrics: ['metrics'],
  at: ['at 1 status'],
  approve: ['approve ID'],
  'send-back': ['send-back ID again'],
  undo: ['undo ID'],
  pause: ['pause ID'],
  'resume-task': ['resume-task ID'],
  hint: ['hint ID quick'],
  answer: ['answer q-1 yes'],
  resolve: ['resolve ID --note x'],
  cancel: ['cancel ID'],
  retry: ['retry ID'],
  follow: ['follow'],
  restore: ['restore ID'],
  reset: ['reset'],
  import: ['import plan.jsonl'],
  sync: ['sync beads .'],
  export: ['export'],
  machines: ['machines', 'machines drain x'],
  fleet: ['fleet grant someone', 'fleet release main'],
  worktree: ['worktree list', 'worktree prune'],
  prune: ['prune --dry-run'],
  doctor: ['doctor', 'doctor --sandbox'],
  trust: ['trust'],
  mcp: ['mcp'],
  sqlforge: ['sqlforge status'],
  migrate: ['migrate --to postgresql://x@127.0.0.1:9/x'],
  server: ['server stop', 'server install', 'server status', 'server uninstall'],
  'worker-runtime': ['worker-runtime --listen 127.0.0.1:0'],
  worker: ['worker'],
  web: ['web --listen 0.0.0.0:0'],
  completion: ['completion bash'],
  remote: ['remote list', 'remote test', 'remote preview', 'remote destroy x'],
  webhooks: ['webhooks list', 'webhooks test', 'webhooks retry'],
  help: ['help'],
};
/** Commands with which a person accepts the clone's settings, and their names in the table. */
const words = new Set(['run', 'resume']);

suite('programs that a hostile clone starts', function () {
  this.timeout(480_000);
  const project = useProjects({ isEachProcess: true });
  let receiver: WebReceiver;

  setup(async () => {
    receiver = await startWebReceiver();
  });
  teardown(() => receiver.close());

  test('nothing starts before a person consents, and then only the programs in docs/clones.md', async () => {
    const here = hostileClone(receiver.url, project);
    const clone = join(here.folder, 'repo');
    const found = new Map<string, string>();
    const look = (after: string): void => {
      for (const name of marksOf(here, receiver)) if (!found.has(name)) found.set(name, after);
    };
    const help = await here.expect(0, ['--help']);
    const listed = [...help.matchAll(/^ {2}([a-z][a-z-]+)(?:\|[a-z-]+)?(?= |$)/gm)].map(
      ([, name = '']) => name,
    );
    const missing = new Set(listed.filter((name) => !words.has(name) && !(name in calls)));
    assert.deepEqual([...missing], []);

    await here.drover(['init'], { cwd: clone });
    const task = await here.add('First');
    for (const line of Object.values(calls).flat()) {
      const args = line.split(' ').map((word) => (word === 'ID' ? task : word));
      await here.drover(args, { cwd: clone });
      look(`\`drover ${line}\``);
    }
    assert.deepEqual([...found], [], 'before any word');

    await here.expect(0, ['trust', '--yes']);
    await here.drover(['remote', 'list']);
    const next = await here.add('Second');
    await here.drover(['hint', next, 'quick']);
    await here.add('Third');
    await eventually('the webhook is sent', () =>
      receiver.received.some(({ path }) => path === '/webhook'),
    );
    look('`drover trust`');
    await here.drover(['run']);
    await eventually('the traces are sent', () =>
      receiver.received.some(({ path }) => path === '/v1/traces'),
    );
    look('`drover run`');
    holdTable('command', found);
  });
});
