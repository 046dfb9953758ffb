// A reviewing agent between the gate and the landing: its findings go back to the author, a person
// overrules one, and the reviewer changes nothing.

import assert from 'node:assert/strict';
import type { ReviewView } from '../../server/protocol/requests/reviews.ts';
import type { Project, ProjectOptions } from './support/project.ts';
import { reviewer } from './support/reviewer.ts';
import { useProjects } from './support/suite-projects.ts';
import { soakTest } from '../tier.ts';

const byContent = `(text, probe) => {
  const isWrong = text.includes("wrong");
  const bug = { at: "cart.txt:1", severity: "blocking", text: "The total is wrong." };
  const note = { at: "cart.txt", severity: "minor", text: "Probe: " + probe };
  return {
    verdict: isWrong ? "block" : "pass",
    findings: isWrong ? [bug, note] : [note],
    criteria: [{ met: !isWrong, evidence: "cart.txt:1" }],
  };
}`;

const stubborn = `() => ({
  verdict: "block",
  findings: [{ at: "cart.txt:1", severity: "blocking", text: "I do not like it." }],
  criteria: [{ met: true, evidence: "cart.txt:1" }],
})`;

/** First writes a wrong total, and fixes it if the prompt says what is wrong. */
function agent(verdict: string): string {
  return `
prompt=$(cat)
if [ "\${DROVER_REVIEW:-}" = 1 ]; then
  exec "$DROVER_MCP_COMMAND" -e '${reviewer(verdict)}'
fi
case "$prompt" in
  *"cart.txt:1: The total is wrong."*) echo right > cart.txt;;
  *) [ -e cart.txt ] || echo wrong > cart.txt;;
esac
echo 'It is written.'
`;
}

const settings = '[review]\nagent = "command"\n[gate]\ncommand = "test -s cart.txt"\n';

suite('a reviewing agent', function () {
  this.timeout(120_000);
  const project = useProjects();

  async function begin(
    verdict: string,
    more: ProjectOptions = {},
  ): Promise<{ here: Project; id: string }> {
    const here = project({ agent: agent(verdict), settings, ...more });
    await here.expect(0, ['init']);
    const id = await here.add('Write the cart', '--accept', 'The total is right.');
    return { here, id };
  }

  const reviewOf = async (here: Project, id: string): Promise<ReviewView> =>
    (await here.json<ReviewView | null>(['review', id])) ?? assert.fail('not reviewed');

  test('a defect that the gate does not detect goes back with file and line, is fixed, and lands', async () => {
    const { here, id } = await begin(byContent, { env: { DROVER_SANDBOX: 'bwrap' } });
    await here.expect(0, ['run']);
    assert.equal(here.read('repo/cart.txt'), 'right\n');
    const given = await here.events('--type', 'review.given');
    assert.deepEqual(
      given.map(({ data }) => [data['attempt'], data['verdict']]),
      [
        [1, 'block'],
        [2, 'pass'],
      ],
    );
    const review = await reviewOf(here, id);
    assert.deepEqual(
      [review.verdict, review.blocking, review.criteria],
      ['pass', 0, [{ text: 'The total is right.', met: true, evidence: 'cart.txt:1' }]],
    );
    // The reviewer's folder is read-only.
    assert.deepEqual(
      review.findings.map(({ text }) => text),
      ['Probe: EROFS'],
    );
    assert.equal(here.git('ls-files', 'probe.txt'), '');
    const prompt = await here.expect(0, ['log', id, '--prompt']);
    assert.match(prompt, /The reviewer \(command\) found a defect that the gate does not see/);
    assert.match(prompt, /- cart\.txt:1: The total is wrong\.\n- Not met: The total is right\./);
    assert.match(
      await here.expect(0, ['review', id]),
      /\[x\] The total is right\. \(cart\.txt:1\)/,
    );
  });

  soakTest('a person overrules a wrong finding, and the tree is not reviewed again', async () => {
    const { here, id } = await begin(stubborn);
    await here.expect(2, ['run']);
    const task = await here.task(id);
    assert.deepEqual([task.status, task.review_kind], ['needs_review', 'reviewed']);
    assert.match(
      await here.expect(0, ['why', id]),
      /came back unchanged after a review: cart\.txt:1/,
    );
    assert.equal((await here.events('--type', 'review.given')).length, 1);
    await here.expect(3, ['review', id, '--overrule', '2']);
    assert.match(
      await here.expect(0, ['review', id, '--overrule', '1']),
      /1\. overruled: cart\.txt:1/,
    );
    await here.expect(0, ['review', id, '--overrule', '1']);
    assert.equal((await here.events('--type', 'review.overruled')).length, 1);
    await here.expect(0, ['approve', id]);
    assert.equal((await here.task(id)).status, 'completed');
    assert.equal((await here.events('--type', 'review.given')).length, 1);
  });

  soakTest('a reviewer without a verdict leaves the decision to a person', async () => {
    const { here, id } = await begin('() => { process.exit(7); }');
    await here.expect(2, ['run']);
    assert.match(
      await here.expect(0, ['why', id]),
      /got no verdict from the reviewer: .*exit code 7/,
    );
    await here.expect(0, ['approve', id]);
    assert.equal((await here.task(id)).status, 'completed');
  });

  soakTest('work that is outside the paths or too small lands without a review', async () => {
    const { here } = await begin(stubborn, {
      settings: `${settings}`.replace('"command"\n', '"command"\nmin_lines = 200\n'),
    });
    await here.expect(0, ['run']);
    assert.deepEqual(await here.events('--type', 'review.given'), []);
  });
});
