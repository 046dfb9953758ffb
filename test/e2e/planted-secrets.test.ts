// Secrets planted in many places and encodings, each with its own value, and where each is found
// after a run. docs/secrets.md contains the table; this test keeps it correct.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beginPlan } from './support/plan.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';

interface Planted {
  readonly place: string;
  /** The planted bytes. */
  readonly form: string | Buffer;
}

let number = 0;
const planted: Planted[] = [];
const variables: Record<string, string> = {};

/** A separate value for this place, which Drover knows as the value of a variable. */
function known(
  place: string,
  encode: (value: string) => string | Buffer = (value) => value,
): string {
  number += 1;
  const value = `Zq7/w+${String(number).padStart(2, '0')}=pLanTed${number * 7919}`;
  variables[`PLANTED_${number}_TOKEN`] = value;
  const form = encode(value);
  planted.push({ place, form });
  return form.toString('latin1');
}
/** A value that Drover recognizes only by its format. */
function formatted(place: string, form: string): string {
  planted.push({ place, form });
  return form;
}

const bytes = (value: string): Buffer => Buffer.from(value);
const random = (length: number, shift = 0): string =>
  Array.from({ length }, (_, at) => 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7'[(at * 5 + shift) % 27]).join('');
const octal = (text: string): string =>
  Array.from(Buffer.from(text, 'latin1'), (one) => `\\${one.toString(8).padStart(3, '0')}`).join(
    '',
  );
const print = (text: string): string => `printf '${octal(text)}'`;

const stream = {
  plain: known('output: plain'),
  base64: known('output: base64', (value) => bytes(value).toString('base64')),
  base64Inside: known('output: base64 of a header', (value) =>
    bytes(`user:${value}`).toString('base64'),
  ),
  base64url: known('output: base64url', (value) => bytes(value).toString('base64url')),
  hex: known('output: hex', (value) => bytes(value).toString('hex')),
  upper: known('output: HEX', (value) => bytes(value).toString('hex').toUpperCase()),
  url: known('output: URL', encodeURIComponent),
  urlLower: known('output: URL, small letters', (value) =>
    encodeURIComponent(value).replace(/%../g, (one) => one.toLowerCase()),
  ),
  json: known('output: JSON', (value) => JSON.stringify({ value })),
  slashes: known('output: JSON with escaped slashes', (value) => value.replaceAll('/', '\\/')),
  unicode: known('output: JSON with escaped signs', (value) =>
    value.replace(/[=+]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`),
  ),
  wide: known('output: UTF-16', (value) => Buffer.from(value, 'utf16le')),
  wideBase64: known('output: base64 of UTF-16', (value) =>
    Buffer.from(value, 'utf16le').toString('base64'),
  ),
  reversed: known('output: reversed', (value) => Array.from(value).toReversed().join('')),
  spaced: known('output: spaced', (value) => Array.from(value).join(' ')),
  numbers: known('output: HTML with numbers', (value) => value.replaceAll('=', '&#61;')),
  aws: formatted('output: AWS key', `AKIA${'QWERTZUIOPASDFGH'}`),
  github: formatted('output: GitHub token', `ghp_${random(36)}`),
  slack: formatted('output: Slack token', `xoxb-${'3948572039'}-${'8475839201'}-${random(24, 1)}`),
  npm: formatted('output: npm token', `npm_${random(36, 2)}`),
  pypi: formatted('output: PyPI token', `pypi-AgE${random(60, 3)}`),
  pem: formatted(
    'output: private key',
    `-----BEGIN PRIVATE KEY-----\\n${random(64, 4)}\\n-----END PRIVATE KEY-----`,
  ),
};
const halves = known('output: two writes');
const error = known('output: standard error');
const title = known('title of a task');
const description = known('description of a task');
const accept = known('acceptance of a task');
const file = known('content of a file');
const fileKey = formatted('key in a file', `ghp_${random(36, 5)}`);
const fileName = known('name of a file', (value) => bytes(value).toString('base64url'));
const folderName = known('name of a committed folder', (value) => bytes(value).toString('hex'));
const linkName = formatted('name of a link', `ghp_${random(36, 7)}`);
const branch = known('name of a branch', (value) => bytes(value).toString('base64url'));
const remote = known('password in the URL of a remote', encodeURIComponent);
const hook = known('hook of the repository');
const gzipped = known('file: gzip', (value) => gzipSync(value));
const notebook = known('notebook');
const netrc = known('.netrc');
const npmrc = known('.npmrc');
const dotenv = known('.env');
const diff = known('diff of a tracked file');
const message = known('commit message');
const ignored = known('ignored file');
const gateOut = known('output of the gate');
const gateCommand = known('command of the gate');
const setupOut = known('output of the setup');
const failure = known('last words of a failed attempt');

const agent = `
cat > /dev/null
case "$id" in
  says)
${Object.values(stream)
  .map((form) => `${print(form)}; echo`)
  .join('\n')}
    ${print(halves.slice(0, 9))}; sleep 0.2; ${print(halves.slice(9))}; echo
    ${print(error)} >&2
    echo done > says.txt ;;
  fails)
    ${print(failure)} >&2; exit 3 ;;
  writes)
    ${print(file)} > content.txt; echo "const k = '${fileKey}'" > key.ts
    ${print(gzipped)} > data.gz
    ${print(`{"cells":[{"source":["${notebook}"]}]}`)} > n.ipynb
    ${print(`machine a login b password ${netrc}`)} > .netrc
    ${print(`//r/:_authToken=${npmrc}`)} > .npmrc
    ${print(`A=${dotenv}`)} > .env
    ${print(`A project. ${diff}`)} > README.md
    echo x > '${fileName}'; ln -s README.md '${linkName}'
    git branch '${branch}'
    mkdir -p ignored; ${print(ignored)} > ignored/x
    echo fine > fine.txt
    mkdir -p '${folderName}'; echo x > '${folderName}/x.txt'
    # Read from a pipe: on a command line, another task's gate could see it in the list of processes.
    git add fine.txt '${folderName}'; ${print(message)} | git commit -qF - ;;
esac
`;

suite('planted secrets', function () {
  this.timeout(120_000);
  const project = useProjects();

  test('each secret is found only in the places that the table allows', async () => {
    const here = project({
      agent,
      env: variables,
      settings: `[setup]\ncommand = '''${print(setupOut)}'''\n`,
    });
    here.git('remote', 'add', 'origin', `https://me:${remote}@127.0.0.1:9/x.git`);
    here.write('repo/.git/hooks/pre-commit', `#!/bin/sh\nTOKEN='${hook}'\n`);
    await beginPlan(here, [
      { id: 'says', title: `Says ${title}`, description, acceptance: accept },
      { id: 'fails', max_attempts: 1 },
      'writes',
    ]);
    const gate = `: ${gateCommand}; ${print(gateOut)}; ps -eo args > ${here.folder}/ps.txt`;
    const run = await here.drover(['run', '--gate', gate]);
    const outputs = [run.stdout + run.stderr];
    for (const command of commands) {
      const done = await here.drover(command.split(' '));
      outputs.push(done.stdout + done.stderr);
    }
    const states = (await here.status()).tasks.map(({ id, status }) => `${id} ${status}`);
    assert.deepEqual(states, ['says completed', 'fails failed', 'writes needs_review']);
    const look = lookedAt(here, outputs);
    const rows = planted.map(({ place, form }) => `| ${place} | ${look(form)} |`);
    const doc = readFileSync(new URL('../../docs/secrets.md', import.meta.url), 'utf8');
    assert.deepEqual(
      doc.split('\n').filter((line) => /^\| (?!place|---)/.test(line)),
      rows,
    );
  });
});

