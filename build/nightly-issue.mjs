// `npm run nightly:issue -- --logs FOLDER --run URL`: opens an issue for a red soak, with each
// failure and the command that reproduces it, or adds the failures to the open issue. Without
// `GH_TOKEN`, it prints the text.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const label = 'nightly';
const title = 'The nightly soak is red';
/** GitHub accepts at most 65,536 characters. */
const charsMax = 60_000;
const failuresMark = '\nWhat failed:\n';

/**
 * Returns the text of the issue, or null if no log has a failure.
 * @param {readonly { name: string, text: string }[]} logs
 * @param {string} run
 */
export function issueText(logs, run) {
  const red = logs.flatMap(({ name, text }) => {
    const at = text.indexOf(failuresMark);
    if (at === -1) return [];
    const failures = text.slice(at + failuresMark.length).trim();
    const replays = [...failures.matchAll(/^Again: (.+)$/gm)].map(
      ([, command]) => `    ${command}`,
    );
    const part = name.replace(/^soak-|\.log$/g, '');
    return [`## ${part}\n\nRepeat with:\n\n${replays.join('\n')}\n\n~~~text\n${failures}\n~~~`];
  });
  if (red.length === 0) return null;
  return [`Of ${run}`, ...red].join('\n\n').slice(0, charsMax);
}

function main() {
  const { values } = parseArgs({ options: { logs: { type: 'string' }, run: { type: 'string' } } });
  const { logs = 'out/test', run = 'this machine' } = values;
  const texts = readdirSync(logs)
    .filter((name) => name.endsWith('.log'))
    .map((name) => ({ name, text: readFileSync(join(logs, name), 'utf8') }));
  const body = issueText(texts, run) ?? `Of ${run}: a job failed before its soak ended.`;
  if (process.env.GH_TOKEN === undefined) return console.log(body);
  const gh = (args, input = '') => execFileSync('gh', args, { encoding: 'utf8', input });
  const open = JSON.parse(gh(['issue', 'list', '--label', label, '--json', 'number']));
  const [known] = open;
  if (known !== undefined) {
    return console.log(gh(['issue', 'comment', String(known.number), '--body-file', '-'], body));
  }
  gh(['label', 'create', label, '--force']);
  const args = ['issue', 'create', '--title', title, '--label', label, '--body-file', '-'];
  return console.log(gh(args, body));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
