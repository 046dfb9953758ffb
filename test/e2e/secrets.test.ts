// Values of secret variables are in nothing that is stored, whatever their source: the person, the
// agent, the gate, a file.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { QuestionView } from '../../server/protocol/api.ts';
import { eventually } from './support/eventually.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';

const secret = 's3cr3t-of-the-environment';
const agentSecret = 's3cr3t-of-the-agent';

/**
 * Files below the folder that contain the text: the database, its log, and logs and prompts of
 * agents and gates.
 */
function filesWith(folder: string, text: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(folder, name);
    return statSync(path).isFile() && readFileSync(path).includes(text);
  });
}

async function openQuestion(here: Project): Promise<QuestionView> {
  let found: QuestionView | undefined;
  await eventually('a question is open', async () => {
    [found] = (await here.status()).questions;
    return found !== undefined;
  });
  return found as QuestionView;
}

suite('secrets', function () {
  this.timeout(120_000);
  const project = useProjects();

  test('every message is stored without secrets, and the agent still gets the answer', async () => {
    const here = project({
      env: { DROVER_AGENT_TYPE: 'demo', DROVER_AGENT_PATH: '', MY_API_KEY: secret },
      settings: `max_description_size = "1KB"\n[agent]\nkind = "demo"\n[agent.env]\nTHE_TOKEN = "${agentSecret}"\n`,
    });
    await here.expect(0, ['init']);
    await here.expect(0, ['epic', 'add', `Epic ${secret}`, '-d', `About ${agentSecret}`]);
    const directives = [
      `demo: say I know ${secret}`,
      `demo: ask Which of ${secret}? | left ${secret} | right`,
      'demo: write answer.txt {{answer}}',
      `demo: say ${'long '.repeat(400)}`,
    ];
    const asks = await here.add(`Ask about ${secret}`, '-d', directives.join('\n'));
    const sleeps = await here.add(
      'Sleep until cancelled',
      '--accept',
      `knows ${agentSecret}`,
      '-d',
      'demo: sleep 600000',
    );
    const run = here.start(['run', '--json', '--gate', 'echo "$MY_API_KEY"']);
    const question = await openQuestion(here);
    assert.deepEqual(question.choices, ['left [hidden]', 'right']);
    await here.expect(0, ['hint', sleeps, `Look at ${secret} and ${agentSecret}`]);
    await here.expect(0, ['answer', question.id, `left ${secret}`]);
    await eventually('it has landed', async () => (await here.task(asks)).status === 'completed');
    await here.expect(0, ['cancel', sleeps, '--reason', `because of ${secret}`]);
    assert.equal((await run.ended).code, 0);

    const plan = { type: 'task', id: 'imported', title: 'Imported', description: `has ${secret}` };
    here.write('plan.jsonl', `${JSON.stringify(plan)}\n`);
    await here.expect(0, ['import', join(here.folder, 'plan.jsonl')]);
    await here.expect(0, ['edit', 'imported', '--label', `of ${secret}`]);

    assert.equal((await here.task('imported')).description, 'has [hidden]');
    assert.match((await here.task(asks)).title, /^Ask about \[hidden\]$/);
    const folder = join(here.root, '.drover');
    for (const text of [secret, agentSecret]) assert.deepEqual(filesWith(folder, text), []);
  });

  test('settings files that projects commit are held only if they contain a credential', async () => {
    const agent = `
cat > /dev/null
case $id in
  harmless) printf 'save-exact=true\\n' > .npmrc; printf 'nodeLinker: node-modules\\n' > .yarnrc.yml;;
  weak) printf '[pypi]\\nusername = ada\\npassword = hunter2\\n' > .pypirc;;
esac`;
    const here = project({ agent });
    await here.expect(0, ['init']);
    const plan = ['harmless', 'weak'].map((id) => ({ type: 'task', id, title: id }));
    here.write('plan.jsonl', plan.map((task) => `${JSON.stringify(task)}\n`).join(''));
    await here.expect(0, ['import', join(here.folder, 'plan.jsonl')]);
    await here.expect(2, ['run']);
    assert.equal((await here.task('harmless')).status, 'completed');
    assert.equal(here.git('show', 'HEAD:.npmrc'), 'save-exact=true');
    const held = await here.task('weak');
    assert.deepEqual([held.status, held.review_kind], ['needs_review', 'held_files']);
    assert.match(held.last_error ?? '', /\.pypirc \(appears to contain a secret\)/u);
  });
});