const commands = `status --json, events --json, export, why writes, why fails, log says, log fails,
  log writes, show says --json, show writes --json, show fails --json, diff writes`.split(/,\s+/);

/** Everything that could contain a value, by the names in the table. */
function lookedAt(here: Project, outputs: readonly string[]): (form: string | Buffer) => string {
  const files = (folder: string, isWanted: (path: string) => boolean = () => true): Buffer[] =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((path) => isWanted(path) && statSync(path, { throwIfNoEntry: false })?.isFile())
      .flatMap((path) => [Buffer.from(`${path}\n`), readFileSync(path)]);
  const git = (...args: string[]): Buffer =>
    execFileSync('git', args, { cwd: here.root, env: { ...here.env }, maxBuffer: 1 << 28 });
  const places: readonly (readonly [string, readonly Buffer[]])[] = [
    ["Drover's files", files(join(here.root, '.drover'))],
    ['what commands print', outputs.map((text) => Buffer.from(text))],
    ['landed', [git('log', '-p', '--text', '--raw', 'main')]],
    ["git's objects", [git('cat-file', '--batch-all-objects', '--batch')]],
    ["git's refs", [git('for-each-ref')]],
    ["git's logs and settings", files(join(here.root, '.git'), isPlainFileOfGit)],
    ['its worktree', files(join(here.folder, 'repo.worktrees'))],
    ['the list of processes', [Buffer.from(here.read('ps.txt'))]],
  ];
  return (form) => {
    const forms = [Buffer.from(form), Buffer.from(JSON.stringify(form.toString()).slice(1, -1))];
    const found = places.filter(([, all]) =>
      all.some((one) => forms.some((needle) => one.includes(needle))),
    );
    return found.map(([name]) => name).join(', ') || 'nowhere';
  };
}

function isPlainFileOfGit(path: string): boolean {
  return !/\/\.git\/(?:objects|refs|drover)\//.test(path) && !path.endsWith('/index');
}
