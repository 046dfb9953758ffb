// Several candidates for one task, with the real command: concurrent, from one base, each gated,
// one chosen, and landed once.

import assert from 'node:assert/strict';
import { makeBarrier } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import { firstParents, landedTasks } from './support/history.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';
import { sized, soakTest } from '../tier.ts';

/**
 * The first writes three lines, the second one line, and the third a line that fails the gate;
 * others write their own name.
 */
const differs = `
cat > /dev/null
echo "$id $(git rev-parse HEAD)" >> ../../ran.txt
case "$id" in
  *-c1) printf 'good\\ngood\\ngood\\n' > work.txt ;;
  *-c2) echo good > work.txt ;;
  *-c3) echo bad > work.txt ;;
  *) echo good > "$id.txt" ;;
esac
`;
const gate = '! grep -qs bad work.txt';

function ranOf(here: Project): readonly (readonly string[])[] {
  const lines = here.read('ran.txt').trim().split('\n');
  return lines.map((line) => line.split(' '));
}

const steps = ['claimed', 'agent_done', 'committed', 'candidate_gated', 'merged'];

suite('several candidates of one task', function () {
  this.timeout(180_000);
  const project = useProjects();

  async function begin(agent: string, ...more: readonly string[]): Promise<[Project, string]> {
    const here = project({ agent });
    await here.expect(0, ['init']);
    const id = await here.add('Do the work', '--best-of', '3', '--max-attempts', '1', ...more);
    return [here, id];
  }

  const landed = (here: Project, id: string): Promise<unknown> =>
    eventually('it has landed', () => Promise.resolve(landedTasks(here).includes(id)));

  test('the smallest change that passes the gate lands, and the others stay reachable', async () => {
    const [here, id] = await begin(differs, '--choose', 'smallest-change');
    const next = await here.add('Goes on', '--blocked-by', id);
    await here.expect(0, ['run', '--workers', '3', '--gate', gate]);

    const ran = ranOf(here);
    assert.deepEqual(
      new Set(ran.map(([who]) => who)),
      new Set([`${id}-c1`, `${id}-c2`, `${id}-c3`, next]),
    );
    assert.equal(ran.length, 4);
    const bases = ran.filter(([who]) => who !== next).map(([, base]) => base);
    assert.equal(new Set(bases).size, 1, 'one base for all');
    assert.deepEqual(landedTasks(here), [id, next]);
    assert.equal(here.read('repo/work.txt'), 'good\n');
    const { status, tasks } = { status: await here.task(id), tasks: (await here.status()).tasks };
    assert.deepEqual([status.status, status.attempts, status.best_of], ['completed', 0, 3]);
    assert.deepEqual(
      tasks.filter((task) => task.candidate_of === id).map((task) => task.status),
      ['cancelled', 'cancelled', 'cancelled'],
    );
    const first = here.git('rev-parse', `drover/${id}-c1/1`);
    assert.equal(here.git('show', `${first}:work.txt`), 'good\ngood\ngood');
    assert.equal(firstParents(here).length, 3);
    const plan = await here.expect(0, ['export', '-f', 'jsonl']);
    assert.deepEqual(
      plan
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .map((record) => [record['id'], record['best_of'] ?? null, record['blocked_by'] ?? null]),
      [
        [id, 3, null],
        [next, null, [id]],
      ],
    );
  });

  test('the first candidate that passes ends the others, each of which uses a worker', async () => {
    const waits = `if [ "\${id%-c2}" = "$id" ]; then echo "$id" >> ../../waits.txt; read -r line < ../../go; fi`;
    const [here, id] = await begin(`${waits}\n${differs}`, '--choose', 'first-green');
    const barrier = makeBarrier(here.folder, 'go');
    const run = here.start(['run', '--workers', '2', '--gate', gate]);
    const done = await run.ended;
    barrier.close();
    assert.equal(done.code, 0, done.stderr);
    assert.match(here.read('waits.txt'), new RegExp(`^${id}-c1\\n`));
    assert.deepEqual(
      ranOf(here).map(([who]) => who),
      [`${id}-c2`],
    );
    assert.deepEqual(landedTasks(here), [id]);
    assert.equal(here.read('repo/work.txt'), 'good\n');
  });

  test('a person sees the facts about the candidates, and chooses the one that lands', async () => {
    const [here, id] = await begin(differs, '--choose', 'person');
    await here.expect(1, ['run', '--workers', '3', '--gate', gate]);
    assert.deepEqual(landedTasks(here), []);
    assert.match(
      await here.expect(0, ['why', id]),
      /has 3 candidates: 2 passed the gate, 0 can still pass, 1 ended otherwise/,
    );
    const { reasons } = await here.json<{ reasons: string[] }>(['why', `${id}-c1`]);
    assert.match(reasons.join(' '), /has passed the gate and is a candidate of/);
    const asked = (await here.events('--type', 'question.asked')).at(-1);
    const { question, text, choices } = asked?.data ?? {};
    assert.deepEqual(choices, [`${id}-c1`, `${id}-c2`]);
    assert.match(String(text), /^Which candidate should land\?\nCandidate 1, \+3 −0, green/);
    assert.match(String(text), /\nCandidate 2, \+1 −0, green/);
    assert.match(String(text), /\nCandidate 3, failed/);
    const tree = await here.expect(0, ['status', '--tree']);
    const [above, first, second] = tree.split('\n').filter((line) => line.includes(id));
    assert.match(above ?? '', /Do the work/);
    assert.match(first ?? '', /─ .*-c1 Candidate 1, \+3 −0, green/);
    assert.match(second ?? '', /─ .*-c2 Candidate 2, \+1 −0, green/);
    // It lands at once, even though no run is active.
    await here.expect(0, ['answer', String(question), `${id}-c1`]);
    await landed(here, id);
    assert.deepEqual(landedTasks(here), [id]);
    const shown = await here.expect(0, ['show', id]);
    assert.match(shown, /Candidate 1, \+3 −0, chosen/);
    assert.match(shown, /Candidate 2, \+1 −0, not chosen/);
    assert.equal(here.read('repo/work.txt'), 'good\ngood\ngood\n');
  });

  soakTest('a candidate that a person approves lands at once, whatever the rule', async () => {
    const [here, id] = await begin(differs, '--choose', 'person');
    await here.expect(1, ['run', '--workers', '3', '--gate', gate]);
    await here.expect(0, ['approve', `${id}-c2`]);
    await landed(here, id);
    assert.deepEqual(landedTasks(here), [id]);
    assert.equal(here.read('repo/work.txt'), 'good\n');
    assert.equal((await here.task(id)).status, 'completed');
  });

  for (const step of sized(['candidate_gated'], steps)) {
    test(`the work lands once even if the backend dies after each "${step}"`, async () => {
      const [here, id] = await begin(differs, '--choose', 'smallest-change');
      const env = { DROVER_TEST: '1', DROVER_TEST_CRASH_AT: step };
      await here.expect(0, ['run', '--workers', '2', '--gate', gate], { env });
      assert.deepEqual(landedTasks(here), [id]);
      assert.equal(here.read('repo/work.txt'), 'good\n');
      assert.equal(ranOf(here).length, 3, 'each candidate has worked once');
    });
  }
});
